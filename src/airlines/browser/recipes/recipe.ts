import * as z from 'zod';
import { problem } from '../../../kernel/problems.ts';
import {
  currency,
  ENDS,
  expression,
  pattern,
  readDate,
  readDuration,
  readMoney,
  readNumber,
  readText,
  siteFrame,
  step,
  steps,
  stops,
  target,
} from './steps.ts';
import { NUMBER_FORMATS } from './values.ts';

/**
 * A recipe says how to search, buy and find bookings on a carrier's site. It is data, a file for each carrier
 * (docs/carriers.md). Code, not the recipe, finds flights by number and day and fares by content, compares the total
 * with the only price that may be paid, and presses the pay button once.
 */

/** A list is read once neither its length nor its texts have changed for this long. Default: 300. */
const still = { still_ms: z.int().min(0).max(10_000).optional() };

const flightList = z.strictObject({
  list: target,
  ...still,
  /** Seen instead of the list if there are no flights. */
  none: target.optional(),
  read: z.strictObject({
    /** The marketing number, as `X91204`. */
    flight_number: readText,
    /** A time without a day is on the query's day. */
    departs: readDate,
    /** A time without a day that is before the departure is on the next day. */
    arrives: readDate.optional(),
    /** Used instead of `arrives`; the airports' time zones then give the arrival. */
    duration: readDuration.optional(),
    price: readMoney,
    carrier_name: readText.optional(),
    operating_flight_number: readText.optional(),
    aircraft_name: readText.optional(),
    origin_terminal: readText.optional(),
    destination_terminal: readText.optional(),
    /** Technical stops and connections. Default: none. */
    stops: readNumber.optional(),
    /** The cheapest fare's brand, as its bags below. */
    fare_brand_name: readText.optional(),
    checked_bags: readNumber.optional(),
    carry_on_bags: readNumber.optional(),
  }),
  /** The button within the item that takes the flight. Default: the item itself. */
  choose: target.optional(),
});

const search = z.strictObject({
  steps,
  price_for: z.enum(['one', 'all']),
  out: flightList,
  /** For return trips sold in one visit, at the sum of both prices. */
  back: flightList.extend({ before: steps.optional() }).optional(),
  /** How long an offer is valid after it was read. */
  offer_life_minutes: z.int().min(5).max(240).optional(),
});

const fares = z.strictObject({
  steps: steps.optional(),
  list: target,
  ...still,
  /** Seen if no fare is left. */
  none: target.optional(),
  price_for: z.enum(['one', 'all']),
  read: z.strictObject({
    brand: readText.optional(),
    price: readMoney,
    checked_bags: readNumber.optional(),
    carry_on_bags: readNumber.optional(),
    change_allowed: readText.optional(),
    /** The fee for the whole booking. */
    change_penalty: readMoney.optional(),
    refund_allowed: readText.optional(),
    refund_penalty: readMoney.optional(),
  }),
  choose: target.optional(),
});

const extras = z.strictObject({
  /** All extras' checkboxes, to untick. */
  ticked: target.optional(),
  steps: steps.optional(),
});

const till = z.strictObject({
  /** Lead to the till, and there up to the card. */
  steps: steps.optional(),
  /** The whole charge, for all passengers. */
  total: readMoney,
  /** Fills in the card without paying. */
  card: steps,
  /**
   * Addresses that a till with a card sends to without paying: a path on the site or a whole address elsewhere, without
   * the query. Any other request may be the payment.
   */
  harmless_posts: z.array(expression).max(30).optional(),
  /** The pay button, which code presses once, after recording it. */
  pay: target,
});

const domain = z.string().regex(/^[a-z0-9.-]+\.[a-z]{2,}$/, 'is no domain such as carrier.example.');

const confirmed = {
  booking_reference: readText,
  /** Default: the till's total. */
  paid: readMoney.optional(),
};

/** The code that the bank asks for, from a mail or from a person. */
const code = z.discriminatedUnion('from', [
  z.strictObject({
    from: z.literal('mail'),
    /** As in `mail`: the domain that signs, and the subject. */
    domain,
    subject: expression,
    code: pattern,
    /** The amount in the mail, which has to be the till's. */
    paid: pattern.optional(),
  }),
  /** Written into a file of the operator's folder, by a person or by a program that gets the messages. */
  z.strictObject({ from: z.literal('person') }),
]);

const confirmation = z.strictObject({
  seen: target,
  read: z.strictObject(confirmed),
  /** Seen if the carrier confirms later. */
  later: target.optional(),
  within_ms: z.int().min(1000).max(180_000).optional(),
  /** The bank's question between press and confirmation (3-D Secure), answered once and in a time of its own. */
  challenge: z
    .strictObject({ seen: target, code: code.optional(), steps, within_ms: z.int().min(1000).max(600_000).optional() })
    .optional(),
  /** Pages that report a failure; believed if code can prove that nothing was sold. */
  ended: z
    .array(z.strictObject({ seen: target, as: z.enum(ENDS) }))
    .max(10)
    .optional(),
});

/** The carrier's own confirmation mail. */
const mail = z.strictObject({
  /** The From address's domain; it or a domain above it must sign (DKIM). */
  domain,
  subject: expression,
  booking_reference: pattern,
  paid: pattern.optional(),
});

const manage = z.strictObject({
  steps,
  seen: target,
  read: z.strictObject(confirmed),
  /** Seen for an unknown booking, which never means that nothing was bought. */
  none: target.optional(),
  cancelled: target.optional(),
  /** `press` is clicked once per call; `done` is seen after the cancellation. */
  cancel: z
    .strictObject({
      /** Seen where cancellation is possible. Default: always. */
      offered: target.optional(),
      steps,
      press: target,
      done: target,
    })
    .optional(),
});

const host = z
  .string()
  .regex(/^[a-z0-9.-]+(:\d+)?$/, 'is no host such as cdn.carrier.example, without https:// and path.');

/** Walls and pop-ups to clear away, and pages that end a visit. Looked for before every attempt of a step. */
const wall = z.union([
  z.strictObject({ seen: target, stop: stops }),
  z.strictObject({ seen: target, steps: z.array(step).min(1).max(10) }),
]);

export const recipeSchema = z.strictObject({
  /** For the writer's editor. */
  $schema: z.string().max(500).optional(),
  format: z.literal(1),
  /** Raised with every change; recorded with each purchase. */
  version: z.int().min(1),
  carrier: z.strictObject({
    code: z.string().regex(/^[A-Z0-9]{2}$/, 'is no carrier code such as X9.'),
    name: z.string().min(1).max(80),
  }),
  site: z.strictObject({
    /** https, or http to this machine; an operator may override it (`sites`). */
    base: z.url({ protocol: /^https?$/, error: 'is no address such as https://www.carrier.example.' }),
    /** The only other reachable hosts. */
    hosts: z.array(host).max(30).optional(),
    locale: z.string().max(20).optional(),
    time_zone: z.string().max(60).optional(),
    currency,
    /** The site's currency signs and words, such as `US$` and `US dollars`; codes (`USD`) are known. */
    symbols: z.record(z.string().min(1).max(30), currency).optional(),
    numbers: z.enum(NUMBER_FORMATS),
    /** Names for MMM and MMMM. Default: English. */
    months: z.array(z.string().min(1)).length(12).optional(),
    /** The frame that the whole site is in. Default: none. */
    frame: siteFrame.optional(),
    /** The pause between steps. Default: 0. */
    pause_ms: z.int().min(0).max(5000).optional(),
  }),
  serves: z.strictObject({
    /** Such as `LTN-LGW`, `LTN-*` or `*-*`, each for one direction. */
    routes: z
      .array(z.string().regex(/^([A-Z]{3}|\*)-([A-Z]{3}|\*)$/, 'is no route such as LTN-LGW, LTN-* or *-*.'))
      .min(1),
    most_passengers: z.int().min(1).max(9).optional(),
  }),
  walls: z.array(wall).max(30),
  search,
  /** Left out if the site has no page of fares: the list of flights then gives the fare. */
  fares: fares.optional(),
  passengers: z.strictObject({ steps }),
  extras,
  till,
  /** Complaints about the form, which end the purchase before payment. */
  rejected: z.strictObject({ list: target, field: readText }).optional(),
  confirmation,
  mail: mail.optional(),
  manage: manage.optional(),
});

export type Recipe = z.infer<typeof recipeSchema>;

export type FlightList = z.infer<typeof flightList>;
export type RecipePart = 'search' | 'fares' | 'passengers' | 'extras' | 'till' | 'confirmation' | 'manage';

/** A setting that a recipe needs and the operator has not set. */
export type Lack = NonNullable<ReturnType<typeof lackIn>>;

/** Finds a setting that a recipe lacks. @param given falsy if not set; true if this visit does not need it */
export function lackIn(
  { carrier, ...recipe }: Recipe,
  given: Readonly<Record<'account' | 'mailFolder' | 'codeFolder', unknown>>,
) {
  const { code } = recipe.confirmation.challenge ?? {};
  const needs = [
    [JSON.stringify(recipe).includes('{account.'), given.account, 'FARELOCK_CARRIER_ACCOUNTS', 'an account'],
    [code?.from === 'mail', given.mailFolder, 'FARELOCK_CARRIER_MAIL_FOLDER', 'a mail folder for codes'],
    [code?.from === 'person', given.codeFolder, 'FARELOCK_CARRIER_CODE_FOLDER', 'a folder for codes'],
  ] as const;
  const [, , setting, needed] = needs.find(([isNeeded, has]) => isNeeded && !has) ?? [];
  return setting === undefined ? null : { carrier: carrier.code, needs: needed, setting };
}

export const lackProblem = ({ carrier, needs, setting }: Lack) =>
  problem('recipe_invalid', {
    message: `The recipe of ${carrier} needs ${needs}, which ${setting} does not name.`,
    fix: setting.endsWith('ACCOUNTS')
      ? `Set ${setting} to a file that only you can read: {"${carrier}":{"user":"…","password":"…"}}.`
      : `Set ${setting} to a folder (docs/carriers.md).`,
  });

const LOOPBACK = /^(127\.0\.0\.1|localhost|\[::1\])$/;

export const isLoopback = (hostname: string): boolean => LOOPBACK.test(hostname);

/** True for a site on this machine, which sells nothing real. */
export const isPretend = ({ site }: Recipe): boolean => isLoopback(new URL(site.base).hostname);
