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
      z.strictObject({
        ...{ file: z.string(), carrier: z.string(), version: z.int(), routes: z.array(z.string()) },
        notes: z.array(z.string()).describe('What the recipe may do without, and its price.'),
      }),
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

const place = z.string().describe('A place in the recipe, such as search.steps[1].at.');
const target = z.record(z.string(), z.unknown()).describe('As the recipe writes it.');
const near = z.strictObject({ target, words: z.string(), likeness: z.number().describe('From 0 to 1.') });
const failure = z
  .strictObject({
    kind: z.enum(['misfit', 'stopped', 'failed']),
    part: z.string(),
    step: z.string(),
    path: place.nullable(),
    looked_for: target.nullable(),
    saw: z.string(),
    nearest: z.array(near).describe('Things on the page that the place could mean, the likeliest first.'),
  })
  .nullable()
  .describe('null: the page was come to.');
const reading = z.strictObject({
  part: z.string(),
  field: z.string(),
  text: z.string().nullable().describe("The page's; null: nothing was there."),
  value: z.string().nullable(),
});
const page = z.strictObject({
  part: z.string(),
  path: z.string().describe('Of its address.'),
  heading: z.string(),
  screenshot: z.string().nullable().describe('A file of the folder.'),
  names: z.string().describe('A file of the folder: roles and names on the page.'),
});
const trial = {
  carrier: z.string(),
  recipe_version: z.int(),
  url: z.string(),
  folder: z.string(),
  refused_hosts: z.array(z.string()).describe('Hosts that pages asked for, and the recipe does not list.'),
  dialogs: z.array(z.string()).describe('Texts of alert and confirm with their page, answered with no.'),
};
const money = { total_amount_decimal: z.string(), total_currency: z.string() };

export const recipeTry = published(
  z.strictObject({
    ...trial,
    until: z.enum(['offers', 'fares', 'passengers', 'till']),
    began_at: z.string().describe('A page of the last trial, or search.'),
    because: z.string().nullable(),
    travellers: z.array(z.string()).describe('Invented; typed where the form asks for passengers.'),
    offers: z.array(
      z.strictObject({
        flights: z.array(z.string()),
        departing_at: z.string(),
        arriving_at: z.string(),
        fare_brand_name: z.string().nullable(),
        ...money,
      }),
    ),
    fares: z.array(
      z.strictObject({
        brand: z.string().nullable(),
        checked_bags: z.int().nullable(),
        carry_on_bags: z.int().nullable(),
        change_allowed: z.boolean().nullable(),
        refund_allowed: z.boolean().nullable(),
        ...money,
      }),
    ),
    till: z
      .strictObject({
        ...money,
        is_agreed: z.boolean().nullable().describe("The total is the fare's; null: the fare is not known."),
        found: z.array(
          z.strictObject({
            ...{ path: place, looked_for: target, count: z.int(), nearest: z.array(near) },
            cover: z.string().nullable().describe('What lies over the pay button.'),
          }),
        ),
      })
      .nullable(),
    readings: z.array(reading),
    steps: z.array(z.strictObject({ path: place, step: z.string() })),
    failure,
    pages: z.array(page),
  }),
);

export const recipeDoctor = published(
  z.strictObject({
    ...trial,
    compared_with: z.string().nullable().describe('When the last trial was; null: there is none.'),
    steps: z.array(
      z.strictObject({
        path: place,
        do: z.string(),
        words: z.string(),
        state: z.enum(['holds', 'moved', 'stops', 'not_met']).describe('not_met: of a branch, or after the end.'),
      }),
    ),
    moved: z.array(
      z.strictObject({ path: place, step: z.string(), saw: z.string(), was: target, now: near.nullable() }),
    ),
    changed: z
      .array(z.strictObject({ part: z.string(), field: z.string(), was: z.string(), now: z.string() }))
      .describe('Fields that are read, and written in another form than in the last trial.'),
    failure,
    pages: z.array(page),
  }),
);

export const recipeRecord = published(
  z.strictObject({
    file: z.string(),
    mistakes: z.array(mistake).describe('Left to fill in, and whatever the draft cannot do yet.'),
  }),
);
