import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { recipeSchema } from '../../../src/airlines/browser/recipes/index.ts';

test('the example recipe is one', () => {
  const recipe = JSON.parse(readFileSync('docs/recipes/sandbox-hopper.json', 'utf8'));
  expect(recipeSchema.safeParse(recipe).error).toBeUndefined();
});
