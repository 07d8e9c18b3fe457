export * from './load.ts';
export * from './packages.ts';
export { type FlightList, isPretend, type Recipe, type RecipePart, recipeSchema } from './recipe.ts';
export * from './steps.ts';
export * from './values.ts';

export const loadNewRecipe = () => import('./new.ts');
