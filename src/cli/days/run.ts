import type { FlightsClient, PaymentReceipt } from '../../client/types.ts';
import type { Offer, SearchRequestInput, SearchResponse } from '../../flights/wire.ts';
import { instant } from '../../kernel/clock.ts';
import { parseUsdc } from '../../kernel/money.ts';
import { isProblem, type Problem, type ProblemCode } from '../../kernel/problems.ts';
import { followArrivals } from '../searching/arrivals.ts';
import type { CommandContext } from '../spec/command.ts';
import type { JourneyDays } from './calendar.ts';
import type { DayMemory, RememberedDay } from './memory.ts';
import { nextTryMs } from './pace.ts';
import { cheapestOffer, type DayPrice } from './prices.ts';
import type { Shares } from './shares.ts';

interface DaySearch {
  readonly journeys: readonly JourneyDays[];
  readonly requestOf: (journey: JourneyDays) => SearchRequestInput;
  /** A client that may pay so much for a call. */
  readonly flights: (mostAtomic: bigint) => Promise<FlightsClient>;
  readonly shares: Shares;
  readonly memory: DayMemory;
  /** True when slower sellers are waited for. */
  readonly waits: boolean;
  /** Told of each day that is known, and of a price that has risen, with when it is asked for again. */
  readonly told: (event: { readonly day?: DayPrice; readonly risen?: RisenPrice }) => void;
}

export interface RisenPrice {
  /** Decimal USDC. */
  readonly to: string;
  readonly againMs: number;
}

export interface DaysFound {
  readonly payments: readonly PaymentReceipt[];
  /** Why it ended before every day was searched; null when it did not. */
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

/**
 * Searches every journey through the ordinary paid client, a few at a time, the first ones first. A search that fails
 * is a gap with its reason, and is not tried again: what was signed for it stays in the journal, where the same search
 * finds it. One that has become dearer than its share waits until the price falls. What concerns all of them (the
 * wallet, a limit) stops the rest, as do Ctrl-C and --timeout.
 */
export async function searchDays(context: CommandContext, given: DaySearch): Promise<DaysFound> {
  const { clock, signal } = context;
  const payments: PaymentReceipt[] = [];
  /** When the searches were completed that make the next ones dearer. */
  const doneAtMs: number[] = [];
  const queue = [...given.journeys];
  let stoppedBy: Problem | null = null;
  const ending = new AbortController();
  const end = () => void clock.sleep(GRACE_MS).then(() => ending.abort(signal.reason));
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  const isOver = () => signal.aborted || stoppedBy !== null;

  const search = async (journey: JourneyDays): Promise<DayPrice> => {
    const request = given.requestOf(journey);
    const deadlineMs = clock.now() + LONGEST_RISEN_MS;
    for (;;) {
      const share = given.shares.take();
      try {
        const flights = await given.flights(share);
        const { value, payment } = await flights.search(request, { signal: ending.signal });
        given.shares.paid(share, payment ? parseUsdc(payment.amount) : 0n);
        if (payment) payments.push(payment);
        doneAtMs.push(clock.now());
        const found = await whole({ ...context, signal: ending.signal }, flights, value, given.waits);
        given.memory.remember(request, found);
        return dayFound(journey, { ...found, atMs: clock.now() });
      } catch (error) {
        if (!isProblem(error)) throw error;
        // A price falls again; what a program was allowed does not grow.
        const isUsedUp = error.code === 'payment_above_cap' && error.detail?.allowed !== undefined;
        if (error.code !== 'payment_above_cap' || isUsedUp) {
          if (signal.aborted) return { ...journey, status: 'not_searched', reason: 'interrupted' };
          if (isUsedUp || CONCERNS_ALL.has(error.code)) stoppedBy ??= error;
          return { ...journey, status: 'failed', error: { code: error.code, message: error.message } };
        }
        given.shares.back(share);
        const risenTo = typeof error.detail?.amount === 'string' ? error.detail.amount : '–';
        const againMs = nextTryMs(doneAtMs, clock.now(), RISEN_PAUSE_MS);
        given.told({ risen: { to: risenTo, againMs } });
        if (clock.now() >= deadlineMs)
          return { ...journey, status: 'not_searched', reason: `price rose to ${risenTo}` };
        await clock.sleep(againMs, signal);
        if (isOver()) return { ...journey, status: 'not_searched' };
      }
    }
  };
  const work = async () => {
    for (let journey = queue.shift(); journey && !isOver(); journey = queue.shift()) {
      given.told({ day: await search(journey) });
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
): Promise<Omit<RememberedDay, 'atMs'>> {
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
export function dayFound(journey: JourneyDays, { offer, isComplete, atMs }: RememberedDay): DayPrice {
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
