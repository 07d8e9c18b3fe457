import { readBounded } from '../../../kernel/bounded-file.ts';
import { isHarmless, loadRecipes, type Recipe, readRecipes, recipeOf } from '../recipes/index.ts';
import type { TrialPage } from './trial.ts';

const NOWHERE = { css: '#nowhere' };

/** Stand-ins for the parts after a trial's last page, which may be unfinished. */
const INSTEAD: Readonly<Record<string, unknown>> = {
  fares: { list: NOWHERE, price_for: 'all', read: { price: {} } },
  passengers: { steps: [] },
  extras: {},
  till: { total: {}, card: [{ do: 'fill', at: NOWHERE, value: '{card.number}' }], pay: { css: '#pay-nowhere' } },
  confirmation: { seen: NOWHERE, read: { booking_reference: {} } },
  ...{ mail: undefined, manage: undefined, rejected: undefined },
};

const NEEDED: Readonly<Record<TrialPage, readonly string[]>> = {
  offers: [],
  fares: ['fares'],
  passengers: ['fares', 'passengers', 'rejected'],
  till: ['fares', 'passengers', 'rejected', 'extras', 'till'],
};

/**
 * Reads a recipe in which only the parts up to a page need be finished.
 * @param url an address in place of its site's
 * @throws Problem `recipe_invalid`
 */
export function recipeToTry(file: string, url: (code: string) => string | undefined, until: TrialPage): Recipe {
  const at = (code: string) => {
    const base = url(code);
    return base === undefined ? {} : { [code]: base };
  };
  const { recipes, mistakes } = readRecipes([file]);
  const [one] = recipes;
  if (one && mistakes.every(isHarmless)) return loadRecipes([one.file], at(one.recipe.carrier.code))[0] ?? one.recipe;
  const isUnreadable = mistakes.some(({ code }) => code === 'json' || code === 'unreadable');
  const bytes = isUnreadable ? null : readBounded(file, { mostBytes: 4 * 1_048_576 });
  if (!bytes) return loadRecipes([file])[0] as Recipe;
  const given = JSON.parse(bytes.toString('utf8').replace(/^\ufeff/, ''));
  const left = Object.entries(INSTEAD).filter(([part]) => part in given && !NEEDED[until].includes(part));
  return recipeOf({ ...given, ...Object.fromEntries(left) }, file, at(given?.carrier?.code ?? ''));
}
