import type { Locator } from 'playwright-core';
import type { Money, ReadDate, ReadMoney, ReadNumber, ReadText, Target } from '../recipes/index.ts';
import { minutesIn, partOf, readDateText, readMoneyText, shortened, Unreadable } from '../recipes/index.ts';
import { isSeen, locate, Misfit, seenText, shown, until, type Walk, wordsOf } from './walk.ts';

type From = Omit<ReadMoney, 'currency'>;

type Readings<N extends string, R> = { readonly [K in N]?: R | undefined };

const READ_MS = 700;

/** The name of a reading, such as `search (read price in item 2)`. */
const readName = ({ part, item, itemNumber }: Walk, name: string): string =>
  `${part} (read ${name}${item && itemNumber ? ` in item ${itemNumber}` : ''})`;

function textOf(walk: Walk, name: string, from: From, withinMs?: number): Promise<{ text: string | null }> {
  // Items of a list appear complete.
  const patience = walk.item === null ? withinMs : (withinMs ?? 2_000);
  return until<{ text: string | null }>(walk, readName(walk, name), patience, async () => {
    const found = from.at ? shown(walk, from.at) : (walk.item ?? locate(walk, { css: 'body' }));
    const count = await found.count();
    if (count === 0 && from.optional) return { found: { text: null } };
    if (count !== 1) {
      return { saw: `found ${count === 0 ? 'no' : count} ${from.at ? wordsOf(from.at) : 'item'}`, at: from.at };
    }
    const text = await raw(found, from.attribute);
    if (from.optional && (text ?? '').trim() === '') return { found: { text: null } };
    return text === null ? { saw: `no attribute ${from.attribute}` } : { found: { text: partOf(text, from.pattern) } };
  });
}

const raw = (found: Locator, attribute: string | undefined): Promise<string | null> => {
  if (attribute === undefined) return seenText(found, READ_MS);
  const given = { timeout: READ_MS };
  return attribute === 'value' ? found.inputValue(given) : found.getAttribute(attribute, given);
};

/** Reads a value; null if the recipe does not read it, or it is not there. @throws Misfit if unreadable */
async function parsed<N extends string, R extends From, T>(
  walk: Walk,
  readings: Readings<N, R>,
  name: N,
  parse: (text: string, from: R) => T,
  withinMs?: number,
): Promise<T | null> {
  const from = readings[name];
  if (!from) return null;
  const { text } = await textOf(walk, name, from, withinMs);
  try {
    const value = text === null ? null : parse(text, from);
    walk.visit.watcher?.read(walk.part, name, text, value);
    return value;
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    throw new Misfit(walk.part, readName(walk, name), error.message, from.at);
  }
}

function mapped<T>(map: Readonly<Record<string, T>>, text: string): T {
  const found = Object.entries(map).find(([words]) => words.toLowerCase() === text.toLowerCase());
  if (!found) throw new Unreadable(`"${shortened(text)}" is not in the recipe's table`);
  return found[1];
}

export const readsText = <N extends string>(walk: Walk, readings: Readings<N, ReadText>, name: N) =>
  parsed(walk, readings, name, (text, { map }) => {
    const value = map ? mapped(map, text) : text;
    return value === null ? null : String(value);
  });

/** Reads true or false; null if unknown. */
export const readsFlag = <N extends string>(walk: Walk, readings: Readings<N, ReadText>, name: N) =>
  parsed(walk, readings, name, (text, { map }) => {
    const value = map ? mapped(map, text) : null;
    if (value === null || typeof value === 'boolean') return value;
    throw new Unreadable('the table has neither true, false nor null for it');
  });

export const readsMoney = <N extends string>(
  walk: Walk,
  readings: Readings<N, ReadMoney>,
  name: N,
  withinMs?: number,
): Promise<Money | null> =>
  parsed(walk, readings, name, (text, from) => readMoneyText(text, walk.visit.recipe.site, from.currency), withinMs);

export const readsDate = <N extends string>(walk: Walk, readings: Readings<N, ReadDate>, name: N) =>
  parsed(walk, readings, name, (text, { format }) => readDateText(text, format, walk.visit.recipe.site));

/** Reads minutes. */
export const readsDuration = <N extends string>(walk: Walk, readings: Readings<N, From>, name: N) =>
  parsed(walk, readings, name, minutesIn);

export const readsNumber = <N extends string>(walk: Walk, readings: Readings<N, ReadNumber>, name: N) =>
  parsed(walk, readings, name, (text, { map }) => {
    if (map) return mapped(map, text);
    if (!/^\d{1,4}$/.test(text)) throw new Unreadable(`"${shortened(text)}" is no whole number`);
    return Number(text);
  });

export function must<N extends string, T>(walk: Walk, readings: Readings<N, From>, name: N, value: T | null): T {
  if (value === null) throw new Misfit(walk.part, readName(walk, name), 'nothing', readings[name]?.at);
  return value;
}

/** A list whose texts keep changing, such as clocks, is read once its length has been stable for this long. */
const RESTLESS_MS = 5_000;

/** Finds a list's items once they stop changing, or none if the page says so. @throws Misfit if neither is seen */
export async function itemsOf(
  walk: Walk,
  {
    list,
    none,
    still_ms: stillMs = 300,
  }: Readonly<{ list: Target; none?: Target | undefined; still_ms?: number | undefined }>,
): Promise<Locator[]> {
  let last = { texts: '', atMs: 0, count: -1, countAtMs: 0 };
  return until(walk, `${walk.part} (list)`, 20_000, async () => {
    const found = shown(walk, list);
    const seen = await found.allInnerTexts();
    const [count, texts, nowMs] = [seen.length, JSON.stringify(seen), performance.now()];
    if (count === 0) {
      return none && (await isSeen(walk, none)) ? { found: [] } : { saw: `found no ${wordsOf(list)}`, at: list };
    }
    if (texts !== last.texts) {
      last = { texts, atMs: nowMs, count, countAtMs: count === last.count ? last.countAtMs : nowMs };
    }
    const isStill = nowMs - last.atMs >= stillMs || nowMs - last.countAtMs >= RESTLESS_MS + stillMs;
    return isStill ? { found: await found.all() } : { saw: 'a list that moves' };
  });
}
