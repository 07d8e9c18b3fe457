import * as z from 'zod';
import { nearest } from '../../../kernel/nearest.ts';
import { selectorFault } from './selector.ts';

/** `{name}` and `{name:format}`. */
export const PLACE = /\{([a-z_.]+)(?::([^{}]*))?\}/g;

export const namesIn = (text: string): string[] => [...text.matchAll(PLACE)].map(([, name = '']) => name);

/** Makes an issue with the mistake's kind and the right word, for `recipe check`. */
const wrong = (message: string, code = 'value_wrong', near: string | null = null) =>
  ({ code: 'custom', message, params: { code, near } }) as const;

const text = z
  .string()
  .max(500)
  // A typed line end would be the Enter key, which submits forms.
  .refine((text) => !/\p{Cc}/u.test(text), 'has a control character.')
  .refine((text) => !/[{}]/.test(text.replaceAll(PLACE, '')), 'has a brace that opens no {name}.');

const template = text.superRefine((text, context) => {
  for (const name of namesIn(text)) {
    if (NAMES.has(name)) continue;
    const near = nearest(name, [...NAMES], 1)[0] ?? null;
    context.addIssue(wrong(`has an unknown name: ${name}.`, 'place_unknown', near));
  }
});

const css = template.superRefine((text, context) => {
  const fault = selectorFault(text.replaceAll(PLACE, 'x'));
  if (fault) context.addIssue(wrong(fault.message, 'value_wrong', fault.nearest));
});

/** Parts of a recipe: places on a page, readings of values, and steps; data that is checked without being run. */

const ROLES = [
  ...['alert', 'article', 'button', 'cell', 'checkbox', 'combobox', 'dialog', 'form', 'group', 'heading', 'img'],
  ...['link', 'list', 'listbox', 'listitem', 'main', 'menuitem', 'navigation', 'option', 'radio', 'radiogroup'],
  ...['region', 'row', 'searchbox', 'spinbutton', 'status', 'switch', 'tab', 'table', 'tabpanel', 'textbox'],
] as const;

/** Frames by CSS selector, each within the one before. */
const frames = z.array(css).min(1).max(5);
export const siteFrame = z.union([css, frames]);

const place = {
  /** The frame to look in, as many tills frame the card. Null for the page itself. Default: `site.frame`. */
  frame: z.union([css, frames, z.null()]).optional(),
  /** Matches the whole text exactly. Default: a part of it, in any case. */
  exact: z.boolean().optional(),
};

const oneTarget = z.union([
  z.strictObject({ role: z.enum(ROLES), name: template.optional(), ...place }),
  z.strictObject({ label: template, ...place }),
  z.strictObject({ text: template, ...place }),
  z.strictObject({ placeholder: template, ...place }),
  z.strictObject({ test_id: template, ...place }),
  z.strictObject({ css, ...place }),
]);

/** A place on a page; a step waits for a single visible one. `in` searches within another single place. */
export const target = z.union([
  oneTarget,
  z.strictObject({ in: oneTarget, find: oneTarget }).describe('`find` within `in`.'),
]);
export type OneTarget = z.infer<typeof oneTarget>;
export type Target = z.infer<typeof target>;

/** A regular expression that a text is tested with. */
export const expression = z
  .string()
  .max(300)
  .refine((text) => groupsIn(text) !== null, 'is not a regular expression.');

/** A regular expression that reads its group, or its whole match if it has none. */
export const pattern = expression.refine(
  (text) => (groupsIn(text) ?? 0) <= 1,
  'has several groups: the one that is read is (…), others are (?:…).',
);

function groupsIn(text: string): number | null {
  try {
    return (new RegExp(`${text}|`, 'u').exec('')?.length ?? 1) - 1;
  } catch {
    return null;
  }
}

const from = {
  /** Default: the list item, else the page. */
  at: target.optional(),
  /** The attribute to read instead of the text; `value` is a field's current value. */
  attribute: z.string().max(60).optional(),
  pattern: pattern.optional(),
  /** Reads null if nothing is there, instead of failing. */
  optional: z.boolean().optional(),
};

export const readText = z.strictObject({
  ...from,
  /** Translates the page's words into ours; other words fail. */
  map: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
});
export const currency = z.string().regex(/^[A-Z]{3}$/);

/** An amount in the recipe's number format, with its currency unless `currency` names it. */
export const readMoney = z.strictObject({ ...from, currency: currency.optional() });
/** A format is made of `READ_TOKENS`; all else in it is literal. */
export const readDate = z.strictObject({ ...from, format: z.string().min(1).max(60) });
/** As `1h30m`, `1 h 30 min`, `90 min`, `PT1H30M` or `1:30`. */
export const readDuration = z.strictObject(from);
export const readNumber = z.strictObject({
  ...from,
  map: z.record(z.string(), z.union([z.int(), z.null()])).optional(),
});
export type ReadText = z.infer<typeof readText>;
export type ReadMoney = z.infer<typeof readMoney>;
export type ReadDate = z.infer<typeof readDate>;
export type ReadNumber = z.infer<typeof readNumber>;

/** Ends that a site reports: the bank declined, the seats are gone, the price has changed. */
export const ENDS = ['declined', 'sold_out', 'price_changed'] as const;

/** Ends of a purchase, as in `fulfiller.ts`. */
export const stops = z.enum(['captcha', 'account_wall', 'offer_gone', 'no_fares', ...ENDS] as const);
export type Stop = z.infer<typeof stops>;

const timed = {
  /** The step's name in reports. Default: its place and action. */
  name: z.string().max(80).optional(),
  /** Time to look for the target. Default: 10 seconds. */
  within_ms: z.int().min(0).max(60_000).optional(),
};

const flatSteps = [
  /** Goes to an address of the site that begins with `/`. */
  z.strictObject({ do: z.literal('open'), path: template, ...timed }),
  z.strictObject({
    do: z.literal('click'),
    at: target,
    /** Seen after the click, which is repeated if a pop-up may have swallowed it: only for repeatable clicks. */
    leads_to: target.optional(),
    ...timed,
  }),
  /** Replaces a field's text and reads it back. */
  z.strictObject({ do: z.literal('fill'), at: target, value: template, ...timed }),
  /** Types letter by letter, for fields with suggestions. */
  z.strictObject({ do: z.literal('type'), at: target, value: template, ...timed }),
  /** Chooses a select's option by value or label; `map` translates our value into the page's. */
  z.strictObject({
    do: z.literal('choose'),
    at: target,
    value: template.optional(),
    label: template.optional(),
    map: z.record(z.string(), z.string()).optional(),
    ...timed,
  }),
  /** Clicks the radio, option or button that our value names; `at` has that value as `{picked}`. */
  z.strictObject({
    do: z.literal('pick'),
    at: target,
    value: template,
    map: z.record(z.string(), z.string()).optional(),
    /** Clicked first unless the choice is seen already, such as the button of a list box. */
    open: target.optional(),
    leads_to: target.optional(),
    ...timed,
  }),
  z.strictObject({ do: z.literal('tick'), at: target, ...timed }),
  z.strictObject({ do: z.literal('untick'), at: target, ...timed }),
  /** Unticks all that fit, if any, and checks that none is left ticked. */
  z.strictObject({ do: z.literal('untick_all'), at: target, ...timed }),
  /** Waits for a visible target, containing `text` if given. */
  z.strictObject({ do: z.literal('expect'), at: target, text: template.optional(), ...timed }),
  z.strictObject({ do: z.literal('gone'), at: target, ...timed }),
  z.strictObject({ do: z.literal('stop'), with: stops, ...timed }),
] as const;

type Timed = z.infer<z.ZodObject<typeof timed>>;

export type Step =
  | z.infer<(typeof flatSteps)[number]>
  /** Takes `steps` if `seen` appears within `within_ms`, else `otherwise`. */
  | ({ do: 'when'; seen: Target; steps: Step[]; otherwise?: Step[] | undefined } & Timed)
  /** Repeats steps until a target is seen, or while one is, at most `most` times; looks for `within_ms` after each. */
  | ({ do: 'repeat'; until?: Target | undefined; while?: Target | undefined; most: number; steps: Step[] } & Timed)
  /** Repeats steps for each passenger: `{passenger.number}` counts from 1, `{passenger.index}` from 0. */
  | ({ do: 'passengers'; steps: Step[] } & Timed);

export const step: z.ZodType<Step> = z.lazy(() =>
  z.discriminatedUnion('do', [
    ...flatSteps,
    z.strictObject({ do: z.literal('when'), seen: target, steps, otherwise: steps.optional(), ...timed }),
    z.strictObject({
      do: z.literal('repeat'),
      until: target.optional(),
      while: target.optional(),
      most: z.int().min(1).max(60),
      steps,
      ...timed,
    }),
    z.strictObject({ do: z.literal('passengers'), steps, ...timed }),
  ]),
);

export const steps: z.ZodArray<z.ZodType<Step>> = z.array(step).max(60);

/**
 * Names for a recipe's texts, such as `{origin}` or `{depart_date:DD/MM/YYYY}`. A name without a value fails the step,
 * so that nothing half-filled is sent.
 */
export const NAMES_OF = {
  query: ['origin', 'destination', 'origin_city', 'destination_city', 'depart_date', 'return_date', 'adults'],
  flights: ['flight_number', 'return_flight_number'],
  passenger: ['number', 'index', 'given_name', 'family_name', 'born_on', 'title', 'gender', 'email', 'phone_number']
    .concat('nationality', 'passport_number', 'passport_expiry', 'phone_country', 'phone_national')
    .map((name) => `passenger.${name}`),
  // The email is our own address with the reference, if set, else the first passenger's.
  contact: ['email', 'phone_number', 'given_name', 'family_name'].map((name) => `contact.${name}`),
  /** The country's calling code, and the number within it. */
  phone: ['contact.phone_country', 'contact.phone_national'],
  card: ['card.number', 'card.expiry', 'card.cvc', 'card.holder'],
  reference: ['reference'],
  booking: ['booking_reference'],
  account: ['account.user', 'account.password'],
  /** The value that a step `pick` picks. */
  picked: ['picked'],
  challenge: ['challenge.code'],
} satisfies Record<string, readonly string[]>;

const NAMES: ReadonlySet<string> = new Set(Object.values(NAMES_OF).flat());
