import * as z from 'zod';
import { plan, published } from '../../spec/published.ts';

const mistake = z.strictObject({
  file: z.string(),
  path: z.string().describe('Its place, such as search.steps[1].at; empty: the file.'),
  code: z.enum([
    ...(['unreadable', 'json', 'key_unknown', 'key_missing', 'value_wrong', 'word_unknown', 'place_unknown'] as const),
    ...(['place_absent', 'cannot_work', 'pays', 'one_way', 'fill_in'] as const),
  ]),
  message: z.string(),
  nearest: z.string().nullable().describe('The word that was probably meant.'),
});

export const recipeCheck = published(
  z.strictObject({
    recipes: z.array(
      z.strictObject({ file: z.string(), carrier: z.string(), version: z.int(), routes: z.array(z.string()) }),
    ),
    mistakes: z.array(mistake),
  }),
);

export const recipeNew = published(
  z.strictObject({
    file: z.string().nullable().describe('null without --out.'),
    recipe: z.record(z.string(), z.unknown()),
  }),
  { plan: plan({}) },
);
