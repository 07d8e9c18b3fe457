import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What may be bundled into a file under the MIT License, with its notice beside it. */
const BUNDLED = /^(MIT|MIT-0|ISC|BSD-[23]-Clause|Apache-2\.0|MIT or MPL-2\.0)$/;
/** Says nothing of it in its package.json, and has the Apache License and the Unlicense in its LICENSE.md. */
const KNOWN: Readonly<Record<string, string>> = { 'text-encoding-utf-8': 'Unlicense or Apache-2.0' };
const TERMS = /^(licen[cs]e|copying|notice)/i;

interface About {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name: string };
  readonly repository?: string | { readonly url: string };
}

/** The terms of every package of which a module is bundled. @throws for one whose licence is not known to allow it */
export function licencesOf(root: string, modules: readonly string[]): string {
  const folders = modules.flatMap((id) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? []);
  const packages = [...new Set(folders)].map((folder) => termsOf(join(root, folder)));
  const unique = [...new Map(packages.map((one) => [one.title, one])).values()];
  unique.sort((a, b) => (a.title < b.title ? -1 : 1));
  const begin = 'Farelock is under the MIT License. It contains parts of these packages, under the terms of each.';
  return `${[begin, ...unique.map(({ title, text }) => `${'='.repeat(80)}\n${title}\n\n${text}`)].join('\n\n')}\n`;
}

function termsOf(folder: string): { readonly title: string; readonly text: string } {
  const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as About;
  const licence = KNOWN[about.name] ?? about.license ?? 'unknown';
  if (!BUNDLED.test(licence) && !(about.name in KNOWN))
    throw new Error(`${about.name} is under ${licence}: may it be bundled? (.ci/licences.ts)`);
  const files = readdirSync(folder, { withFileTypes: true }).filter((one) => one.isFile() && TERMS.test(one.name));
  const texts = files.map(({ name }) => readFileSync(join(folder, name), 'utf8').replaceAll('\r', '').trim());
  const author = typeof about.author === 'object' ? about.author.name : about.author;
  const repository = typeof about.repository === 'object' ? about.repository.url : about.repository;
  const source = [author, repository].filter(Boolean).join(', ');
  return {
    title: `${about.name} ${about.version} (${licence})`,
    text: texts.join('\n\n') || `No text comes with it: ${licence}, ${source || 'author not named'}.`,
  };
}
