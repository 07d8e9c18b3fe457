import type { FlightsClient, PaymentReceipt } from '../../client/types.ts';
import { instant } from '../../kernel/clock.ts';
import { parseUsdc } from '../../kernel/money.ts';
import { isProblem, type Problem, type ProblemCode } from '../../kernel/problems.ts';
import type { Offer, SearchRequestInput, SearchResponse } from '../../wire/flights/index.ts';
import { followArrivals } from '../searching/arrivals.ts';
import type { CommandContext } from '../spec/command.ts';
import type { JourneyDays } from './calendar.ts';
import type { Remembered, SearchMemory } from './memory.ts';
import { nextTryMs } from './pace.ts';
import { cheapestOffer, type DayPrice } from './prices.ts';
import type { Shares } from './shares.ts';

/** Many paid searches; `A` says which one, and its answer becomes an `F`. */
interface ManySearches<A, F> {
  /** The first ones first. */
  readonly asked: readonly A[];
  readonly requestOf: (one: A) => SearchRequestInput;
  /** A client that may pay so much for a call. */
  readonly flights: (mostAtomic: bigint) => Promise<FlightsClient>;
  readonly shares: Shares;
  /** Makes of a paid answer what is kept of it. */
  readonly found: (
    one: A,
    first: SearchResponse,
    context: CommandContext,
    flights: FlightsClient,
  ) => Promise<F>;
  /** Told of each that is done, and of a price that has risen, with when it is asked for again. */
  readonly told: (event: { readonly done?: F | (A & Gap); readonly risen?: RisenPrice }) => void;
}

/** A search without an answer. */
export type Gap =
  | { readonly status: 'failed'; readonly error: { readonly code: ProblemCode; readonly message: string } }
  | { readonly status: 'not_searched'; readonly reason?: string };

/** The result of a day's search. */
export interface DayAnswer {
  /** null: nothing is sold that day. */
  readonly offer: Offer | null;
  readonly isComplete: boolean;
}

interface DaySearch extends Pick<ManySearches<JourneyDays, DayPrice>, 'requestOf' | 'flights' | 'shares'> {
  readonly journeys: readonly JourneyDays[];
  readonly memory: SearchMemory<DayAnswer>;
  /** True when slower sellers are waited for. */
  readonly waits: boolean;
  readonly told: (event: { readonly day?: DayPrice; readonly risen?: RisenPrice }) => void;
}

export interface RisenPrice {
  /** Decimal USDC. */
  readonly to: string;
  readonly againMs: number;
}

export interface SearchesDone {
  readonly payments: readonly PaymentReceipt[];
  /** Why it ended before everything was searched; null when it did not. */
  readonly stoppedBy: Problem | null;
}

/** Failures that the next search would meet as well. */
const CONCERNS_ALL: ReadonlySet<ProblemCode> = new Set([
  'insufficient_funds',
  'daily_limit_reached',
  'host_not_allowed',
  'challenge_refused',
  'no_wallet',
  'keypair_unreadable',
]);

/** At the same time: the service is spared, and a price that rises is seen soon. */
const AT_ONCE = 4;
/** After Ctrl-C: what is being paid for is worth waiting for a moment. */
const GRACE_MS = 3_000;
/** Where the searches of others have made it dearer. */
const RISEN_PAUSE_MS = 5_000;
const LONGEST_RISEN_MS = 300_000;

/** The cheapest offer of every journey; what was found is remembered for a while. */
export const searchDays = (
  context: CommandContext,
  { journeys, memory, waits, told, ...given }: DaySearch,
): Promise<SearchesDone> =>
  searchMany<JourneyDays, DayPrice>(context, {
    ...given,
    asked: journeys,
    async found(journey, first, within, flights) {
      const found = await whole(within, flights, first, waits);
      return dayFound(journey, memory.remember(given.requestOf(journey), found));
    },
    told: ({ done, risen }) => told({ ...(done && { day: done }), ...(risen && { risen }) }),
  });

/**
 * Searches everything that was asked for through the ordinary paid client, a few at a time, the first ones first. A search that fails
 * is a gap with its reason, and is not tried again: what was signed for it stays in the journal, where the same search
 * finds it. One that has become dearer than its share waits until the price falls. What concerns all of them (the
 * wallet, a limit) stops the rest, as do Ctrl-C and --timeout.
 */
export async function searchMany<A, F>(
  context: CommandContext,
  given: ManySearches<A, F>,
): Promise<SearchesDone> {
  const { clock, signal } = context;
  const payments: PaymentReceipt[] = [];
  /** When the searches were completed that make the next ones dearer. */
  const doneAtMs: number[] = [];
  const queue = [...given.asked];
  let stoppedBy: Problem | null = null;
  const ending = new AbortController();
  const end = () => void clock.sleep(GRACE_MS).then(() => ending.abort(signal.reason));
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  const isOver = () => signal.aborted || stoppedBy !== null;

  const search = async (one: A): Promise<F | (A & Gap)> => {
    const request = given.requestOf(one);
    const deadlineMs = clock.now() + LONGEST_RISEN_MS;
    for (;;) {
      const share = given.shares.take();
      try {
        const flights = await given.flights(share);
        const { value, payment } = await flights.search(request, { signal: ending.signal });
        given.shares.paid(share, payment ? parseUsdc(payment.amount) : 0n);
        if (payment) payments.push(payment);
        doneAtMs.push(clock.now());
        return await given.found(one, value, { ...context, signal: ending.signal }, flights);
      } catch (error) {
        if (!isProblem(error)) throw error;
        // A price falls again; what a program was allowed does not grow.
        const isUsedUp = error.code === 'payment_above_cap' && error.detail?.allowed !== undefined;
        if (error.code !== 'payment_above_cap' || isUsedUp) {
          if (signal.aborted) return { ...one, status: 'not_searched', reason: 'interrupted' };
          if (isUsedUp || CONCERNS_ALL.has(error.code)) stoppedBy ??= error;
          return { ...one, status: 'failed', error: { code: error.code, message: error.message } };
        }
        given.shares.back(share);
        const risenTo = typeof error.detail?.amount === 'string' ? error.detail.amount : '–';
        const againMs = nextTryMs(doneAtMs, clock.now(), RISEN_PAUSE_MS);
        given.told({ risen: { to: risenTo, againMs } });
        if (clock.now() >= deadlineMs)
          return { ...one, status: 'not_searched', reason: `price rose to ${risenTo}` };
        await clock.sleep(againMs, signal);
        if (isOver()) return { ...one, status: 'not_searched' };
      }
    }
  };
  const work = async () => {
    for (let one = queue.shift(); one && !isOver(); one = queue.shift()) {
      given.told({ done: await search(one) });
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    signal.removeEventListener('abort', end);
  }
  return { payments, stoppedBy };
}

/** The cheapest of the first answer and of what landed after it. */
async function whole(
  context: CommandContext,
  flights: FlightsClient,
  first: SearchResponse,
  waits: boolean,
): Promise<DayAnswer> {
  const offers: Offer[] = [...first.offers];
  const ended = waits
    ? await followArrivals(context, flights, first, (landed) => offers.push(...landed))
    : null;
  const { fare_options: _options, ...offer } = cheapestOffer(offers) ?? {};
  return {
    offer: 'offer_id' in offer ? (offer as Offer) : null,
    isComplete: ended === null ? first.status === 'complete' : ended.kind === 'complete',
  };
}

/** A journey with what a search of it has found. */
export function dayFound(journey: JourneyDays, { offer, isComplete, atMs }: Remembered<DayAnswer>): DayPrice {
  const common = { ...journey, searched_at: instant(atMs), is_complete: isComplete };
  if (offer === null) return { ...common, status: 'none' };
  const { total_amount_decimal, total_currency, offer_id, owner_name, stops, duration } = offer;
  return {
    ...common,
    status: 'found',
    total_amount_decimal,
    total_currency,
    offer_id,
    owner_name,
    stops,
    duration,
  };
}
