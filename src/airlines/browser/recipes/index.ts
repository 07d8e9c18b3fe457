import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { readBounded } from '../../../kernel/bounded-file.ts';
import { isProblem, problem } from '../../../kernel/problems.ts';
import {
  currency,
  namesIn,
  pattern,
  readDate,
  readMoney,
  readNumber,
  readText,
  type Step,
  step,
  steps,
  stops,
  type Target,
  target,
} from './steps.ts';
import { NUMBER_FORMATS } from './values.ts';

export * from './packages.ts';
export {
  namesIn,
  type OneTarget,
  type ReadDate,
  type ReadMoney,
  type ReadNumber,
  type ReadText,
  type Step,
  type Stop,
  type Target,
} from './steps.ts';
export * from './values.ts';

/**
 * How one carrier's web site is searched, bought from, and asked about: data, one file a carrier (docs/carriers.md).
 * What has to be exact is done by code, not by the recipe: flights are found by number and day, fares by content, the
 * total is compared with the only price that may be paid, and the pay button is pressed once.
 */

const flightList = z.strictObject({
  list: target,
  /** Seen instead of the list where nothing flies. */
  none: target.optional(),
  read: z.strictObject({
    /** The marketing number, as `X91204`. */
    flight_number: readText,
    /** Without a day it is the day of the query. */
    departs: readDate,
    /** A time alone before the departure's is of the next day. */
    arrives: readDate,
    price: readMoney,
    carrier_name: readText.optional(),
    operating_flight_number: readText.optional(),
    aircraft_name: readText.optional(),
    origin_terminal: readText.optional(),
    destination_terminal: readText.optional(),
    /** Technical stops and connections alike. Left out, it flies straight. */
    stops: readNumber.optional(),
    /** Of the cheapest fare, where the list says so. */
    fare_brand_name: readText.optional(),
    checked_bags: readNumber.optional(),
    carry_on_bags: readNumber.optional(),
  }),
  /** Takes the flight, within its item. Left out: the item itself is clicked. */
  choose: target.optional(),
});

const search = z.strictObject({
  steps,
  price_for: z.enum(['one', 'all']),
  out: flightList,
  /** For carriers that sell a return trip in one visit; its prices are added to those of the way out. */
  back: flightList.extend({ before: steps.optional() }).optional(),
  /** How long an offer may be shown after it was read. */
  offer_life_minutes: z.int().min(5).max(240).optional(),
});

const fares = z.strictObject({
  steps: steps.optional(),
  list: target,
  /** Seen where none is left. */
  none: target.optional(),
  price_for: z.enum(['one', 'all']),
  read: z.strictObject({
    brand: readText.optional(),
    price: readMoney,
    checked_bags: readNumber.optional(),
    carry_on_bags: readNumber.optional(),
    change_allowed: readText.optional(),
    /** Of the whole booking. */
    change_penalty: readMoney.optional(),
    refund_allowed: readText.optional(),
    refund_penalty: readMoney.optional(),
  }),
  choose: target.optional(),
});

const extras = z.strictObject({
  /** Every extra that can be ticked: all are unticked. */
  ticked: target.optional(),
  steps: steps.optional(),
});

const till = z.strictObject({
  /** To the till, and on it up to the card. */
  steps: steps.optional(),
  /** The whole charge, for all passengers. */
  total: readMoney,
  /** Fills in the card; nothing here may pay. */
  card: steps,
  /**
   * Addresses that the till sends to without paying, once the card is on it: a path on the site, or the whole address of
   * another host, without the query. Anything else that it sends may be the payment.
   */
  harmless_posts: z.array(pattern).max(30).optional(),
  /** The one button that pays. It is pressed by code, once, after that is on record. */
  pay: target,
});

const confirmed = {
  booking_reference: readText,
  /** Left out, it is the total of the till. */
  paid: readMoney.optional(),
};

const confirmation = z.strictObject({
  seen: target,
  read: z.strictObject(confirmed),
  /** Seen where the carrier has taken the order and confirms it later. */
  later: target.optional(),
  within_ms: z.int().min(1000).max(180_000).optional(),
});

/** The carrier's own mail, signed by its domain. */
const mail = z.strictObject({
  /** The domain of the From address; the DKIM signature has to be of it, or of a domain above it. */
  domain: z.string().regex(/^[a-z0-9.-]+\.[a-z]{2,}$/),
  subject: pattern,
  booking_reference: pattern,
  paid: pattern.optional(),
});

const manage = z.strictObject({
  steps,
  seen: target,
  read: z.strictObject(confirmed),
  /** Seen where the site knows no such booking. It never means "nothing was bought". */
  none: target.optional(),
  cancelled: target.optional(),
  /** The button is pressed once a call; `done` is seen when the booking is cancelled. */
  cancel: z
    .strictObject({
      /** Seen where the booking can be given back; left out, it always can. */
      offered: target.optional(),
      steps,
      press: target,
      done: target,
    })
    .optional(),
});

const host = z.string().regex(/^[a-z0-9.-]+(:\d+)?$/);

/**
 * Looked for before every step, and whenever a step finds nothing: cookie walls and pop-ups, which are cleared away, and
 * pages that end a visit.
 */
const wall = z.union([
  z.strictObject({ seen: target, stop: stops }),
  z.strictObject({ seen: target, steps: z.array(step).min(1).max(10) }),
]);

export const recipeSchema = z.strictObject({
  format: z.literal(1),
  /** Of the recipe: raised with every change, and written beside each act. */
  version: z.int().min(1),
  carrier: z.strictObject({ code: z.string().regex(/^[A-Z0-9]{2}$/), name: z.string().min(1).max(80) }),
  site: z.strictObject({
    /** https, or http to this machine. An operator may set another one (`sites`). */
    base: z.url({ protocol: /^https?$/ }),
    /** The only other hosts that can be reached. */
    hosts: z.array(host).max(30).optional(),
    locale: z.string().max(20).optional(),
    time_zone: z.string().max(60).optional(),
    currency,
    /** The site's signs for currencies, such as `US$`. A code (`USD`) needs no line. */
    symbols: z.record(z.string().min(1).max(5), currency).optional(),
    numbers: z.enum(NUMBER_FORMATS),
    /** For MMM and MMMM, January first. Default: English. */
    months: z.array(z.string().min(1)).length(12).optional(),
    /** The pause between steps. Default: 0. */
    pause_ms: z.int().min(0).max(5000).optional(),
  }),
  serves: z.strictObject({
    /** `LTN-LGW`, `LTN-*`, `*-*`; both ways have to be listed. */
    routes: z.array(z.string().regex(/^([A-Z]{3}|\*)-([A-Z]{3}|\*)$/)).min(1),
    most_passengers: z.int().min(1).max(9).optional(),
  }),
  walls: z.array(wall).max(30),
  search,
  fares,
  passengers: z.strictObject({ steps }),
  extras,
  till,
  /** The site's complaints about what was filled in; any of them ends the purchase before it pays. */
  rejected: z.strictObject({ list: target, field: readText }).optional(),
  confirmation,
  mail: mail.optional(),
  manage: manage.optional(),
});

export type Recipe = z.infer<typeof recipeSchema>;

export type FlightList = z.infer<typeof flightList>;
export type RecipePart = 'search' | 'fares' | 'passengers' | 'extras' | 'till' | 'confirmation' | 'manage';

const MOST_BYTES = 4 * 1_048_576;
const LOOPBACK = /^(127\.0\.0\.1|localhost|\[::1\])$/;

const refused = (file: string, why: string) =>
  problem('recipe_invalid', { message: `The recipe ${file} cannot be used: ${why}`, detail: { file } });

/**
 * Reads the recipes of an operator, and refuses mistakes before anything is sold by them.
 * @throws Problem `recipe_invalid`
 */
export function loadRecipes(paths: readonly string[], sites: Readonly<Record<string, string>> = {}): Recipe[] {
  const recipes = paths.flatMap(filesAt).map((file) => load(file, sites));
  const codes = recipes.map(({ carrier }) => carrier.code);
  const twice = codes.find((code, i) => codes.indexOf(code) !== i);
  if (twice !== undefined) throw refused(twice, 'there is another recipe of this carrier.');
  if (recipes.length === 0) throw refused(paths.join(', ') || '(none)', 'there is no .json file.');
  return recipes;
}

function filesAt(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path).filter((name) => name.endsWith('.json'));
    return names.sort().map((name) => join(path, name));
  } catch (error) {
    throw refused(path, `it cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`);
  }
}

function load(file: string, sites: Readonly<Record<string, string>>): Recipe {
  let json: unknown;
  try {
    const bytes = readBounded(file, { mostBytes: MOST_BYTES });
    if (!bytes) throw refused(file, `it is larger than ${MOST_BYTES / 1_048_576} MB.`);
    json = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    if (isProblem(error)) throw error;
    const isJson = error instanceof SyntaxError;
    throw refused(file, isJson ? 'it is not JSON.' : 'it cannot be read.');
  }
  return recipeOf(json, file, sites);
}

/** @throws Problem `recipe_invalid`, with the place of the first mistake */
export function recipeOf(json: unknown, file: string, sites: Readonly<Record<string, string>> = {}): Recipe {
  const read = recipeSchema.safeParse(json);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw refused(file, `${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'is wrong.'}`);
  }
  const base = sites[read.data.carrier.code];
  const recipe = base === undefined ? read.data : { ...read.data, site: { ...read.data.site, base } };
  const wrong = mistakeIn(recipe);
  if (wrong !== null) throw refused(file, wrong);
  return recipe;
}

const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(textsIn) : [];
};

const uses = (part: unknown, prefix: string): boolean =>
  textsIn(part).some((text) => namesIn(text).some((name) => name.startsWith(prefix)));

const CLICKS: ReadonlySet<Step['do']> = new Set(['click', 'tick', 'untick', 'untick_all']);
const everyStep = (steps: readonly Step[]): Step[] =>
  steps.flatMap((step) => [
    step,
    ...('steps' in step ? everyStep(step.steps) : []),
    ...('otherwise' in step ? everyStep(step.otherwise ?? []) : []),
  ]);

/** True where both targets have the same words. At the till they are compared by element, too. */
function isSame(at: Target, pay: Target): boolean {
  if ('in' in at) return 'in' in pay && isSame(at.in, pay.in) && isSame(at.find, pay.find);
  const { exact: _exact, ...named } = 'in' in pay ? pay.find : pay;
  const { exact: _other, ...one } = at;
  const keys = new Set([...Object.keys(one), ...Object.keys(named)]);
  const text = (of: object, key: string) => String((of as Record<string, unknown>)[key] ?? '').toLowerCase();
  return [...keys].every((key) => text(one, key) === text(named, key));
}

/** Checks the rules that the schema can't express. */
function mistakeIn(recipe: Recipe): string | null {
  const { site, till, ...parts } = recipe;
  const { card, ...beforeCard } = till;
  // Elsewhere there is no card yet, or nothing else may see it.
  if (uses(parts, 'card.') || uses(beforeCard, 'card.')) return 'the card is for till.card alone.';
  if (!uses(card, 'card.number')) return 'till.card fills in no card number.';
  const withCard = [...card, ...recipe.walls.flatMap((wall) => ('steps' in wall ? wall.steps : []))];
  if (everyStep(withCard).some((step) => CLICKS.has(step.do) && 'at' in step && isSame(step.at, till.pay)))
    return 'a step clicks till.pay, which code alone presses, once.';
  if (everyStep(card).some((step) => step.do === 'open')) return 'till.card may not leave the till.';
  const { protocol, hostname } = new URL(site.base);
  if (protocol !== 'https:' && !LOOPBACK.test(hostname)) return 'site.base has to be https.';
  return null;
}

/** A site on this machine: nothing real is sold there. */
export const isPretend = ({ site }: Recipe): boolean => LOOPBACK.test(new URL(site.base).hostname);
