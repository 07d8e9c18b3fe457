import type { BrowserContext } from 'playwright-core';
import { parseUsdc } from '../../../kernel/money.ts';
import { problem } from '../../../kernel/problems.ts';
import type { Passenger } from '../../../wire/flights/index.ts';
import type { SoldFare } from '../../fulfiller.ts';
import type { RoundTrip } from '../../provider.ts';
import { takeFare } from '../fares.ts';
import { isServed, lookForFlights, queryValues } from '../flights.ts';
import { type FoundOffer, offersOf } from '../offers.ts';
import {
  type Account,
  BrowserGone,
  free,
  Misfit,
  needBrowser,
  openVisit,
  passengerValues,
  Stopped,
  shown,
  type Visit,
  type Walk,
  walkOf,
} from '../page/index.ts';
import {
  installed,
  lackIn,
  lackProblem,
  type Money,
  type Recipe,
  type RecipePart,
  type Target,
} from '../recipes/index.ts';
import { contactValues, isSamePrice, totalAsked, wayOf } from '../to-till.ts';
import { type Near, nearestTo } from './nearest.ts';
import { createWatch, digestOf, placeIn, settledNames } from './watch.ts';

/**
 * Visits a carrier's site by a recipe as a purchase does, up to the till. A trial has no card and cannot pay: it goes
 * the way of `to-till.ts`, and none of its modules reaches the one that pays.
 */

export const TRIAL_PAGES = ['offers', 'fares', 'passengers', 'till'] as const;
export type TrialPage = (typeof TRIAL_PAGES)[number];

/** An invented traveller: Nomen Nescio, an unknown person in law, with a phone number reserved for fiction. */
const TRAVELLER: Passenger = {
  title: 'ms',
  given_name: 'Nomen',
  family_name: 'Nescio',
  gender: 'f',
  born_on: '1985-06-15',
  email: 'nomen.nescio@example.org',
  phone_number: '+447700900123',
  nationality: 'GB',
  passport_number: '900900123',
  passport_expiry: '2034-05-31',
};
const OTHERS = ['Altera', 'Tertia', 'Quarta', 'Quinta', 'Sexta', 'Septima', 'Octava', 'Nona'];

export const inventedTravellers = (count: number): Passenger[] =>
  [TRAVELLER, ...OTHERS.map((given_name) => ({ ...TRAVELLER, given_name }))].slice(0, count);

/** Given where a site asks for our reference. */
const REFERENCE = 'trial';

type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>;

/**
 * Pages where a visit may begin, in order. On `flights` and `menu` the choice is still to be made, as most pages forget
 * it.
 */
const STARTS = ['search', 'flights', 'fares', 'menu', 'passengers', 'extras', 'till'] as const;
type Start = (typeof STARTS)[number];

interface Place {
  readonly start: Start;
  readonly url: string;
  readonly names: string;
}

/** The state that a trial leaves for the next one. */
export interface Kept {
  readonly asked: string;
  readonly until: TrialPage;
  /** Of the recipe's parts at that time. */
  readonly digests: Readonly<Record<string, string>>;
  readonly offers: readonly FoundOffer[];
  readonly fares: readonly SoldFare[];
  readonly agreed: Money | null;
  readonly places: readonly Place[];
  /** Null if the trial came to its last page. */
  readonly stoppedAt: RecipePart | null;
  readonly storageState: StorageState | null;
}

export interface Till {
  readonly total: Money;
  /** True if the total is the fare's price, as a purchase needs; null without such a price. */
  readonly isAgreed: boolean | null;
  /** Fields of the card and the pay button; none is touched. */
  readonly found: readonly TillTarget[];
}

export interface TillTarget {
  readonly place: readonly (string | number)[];
  readonly target: Target;
  /** Number of visible elements that fit; 1 is right. */
  readonly count: number;
  /** The element over the pay button; null if there is none, or for other targets. */
  readonly cover: string | null;
  /** Replacements, if `count` is not 1. */
  readonly near: readonly Near[];
}

export interface Failure {
  readonly kind: 'misfit' | 'stopped' | 'failed';
  readonly part: RecipePart;
  readonly step: string;
  readonly saw: string;
  readonly target: Target | null;
  readonly place: readonly (string | number)[] | null;
  readonly near: readonly Near[];
}

export interface TrialOptions {
  readonly recipe: Recipe;
  readonly chromium: string | null | undefined;
  readonly visitMs: number;
  readonly account?: Account | undefined;
  readonly nowMs: number;
  readonly query: RoundTrip;
  readonly until: TrialPage;
  /** The last trial's page and findings; null to begin with the search. */
  readonly kept: Kept | null;
  /** The names of a page in an earlier trial; null if unknown. */
  readonly namesBefore?: ((part: RecipePart) => string | null) | undefined;
  readonly signal: AbortSignal;
}

export type Trial = Awaited<ReturnType<typeof tryRecipe>>;

const PARTS = ['search', 'fares', 'passengers', 'extras', 'till'] as const;
type Part = (typeof PARTS)[number];

const digestsOf = ({ site, serves, ...parts }: Recipe): Record<Part, string> => ({
  search: digestOf([site, serves, parts.search]),
  fares: digestOf(parts.fares ?? null),
  passengers: digestOf(parts.passengers),
  extras: digestOf(parts.extras),
  till: digestOf(parts.till.steps ?? null),
});

/** The parts of the recipe that led to a page. */
const partsBefore = (start: Start): readonly Part[] => {
  if (start === 'flights') return ['search'];
  return PARTS.slice(0, start === 'menu' ? 2 : PARTS.indexOf(start));
};

type Run = ReturnType<typeof beginRun>;

/** Findings of a run before its first visit. */
const NOTHING = {
  offers: [] as readonly FoundOffer[],
  fares: [] as readonly SoldFare[],
  agreed: null as Money | null,
  till: null as Till | null,
  failure: null as Failure | null,
  /** True if the flights of the last trial are sold or gone. */
  isGone: false,
  places: [] as readonly Place[],
  storageState: null as StorageState | null,
};

function beginRun(options: TrialOptions) {
  const { recipe, query } = options;
  const asked = JSON.stringify([recipe.carrier.code, recipe.site.base, query]);
  const known = options.kept?.asked === asked ? options.kept : null;
  const digests = digestsOf(recipe);
  const isSame = (part: Part) => known?.digests[part] === digests[part];
  const isFurther = known !== null && TRIAL_PAGES.indexOf(options.until) > TRIAL_PAGES.indexOf(known.until);
  return {
    ...{ options, asked, digests },
    /** The last trial of this journey, if the search is unchanged and it stopped early or this one goes further. */
    known: known && isSame('search') && (known.stoppedAt !== null || isFurther) ? known : null,
    isSame,
    chromium: needBrowser(options.chromium, ['playwright-core']),
    watch: createWatch(recipe),
    refused: new Set<string>(),
    dialogs: [] as string[],
    began: { at: 'search' as Start, why: null as string | null },
    ...NOTHING,
  };
}

/**
 * Tries a recipe at its site.
 * @throws Problem `usage` for a journey that the recipe does not serve, `recipe_invalid` without its account,
 *   `browser_missing`
 */
export async function tryRecipe(options: TrialOptions) {
  const { recipe, query, until, account } = options;
  // The bank asks for codes only after the pay button.
  const lack = lackIn(recipe, { account, mailFolder: true, codeFolder: true });
  if (lack) throw lackProblem(lack);
  if (!isServed(recipe, query)) {
    throw problem('usage', {
      message: `The recipe of ${recipe.carrier.name} does not serve this journey.`,
      fix: `It serves ${recipe.serves.routes.join(', ')}${recipe.search.back ? '' : ', one way'}, for up to ${recipe.serves.most_passengers ?? 9}: add it, or try another one.`,
    });
  }
  const run = beginRun(options);
  await findAndWalk(run);
  if (run.known && run.isGone) {
    const began = { at: 'search', why: 'the flights of the last trial are gone' } as const;
    await findAndWalk(Object.assign(run, NOTHING, { known: null, began }));
  }
  const { offers, fares, till, failure, watch, refused, dialogs, began, agreed, places, storageState, asked, digests } =
    run;
  const kept: Kept = {
    ...{ asked, until, digests, offers, fares, agreed, places, storageState },
    stoppedAt: failure?.part ?? null,
  };
  return { offers, fares, till, failure, watch, refused, dialogs, began, kept };
}

const cents = (amount: string): number => Number(parseUsdc(amount));

async function findAndWalk(run: Run): Promise<void> {
  await findOffers(run);
  const [cheapest] = [...run.offers].sort((a, b) => a.offer.total_amount - b.offer.total_amount);
  if (cheapest && run.failure === null && run.options.until !== 'offers') await walkOn(run, cheapest);
}

async function findOffers(run: Run): Promise<void> {
  const { recipe, query } = run.options;
  if (run.known && run.known.offers.length > 0) {
    run.offers = run.known.offers;
    run.began.why = 'the flights and their prices are those of the last trial';
    return;
  }
  await visiting(run, null, async (visit) => {
    const seen = await lookForFlights(visit, query);
    await run.watch.look('search');
    run.offers = offersOf(recipe, query, seen, { quotedAtMs: run.options.nowMs, newId: () => 'trial' });
    if (run.offers.length === 0) throw new Misfit('search', 'search (list)', 'no flight of this day that can be sold');
  });
}

/** Goes on from the flights to the trial's last page. */
async function walkOn(run: Run, { flights }: FoundOffer): Promise<void> {
  const { query, until } = run.options;
  const trip = {
    kept: { query, flights },
    passengers: inventedTravellers(query.adults),
    ...{ reference: REFERENCE, mailAddress: null },
  };
  const places = run.known?.places.filter(({ start }) => partsBefore(start).every(run.isSame)) ?? [];
  await visiting(run, places.length > 0 ? (run.known?.storageState ?? null) : null, async (visit) => {
    const way = wayOf(visit, trip);
    const begun = STARTS.indexOf(await resumed(run, visit, places));
    /** Goes to a page unless the visit began there or later, and notes the page. */
    const upTo = async (start: Start, work: () => Promise<unknown>) => {
      if (begun >= STARTS.indexOf(start)) return;
      await work();
      const names = await settledNames(visit);
      run.places = [...run.places.filter((one) => one.start !== start), { start, url: visit.page.url(), names }];
      run.storageState = await visit.page.context().storageState();
    };
    await upTo('flights', way.search);
    await upTo('fares', way.flights);
    let menu: Awaited<ReturnType<typeof way.fares>> | null = null;
    if (begun <= STARTS.indexOf('menu')) menu = await seeMenu(run, way, begun === STARTS.indexOf('menu'));
    else if (run.known) [run.fares, run.agreed] = [run.known.fares, run.known.agreed];
    if (until === 'fares') return;
    await upTo('menu', async () => undefined);
    await upTo('passengers', async () => menu && takeCheapest(run, menu));
    await upTo('extras', way.passengers);
    await run.watch.look('passengers');
    if (until === 'passengers') return;
    await upTo('till', way.extras);
    run.till = await tillOf(await way.till(), run.agreed);
    await run.watch.look('till', true);
  });
}

async function seeMenu(run: Run, way: ReturnType<typeof wayOf>, isThere: boolean) {
  const menu = await way.fares(isThere);
  run.fares = menu.seen.map(({ fare }) => fare);
  await run.watch.look('fares');
  return menu;
}

async function takeCheapest(
  run: Run,
  { walk, seen }: Awaited<ReturnType<ReturnType<typeof wayOf>['fares']>>,
): Promise<void> {
  const [cheapest] = [...run.fares].sort((a, b) => cents(a.totalAmountDecimal) - cents(b.totalAmountDecimal));
  if (!cheapest) return;
  run.agreed = { decimal: cheapest.totalAmountDecimal, currency: cheapest.totalCurrency };
  await takeFare(walk, seen, cheapest, cheapest.totalAmountDecimal);
}

/** Opens the latest page of the last trial that is still as it was left, choices included. */
async function resumed(run: Run, visit: Visit, places: readonly Place[]): Promise<Start> {
  for (const place of [...places].reverse()) {
    const answer = await visit.page
      .goto(place.url, { waitUntil: 'domcontentloaded', timeout: 30_000 })
      .catch(() => null);
    if (!answer?.ok() || (await settledNames(visit)) !== place.names) continue;
    run.began = { at: place.start, why: 'the page of the last trial is there, as it was left' };
    run.places = places.slice(0, places.indexOf(place) + 1);
    return place.start;
  }
  if (places.length > 0) {
    run.began.why = 'no page of the last trial is there as it was left';
    await visit.page.context().clearCookies();
  }
  return 'search';
}

/** Looks at the till, touching nothing. */
async function tillOf(walk: Walk, agreed: Money | null): Promise<Till> {
  const { till } = walk.visit.recipe;
  const total = await totalAsked(walk);
  const found: TillTarget[] = [];
  const targets = [...till.card, { at: till.pay }].flatMap((step) => ('at' in step && step.at ? [step.at] : []));
  for (const target of targets) {
    const place = placeIn(walk.visit.recipe, target) ?? [];
    const count = await shown(walk, target).count();
    const near = count === 1 ? [] : await nearestTo(walk, target).catch(() => []);
    const cover = count === 1 && target === till.pay ? await coverOf(walk, target) : null;
    found.push({ place, target, count, cover, near });
  }
  return { total, isAgreed: agreed && isSamePrice(total, agreed), found };
}

/** Names the element over the pay button. A button that is disabled until the card is there is no fault. */
const coverOf = (walk: Walk, target: Target): Promise<string | null> =>
  free(walk, target, 'till (pay)', 0).then(
    () => null,
    (error: unknown) => {
      if (!(error instanceof Misfit)) throw error;
      return error.isCovered ? error.saw : null;
    },
  );

async function visiting(
  run: Run,
  storageState: StorageState | null,
  work: (visit: Visit) => Promise<void>,
): Promise<void> {
  const { chromium, watch, options } = run;
  const { recipe, visitMs, signal, account } = options;
  signal.throwIfAborted();
  const visit = await openVisit(
    {
      ...{ playwright: installed('playwright-core').chromium, chromium, visitMs, account, watcher: watch.watcher },
      ...(storageState && { storageState }),
    },
    recipe,
  );
  const leave = () => void visit.close().catch(() => undefined);
  signal.addEventListener('abort', leave, { once: true });
  watch.attend(visit);
  try {
    await work(visit);
  } catch (error) {
    signal.throwIfAborted();
    run.failure = await failureOf(run, visit, error);
    run.isGone = error instanceof Stopped && error.reason === 'offer_gone';
    await watch.look(run.failure.part, true).catch(() => undefined);
  } finally {
    signal.removeEventListener('abort', leave);
    for (const host of visit.refused) run.refused.add(host);
    run.dialogs.push(...visit.asked);
    await visit.close();
  }
}

/** Describes how a visit failed. @throws errors that do not end a visit */
async function failureOf({ options, watch }: Run, visit: Visit, error: unknown): Promise<Failure> {
  const { recipe, query } = options;
  const nothing = { target: null, place: null, near: [] };
  const { part, step } = watch.steps.at(-1) ?? { part: 'search' as const, step: '' };
  if (error instanceof Stopped) {
    const { reason, words, during } = error;
    const why = typeof reason === 'string' ? reason : `the form was rejected: ${reason.rejected.join(', ')}`;
    return {
      ...{ kind: 'stopped', ...nothing, part: during?.part ?? part, step: during?.name ?? step },
      saw: words === '' ? why : `${why}: "${words}"`,
      place: during?.step ? placeIn(recipe, during.step) : null,
    };
  }
  if (!(error instanceof Misfit)) {
    if (!(error instanceof BrowserGone) && !visit.isGone()) throw error;
    return { kind: 'failed', part, step, saw: 'the browser is gone, or the visit took too long', ...nothing };
  }
  const failed = { kind: 'misfit' as const, part: error.part, step: error.step, saw: error.saw };
  if (!error.at) return { ...failed, ...nothing };
  const target = error.at;
  const place = placeIn(recipe, target);
  const [first] = inventedTravellers(query.adults);
  const values = {
    ...queryValues(query),
    ...contactValues(first, null),
    ...(first && passengerValues(first, 0)),
    reference: REFERENCE,
  };
  const walk = { ...walkOf(visit, error.part, values), clear: null };
  const list = place && isInItem(place) ? listOf(recipe, place) : null;
  const item = list && shown(walk, list).first();
  const near = await nearestTo({ ...walk, item }, target, options.namesBefore?.(error.part)).catch(() => []);
  return { ...failed, target, place, near };
}

const isInItem = (place: readonly (string | number)[]): boolean => place.includes('read') || place.includes('choose');

function listOf({ search, fares }: Recipe, place: readonly (string | number)[]): Target | null {
  if (place[0] === 'fares') return fares?.list ?? null;
  if (place[0] !== 'search') return null;
  return (place[1] === 'back' ? search.back : search.out)?.list ?? null;
}
