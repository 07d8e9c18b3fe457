import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeFolder, onFile, writeWhole } from '../../../kernel/storage.ts';
import { dateOption } from '../../searching/index.ts';
import { settingsIn } from '../../settings/index.ts';
import type { CommandContext, OptionsOf } from '../../spec/index.ts';
import type { DocumentOf } from '../../spec/published.ts';
import { accountsIn } from '../serve/index.ts';
import type * as result from './result.ts';
import { carrierSite } from './run.ts';
import type * as spec from './spec.ts';

type Desk = Awaited<ReturnType<CommandContext['session']['trialDesk']>>;
export type Trial = Awaited<ReturnType<Desk['tryRecipe']>>;
export type TriedDocument = DocumentOf<typeof result.recipeTry>;
type Recipe = ReturnType<Desk['recipeToTry']>;
type Place = readonly (string | number)[];

/** The recipe, site and journey that `try` and `doctor` begin with. @throws Problem `usage`, `recipe_invalid` */
export async function trialOf(
  context: CommandContext,
  options: OptionsOf<typeof spec.recipeDoctor>,
  until: TriedDocument['until'],
) {
  const { session, environment, clock, signal } = context;
  const setting = settingsIn(environment);
  const { url } = options;
  if (url !== undefined) carrierSite(url);
  const desk = await session.trialDesk();
  const recipe = desk.recipeToTry(resolve(options.recipe), (code) => url ?? setting('carrier_sites')?.[code], until);
  const departDate = await dateOption(context, '--depart', options.depart);
  const returnDate = options.return && (await dateOption(context, '--return', options.return, departDate));
  const { from: origin, to: destination, adults } = options;
  const account = accountsIn(setting('carrier_accounts'))?.[recipe.carrier.code];
  const secrets = Object.values(account ?? {});
  const hide = (_key: string, value: unknown) => (typeof value === 'string' ? desk.hidden(value, secrets) : value);
  return {
    ...{ desk, recipe },
    /** Hides the account's user name and password in a document. */
    withoutAccount: <T>(document: T): T => JSON.parse(JSON.stringify(document), hide) as T,
    folder: resolve(options.out ?? `trial-${recipe.carrier.code.toLowerCase()}`),
    given: {
      ...{ recipe, account, signal, nowMs: clock.now(), chromium: setting('chromium') },
      visitMs: (setting('visit_seconds') ?? 90) * 1000,
      query: {
        ...{ origin, destination, departDate, adults, cabinClass: 'economy' as const },
        ...(returnDate !== undefined && { returnDate }),
      },
    },
  };
}

/** `search.steps[1].at` */
export const placeText = (place: Place): string =>
  place.map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i === 0 ? '' : '.'}${key}`)).join('');

/** Writes the pages into the folder, and makes the common part of the documents of `try` and `doctor`. */
export const visited = ({ recipe, trials, folder }: { recipe: Recipe; trials: readonly Trial[]; folder: string }) => {
  const failure = trials.at(-1)?.failure ?? null;
  return {
    ...{ carrier: recipe.carrier.code, recipe_version: recipe.version, url: recipe.site.base, folder },
    failure: failure && {
      ...{ kind: failure.kind, part: failure.part, step: failure.step, saw: failure.saw },
      path: failure.place && placeText(failure.place),
      looked_for: failure.target,
      nearest: failure.near.map(nearOf),
    },
    pages: writePages(
      folder,
      trials.flatMap(({ watch }) => watch.pages),
    ),
    refused_hosts: [...new Set(trials.flatMap(({ refused }) => [...refused]))],
    dialogs: [...new Set(trials.flatMap(({ dialogs }) => dialogs))],
  };
};

type Near = NonNullable<TriedDocument['failure']>['nearest'][number];

export const nearOf = ({ target, words, likeness }: Omit<Near, 'target'> & { readonly target: object }): Near => ({
  ...{ target: { ...target }, words, likeness: Math.round(likeness * 100) / 100 },
});

/** A value as it was read: `40.30 USD`, `2026-12-15 09:05`. */
export function valueText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'object') return String(value);
  if ('decimal' in value && 'currency' in value) return `${value.decimal} ${value.currency}`;
  const { year, month, day, hour, minute } = value as Readonly<Record<string, number | null>>;
  const two = (number: number | null | undefined) => String(number ?? '??').padStart(2, '0');
  const date = day == null ? '' : `${year ?? '????'}-${two(month)}-${two(day)}`;
  return `${date}${hour == null ? '' : ` ${two(hour)}:${two(minute)}`}`.trim();
}

const PART_ORDER = ['search', 'fares', 'passengers', 'extras', 'till'];

const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 40);

/** Writes the pages into the folder; of two pages with the same name, the later one stays. */
function writePages(folder: string, pages: Trial['watch']['pages']): TriedDocument['pages'] {
  makeFolder(folder);
  const written = new Map<string, TriedDocument['pages'][number]>();
  for (const { part, path, heading, names, screenshot } of pages) {
    const name = `${PART_ORDER.indexOf(part) + 1}-${part}-${slug(heading) || slug(path) || 'start'}`;
    if (screenshot) writeWhole(join(folder, `${name}.png`), screenshot, { mayBeLost: true });
    writeWhole(join(folder, `${name}.names.txt`), `${names}\n`, { mayBeLost: true });
    const files = { screenshot: screenshot && `${name}.png`, names: `${name}.names.txt` };
    written.delete(name);
    written.set(name, { part, path, heading, ...files });
  }
  return [...written.values()];
}

/** Reads the document that an earlier trial left; null if there is none or it is not JSON. */
export function keptDocument<T>(folder: string, name: string): T | null {
  const file = join(folder, name);
  if (!existsSync(file)) return null;
  try {
    return JSON.parse(onFile(file, () => readFileSync(file, 'utf8'))) as T;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
