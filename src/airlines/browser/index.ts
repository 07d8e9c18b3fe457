import { isProblem } from '../../kernel/problems.ts';
import type { Fulfiller } from '../fulfiller.ts';
import { siteFailed } from './exits.ts';
import * as looking from './looking.ts';
import { needBrowser, openVisit, type Visit } from './page/index.ts';
import type { BrowserOptions, Shop } from './ports.ts';
import { endCards } from './purchases.ts';
import { installed, isPretend, lackIn, lackProblem, loadRecipes, type Recipe } from './recipes/index.ts';
import * as selling from './selling.ts';

export { callOff } from './call-off.ts';
export { evidenceOf } from './exits.ts';
export type { BrowserOptions, BrowserSettings, CardIssuer } from './ports.ts';
export { loadNewRecipe, readRecipes } from './recipes/index.ts';
export * from './tables.ts';

/** Limits concurrent browsers; waiting purchases go before searches. */
function createPlaces(most: number) {
  let taken = 0;
  const buyers: (() => void)[] = [];
  const lookers: (() => void)[] = [];
  return async function inPlace<T>(who: 'buyer' | 'looker', work: () => Promise<T>): Promise<T> {
    if (taken < most) taken += 1;
    else await new Promise<void>((resolve) => (who === 'buyer' ? buyers : lookers).push(resolve));
    try {
      return await work();
    } finally {
      const next = buyers.shift() ?? lookers.shift();
      if (next) next();
      else taken -= 1;
    }
  };
}

const DEFAULT_MOST_BROWSERS = 2;
const DEFAULT_VISIT_MS = 90_000;

/** `close` ends all visits. */
export type BrowserFulfiller = Fulfiller & { close(): Promise<void> };

/** Leaves out and logs recipes that lack a setting. @throws Problem `recipe_invalid` if every recipe lacks one */
function soldOf(recipes: readonly Recipe[], { settings, log }: BrowserOptions): readonly Recipe[] {
  const { accounts, mailFolder, codeFolder } = settings;
  const lacks = recipes.map((recipe) =>
    lackIn(recipe, { account: accounts?.[recipe.carrier.code], mailFolder, codeFolder }),
  );
  const sold = recipes.filter((_, i) => !lacks[i]);
  for (const lack of lacks) {
    if (!lack) continue;
    if (sold.length === 0) throw lackProblem(lack);
    log('error', 'browser_carrier_left_out', { ...lack });
  }
  return sold;
}

/**
 * Sells on carriers' own sites, each by its recipe. Reads recipes at once, to find mistakes; starts browsers on demand.
 * @throws Problem `recipe_invalid`, `browser_missing`
 */
export function createBrowserFulfiller(options: BrowserOptions): BrowserFulfiller {
  const { settings, log } = options;
  const recipes = loadRecipes(settings.recipes, settings.sites);
  const sold = soldOf(recipes, options);
  const chromium = needBrowser(settings.chromium);
  if (process.getuid?.() === 0) log('warn', 'browser_unsandboxed', { why: 'root' });
  const visitMs = settings.visitMs ?? DEFAULT_VISIT_MS;
  const places = createPlaces(settings.mostBrowsers ?? DEFAULT_MOST_BROWSERS);
  const open = new Set<Visit>();
  const shop: Shop = {
    ...{ ...options, recipes, sold, visitMs, looks: new Set() },
    visiting: (who, recipe, work) =>
      places(who, async () => {
        const account = settings.accounts?.[recipe.carrier.code];
        const playwright = installed('playwright-core').chromium;
        const visit = await openVisit({ playwright, chromium, visitMs, account }, recipe).catch((error: unknown) => {
          if (isProblem(error)) throw error;
          log('error', 'browser_not_started', { carrier: recipe.carrier.code });
          throw siteFailed('the browser did not start');
        });
        open.add(visit);
        try {
          return await work(visit);
        } finally {
          open.delete(visit);
          await visit.close();
        }
      }),
  };
  return {
    name: 'browser',
    isSandbox: settings.cards.isSandbox || recipes.every(isPretend),
    serves: (query) => looking.serves(shop, query),
    quote: (query, startedAtMs) => looking.quote(shop, query, startedAtMs),
    offer: (offerId) => looking.offer(shop, offerId),
    menu: (offerId, openedAtMs) => looking.menu(shop, offerId, openedAtMs),
    book: (purchase) => selling.book(shop, purchase),
    find: (reference) => selling.find(shop, reference),
    endCards: () => endCards(shop),
    cancel: (reference) => selling.cancel(shop, reference),
    async close() {
      await Promise.all([...open].map((visit) => visit.close()));
    },
  };
}
