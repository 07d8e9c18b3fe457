import * as z from 'zod';

const template = z
  .string()
  .max(500)
  // Typed, a line's end would be the Enter key, which sends a form.
  .refine((text) => !/\p{Cc}/u.test(text), 'has a control character.')
  .refine((text) => !/[{}]/.test(text.replaceAll(PLACE, '')), 'has a brace that opens no {name}.')
  .refine((text) => namesIn(text).every((name) => NAMES.has(name)), {
    error: ({ input }) => `has an unknown name: ${namesIn(String(input)).find((name) => !NAMES.has(name))}.`,
  });

/**
 * Parts of a recipe, as JSON: places on a page, readings of values, and steps. Nothing here is code, so that a recipe can be
 * read, compared and checked without being run.
 */

const ROLES = [
  ...['alert', 'article', 'button', 'cell', 'checkbox', 'combobox', 'dialog', 'form', 'group', 'heading', 'img'],
  ...['link', 'list', 'listbox', 'listitem', 'main', 'menuitem', 'navigation', 'option', 'radio', 'radiogroup'],
  ...['region', 'row', 'searchbox', 'spinbutton', 'status', 'switch', 'tab', 'table', 'tabpanel', 'textbox'],
] as const;

const place = {
  /** A frame of one of the recipe's hosts, by its CSS selector: many tills ask for the card in one. */
  frame: template.optional(),
  /** The whole text, letter by letter; else a part of it, in upper or lower case. */
  exact: z.boolean().optional(),
};

const oneTarget = z.union([
  z.strictObject({ role: z.enum(ROLES), name: template.optional(), ...place }),
  z.strictObject({ label: template, ...place }),
  z.strictObject({ text: template, ...place }),
  z.strictObject({ placeholder: template, ...place }),
  z.strictObject({ test_id: template, ...place }),
  z.strictObject({ css: template, ...place }),
]);

/**
 * Something on a page. A step needs exactly one that is visible, and looks for it until its time is over. `in` narrows the
 * search to what is within another one, which has to be single, too.
 */
export const target = z.union([
  oneTarget,
  z.strictObject({ in: oneTarget, find: oneTarget }).describe('`find` within `in`.'),
]);
export type OneTarget = z.infer<typeof oneTarget>;
export type Target = z.infer<typeof target>;

/** A regular expression with one group, or none for the whole match. */
export const pattern = z
  .string()
  .max(300)
  .refine((text) => {
    try {
      return new RegExp(text, 'u') instanceof RegExp;
    } catch {
      return false;
    }
  }, 'is not a regular expression.');

const from = {
  /** Left out: the item of the list, else the page. */
  at: target.optional(),
  /** The attribute instead of the text; `value` is what a field holds now. */
  attribute: z.string().max(60).optional(),
  pattern: pattern.optional(),
  /** Reads null where nothing is there. Otherwise the step stops. */
  optional: z.boolean().optional(),
};

export const readText = z.strictObject({
  ...from,
  /** From the page's words to ours; a text that is not listed stops the step. */
  map: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
});
export const currency = z.string().regex(/^[A-Z]{3}$/);

/** Exact: in the recipe's number format, with the currency beside it unless `currency` names it. */
export const readMoney = z.strictObject({ ...from, currency: currency.optional() });
/** Formats: YYYY, YY, MMMM, MMM, MM, M, DD, D, HH, H, hh, h, mm, A, dddd, ddd; anything else stands for itself. */
export const readDate = z.strictObject({ ...from, format: z.string().min(1).max(60) });
export const readNumber = z.strictObject({
  ...from,
  map: z.record(z.string(), z.union([z.int(), z.null()])).optional(),
});
export type ReadText = z.infer<typeof readText>;
export type ReadMoney = z.infer<typeof readMoney>;
export type ReadDate = z.infer<typeof readDate>;
export type ReadNumber = z.infer<typeof readNumber>;

/** Reasons for the end of a purchase, as in `fulfiller.ts`. */
export const stops = z.enum(['captcha', 'account_wall', 'offer_gone', 'no_fares']);
export type Stop = z.infer<typeof stops>;

const timed = {
  /** Names the step in reports; else its place and what it does. */
  name: z.string().max(80).optional(),
  /** How long it is looked for. Default: 10 seconds. */
  within_ms: z.int().min(0).max(60_000).optional(),
};

const flatSteps = [
  /** Goes to an address of the site, beginning with `/`. */
  z.strictObject({ do: z.literal('open'), path: template, ...timed }),
  z.strictObject({
    do: z.literal('click'),
    at: target,
    /**
     * Seen once the click has done what it is for. A pop-up of the same moment can swallow a click: where one
     * was cleared away and this is not seen, it is clicked again. For what may be clicked twice.
     */
    leads_to: target.optional(),
    ...timed,
  }),
  /** Writes into a field, over what is there, and reads it back. */
  z.strictObject({ do: z.literal('fill'), at: target, value: template, ...timed }),
  /** Writes letter by letter, for fields that offer a list as one types. */
  z.strictObject({ do: z.literal('type'), at: target, value: template, ...timed }),
  /** Takes an option of a select, by its value or by its words. `map` is from our value to the page's. */
  z.strictObject({
    do: z.literal('choose'),
    at: target,
    value: template.optional(),
    label: template.optional(),
    map: z.record(z.string(), z.string()).optional(),
    ...timed,
  }),
  z.strictObject({ do: z.literal('tick'), at: target, ...timed }),
  z.strictObject({ do: z.literal('untick'), at: target, ...timed }),
  /** Unticks whatever is ticked among all that fit, and checks that none is left: there may be none at all. */
  z.strictObject({ do: z.literal('untick_all'), at: target, ...timed }),
  /** One that is visible, with the text in it if there is one. */
  z.strictObject({ do: z.literal('expect'), at: target, text: template.optional(), ...timed }),
  z.strictObject({ do: z.literal('gone'), at: target, ...timed }),
  z.strictObject({ do: z.literal('stop'), with: stops, ...timed }),
] as const;

interface Timed {
  name?: string | undefined;
  within_ms?: number | undefined;
}

export type Step =
  | z.infer<(typeof flatSteps)[number]>
  /** Branches on the page as it is: waits for nothing unless `within_ms` says so. */
  | ({ do: 'when'; seen: Target; steps: Step[]; otherwise?: Step[] | undefined } & Timed)
  /** Repeats its steps for each passenger, in order: `{passenger.number}` counts from 1, `{passenger.index}` from 0. */
  | ({ do: 'passengers'; steps: Step[] } & Timed);

export const step: z.ZodType<Step> = z.lazy(() =>
  z.discriminatedUnion('do', [
    ...flatSteps,
    z.strictObject({ do: z.literal('when'), seen: target, steps, otherwise: steps.optional(), ...timed }),
    z.strictObject({ do: z.literal('passengers'), steps, ...timed }),
  ]),
);

export const steps: z.ZodArray<z.ZodType<Step>> = z.array(step).max(60);

/**
 * Names in texts of a recipe, such as `{origin}`, `{depart_date:DD/MM/YYYY}`, `{passenger.family_name}`. Their values depend
 * on the part; a name without a value stops the step, so that nothing half-filled is ever sent.
 */

const NAMES = new Set([
  ...['origin', 'destination', 'origin_city', 'destination_city', 'depart_date', 'return_date', 'adults'],
  // Of the flights that were chosen.
  ...['flight_number', 'return_flight_number'],
  ...['number', 'index', 'given_name', 'family_name', 'born_on', 'title', 'gender', 'email', 'phone_number']
    .concat('nationality', 'passport_number', 'passport_expiry')
    .map((name) => `passenger.${name}`),
  // `contact.email` is an address of our own with the reference in it, where one is set; else the first passenger's.
  ...['contact.email', 'contact.phone_number', 'contact.given_name', 'contact.family_name'],
  ...['card.number', 'card.expiry', 'card.cvc', 'card.holder'],
  ...['reference', 'booking_reference'],
]);

/** `{name}` and `{name:format}`. */
export const PLACE = /\{([a-z_.]+)(?::([^{}]*))?\}/g;

export const namesIn = (text: string): string[] => [...text.matchAll(PLACE)].map(([, name = '']) => name);
