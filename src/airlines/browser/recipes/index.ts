export * from './load.ts';
export * from './packages.ts';

import type { Recipe } from './recipe.ts';

export {
  type FlightList,
  isPretend,
  lackIn,
  lackProblem,
  type Recipe,
  type RecipePart,
  recipeSchema,
} from './recipe.ts';
export * from './steps.ts';
export * from './values.ts';

/** Loads the phone number tables, only for recipes that use parts of numbers. */
export const loadPhones = () => import('./phones.ts');
export const namesPhones = (recipe: Recipe): boolean => /\.phone_(?:country|national)/.test(JSON.stringify(recipe));

export const loadNewRecipe = () => import('./new.ts');
