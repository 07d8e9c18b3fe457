import type { Locator } from 'playwright-core';
import type * as z from 'zod';
import {
  type Money,
  partOf,
  type readDate,
  readDateText,
  type readMoney,
  readMoneyText,
  type readNumber,
  type readText,
  shortened,
  type Target,
  Unreadable,
} from '../recipes/index.ts';
import { Misfit } from './outcomes.ts';
import { isSeen, seenText, shown, until, type Walk, wordsOf } from './walk.ts';

/** Reads values off a page, each from the one place that the recipe names. */

type From = Pick<z.infer<typeof readMoney>, 'at' | 'attribute' | 'pattern' | 'optional'>;

/** The text of a reading; null where it is optional and not there. */
function textOf(walk: Walk, name: string, from: From, withinMs?: number): Promise<{ text: string | null }> {
  // Of an item that is there, everything is there.
  const patience = walk.item === null ? withinMs : (withinMs ?? 2_000);
  return until<{ text: string | null }>(walk, `${walk.part} (read ${name})`, patience, async () => {
    const found = from.at ? shown(walk, from.at) : (walk.item ?? walk.visit.page.locator('body'));
    const count = await found.count();
    if (count === 0 && from.optional) return { found: { text: null } };
    if (count !== 1) {
      const what = from.at ? wordsOf(from.at) : 'item';
      return { saw: `found ${count === 0 ? 'no' : count} ${what}` };
    }
    const text = await raw(found, from.attribute);
    if (from.optional && (text ?? '').trim() === '') return { found: { text: null } };
    if (text === null) return { saw: `no attribute ${from.attribute}` };
    return { found: { text: partOf(text, from.pattern) } };
  });
}

const raw = (found: Locator, attribute: string | undefined): Promise<string | null> => {
  if (attribute === undefined) return seenText(found, 700);
  return attribute === 'value' ? found.inputValue({ timeout: 700 }) : found.getAttribute(attribute, { timeout: 700 });
};

/** @throws Misfit where it can't be read */
async function parsed<T>(
  walk: Walk,
  name: string,
  from: From | undefined,
  parse: (text: string) => T,
  withinMs?: number,
): Promise<T | null> {
  if (!from) return null;
  const { text } = await textOf(walk, name, from, withinMs);
  if (text === null) return null;
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    throw new Misfit(walk.part, `${walk.part} (read ${name})`, error.message);
  }
}

/** What a recipe's table makes of a page's words. */
function mapped<T>(map: Readonly<Record<string, T>>, text: string): T {
  const found = Object.entries(map).find(([words]) => words.toLowerCase() === text.toLowerCase());
  if (!found) throw new Unreadable(`"${shortened(text)}" is not in the recipe's table`);
  return found[1];
}

export const readsText = (
  walk: Walk,
  name: string,
  from: z.infer<typeof readText> | undefined,
): Promise<string | null> =>
  parsed(walk, name, from, (text) => {
    const value = from?.map ? mapped(from.map, text) : text;
    return value === null ? null : String(value);
  });

/** Yes, no, or not told. */
export const readsFlag = (
  walk: Walk,
  name: string,
  from: z.infer<typeof readText> | undefined,
): Promise<boolean | null> =>
  parsed(walk, name, from, (text) => {
    const value = from?.map ? mapped(from.map, text) : null;
    if (value === null || typeof value === 'boolean') return value;
    throw new Unreadable('the table has neither true, false nor null for it');
  });

export const readsMoney = (
  walk: Walk,
  name: string,
  from: z.infer<typeof readMoney> | undefined,
  withinMs?: number,
): Promise<Money | null> =>
  parsed(walk, name, from, (text) => readMoneyText(text, walk.visit.recipe.site, from?.currency), withinMs);

export const readsDate = (walk: Walk, name: string, from: z.infer<typeof readDate>) =>
  parsed(walk, name, from, (text) => readDateText(text, from.format, walk.visit.recipe.site));

export const readsNumber = (
  walk: Walk,
  name: string,
  from: z.infer<typeof readNumber> | undefined,
): Promise<number | null> =>
  parsed(walk, name, from, (text) => {
    if (from?.map) return mapped(from.map, text);
    if (!/^\d{1,4}$/.test(text)) throw new Unreadable(`"${shortened(text)}" is no whole number`);
    return Number(text);
  });

/** @throws Misfit */
export function must<T>(walk: Walk, name: string, value: T | null): T {
  if (value === null) throw new Misfit(walk.part, `${walk.part} (read ${name})`, 'nothing');
  return value;
}

/**
 * The items of a list, once it stands still; none where the page says that there are none.
 * @throws Misfit where neither is seen
 */
export async function itemsOf(
  walk: Walk,
  { list, none }: { readonly list: Target; readonly none?: Target | undefined },
): Promise<Locator[]> {
  let last = -1;
  return until(walk, `${walk.part} (list)`, 20_000, async () => {
    const found = shown(walk, list);
    const count = await found.count();
    if (count === 0) {
      if (none && (await isSeen(walk, none))) return { found: [] };
      return { saw: `found no ${wordsOf(list)}` };
    }
    if (count !== last) {
      last = count;
      return { saw: 'a list that grows' };
    }
    return { found: await found.all() };
  });
}
