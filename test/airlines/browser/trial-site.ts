import { readdirSync, readFileSync } from 'node:fs';
import { loadRecipes, type Recipe } from '../../../src/airlines/browser/recipes/index.ts';
import type { TrialPage } from '../../../src/airlines/browser/trial/index.ts';
import type { RoundTrip } from '../../../src/airlines/provider.ts';
import { worldClock } from '../../clock.ts';
import { type OpenedShop, openShop, QUERY, RECIPE } from './shop.ts';

/** The pretend carrier's site with a count of what only a purchase sends. */

export async function openTrialSite() {
  const paid: string[] = [];
  const shop: OpenedShop = await openShop((request) => {
    const { pathname } = new URL(request.url);
    if (request.method === 'POST' && ['/pay', '/card'].includes(pathname)) paid.push(pathname);
    return null;
  });
  const [recipe] = loadRecipes([RECIPE], { X9: shop.base });
  if (!recipe) throw new Error('no recipe');
  return {
    ...{ shop, recipe, paid },
    given: (of: Recipe, more: { readonly until?: TrialPage; readonly query?: RoundTrip } = {}) => ({
      ...{ recipe: of, chromium: null, visitMs: 60_000, nowMs: worldClock.now(), query: QUERY, kept: null },
      ...{ until: 'till' as const, signal: new AbortController().signal, ...more },
    }),
  };
}

/** Browsers of this process. */
export function browsersHere(): number {
  const mine = `farelock-visit-${process.pid}-`;
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(mine);
    } catch {
      return false;
    }
  }).length;
}

export const profilesHere = (): string[] =>
  readdirSync('/dev/shm').filter((name) => name.startsWith(`farelock-visit-${process.pid}-`));

export const NOTHING_SOLD = { presses: [], sales: [], elsewhere: [] };

/** The recipe with another word at a button, and with another place of the price. */
export function movedRecipe(recipe: Recipe): Recipe {
  const moved = structuredClone(recipe);
  moved.search.out.read.price.at = { css: '.fare-price' };
  const [first] = moved.passengers.steps;
  if (first?.do === 'click')
    Object.assign(first, { at: { role: 'button', name: 'Go on to passengers', exact: true }, within_ms: 1_500 });
  moved.till.pay = { role: 'button', name: 'Pay today', exact: true };
  return moved;
}
