import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

/** docs/settings.md names each variable that the tool reads, and no other. */

const ROOT = resolve(import.meta.dirname, '../..');

const texts = ['src', 'bin'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|js)$/.test(name))
    .map((name) => readFileSync(join(ROOT, folder, name), 'utf8')),
);

/** Our own by their names, wherever they stand; those of others where they are read. */
const read = new Set(
  texts.flatMap((text) => [
    ...[...text.matchAll(/\bFARELOCK(?:_[A-Z]+)+\b/g)].map(([name]) => name),
    ...[...text.matchAll(/\b(?:environment|env)(?:\?)?\.([A-Z][A-Z0-9_]*)\b/g)].map(([, name]) => name),
    // A secret can be given as the path of a file.
    ...[...text.matchAll(/\bsecret\(environment, '([A-Z_]+)'\)/g)].map(([, name]) => `${name}_FILE`),
  ]),
);

const page = readFileSync(join(ROOT, 'docs/settings.md'), 'utf8');
const everyVariable = page.slice(page.indexOf('## Every variable'));
const named = (text: string) => [...text.matchAll(/`([A-Z][A-Z0-9_]*)`/g)].map(([, name]) => name);
/** The first cells of its tables, and what another is named beside. */
const listed = everyVariable
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .flatMap((line) => named(line.replaceAll('`_FILE`', '')));

test('each variable that is read is in the list', () => {
  expect([...read].filter((name) => !listed.includes(name)).sort()).toEqual([]);
});

test('the page names no variable that is not read', () => {
  const notRead = [...new Set(named(page))].filter((name) => !read.has(name));
  // Words of others: of the Solana CLI's keypairs, and the end of a name.
  expect(notRead.sort()).toEqual(['ASK', '_FILE'].filter((name) => notRead.includes(name)));
});
