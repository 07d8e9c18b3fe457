import {
  BUDGET_WINDOW_MS,
  type FlightsClient,
  liftedBy,
  mayBePaid,
  type PaymentReceipt,
  refusal,
  type Spender,
  type Spending,
} from '../../../client/base/index.ts';
import { PaymentPlanned } from '../../../client/payer/index.ts';
import { instant } from '../../../kernel/clock.ts';
import { formatUsdc, parseUsdc } from '../../../kernel/money.ts';
import { isProblem, type Problem, type ProblemCode, problem } from '../../../kernel/problems.ts';
import { counted } from '../../../terminal/index.ts';
import type { Offer, SearchRequestInput, SearchResponse } from '../../../wire/flights/index.ts';
import { followArrivals } from '../../searching/index.ts';
import { spenderOf, usdcOf } from '../../session/index.ts';
import type { CommandContext } from '../../spec/index.ts';
import { cheapestOffer, type DayPrice, type JourneyDays, type Remembered, type SearchMemory } from './prices.ts';

/**
 * How the searches themselves make a service dearer, and how long one has to wait so that they don't
 * (spec/flight-service.md, Limits: the price grows with the searches completed in the last 60 seconds).
 */

export const WINDOW_MS = 60_000;

/** So many searches within the window make a search dearer by its first price again. */
const DEARER_AFTER = 10;

/**
 * How long the searches wait for a lower price, milliseconds, when they may cost `most` together; the searching itself
 * takes its own time. It is what shares.ts decides, played through: each search may cost its share of what is left.
 * @param price of one search now, atomic USDC
 */
export function waitFor(searches: number, price: bigint, most: bigint): number {
  const doneAtMs: number[] = [];
  let nowMs = 0;
  let left = most;
  for (let waiting = searches; waiting > 0; waiting--) {
    for (;;) {
      const recent = doneAtMs.filter((at) => at > nowMs - WINDOW_MS);
      const cost = price * BigInt(Math.max(1, Math.ceil(recent.length / DEARER_AFTER)));
      const [oldest] = recent;
      // A total below the price of now is refused before; nobody waits for what waiting cannot change.
      if (cost <= left / BigInt(waiting) || oldest === undefined) {
        left -= cost;
        break;
      }
      nowMs = oldest + WINDOW_MS;
    }
    doneAtMs.push(nowMs);
  }
  return nowMs;
}

/** When a search is worth trying again: as soon as one of ours no longer counts, else after a look around. */
export function nextTryMs(doneAtMs: readonly number[], nowMs: number, elseMs: number): number {
  const counted = doneAtMs.filter((at) => at > nowMs - WINDOW_MS && at <= nowMs);
  if (counted.length === 0) return elseMs;
  return Math.max(SHORTEST_MS, Math.min(...counted) + WINDOW_MS - nowMs);
}

const SHORTEST_MS = 500;

/** `about 2 minutes`, `about 40 seconds`, `a moment` */
export function aboutText(ms: number): string {
  if (ms < 2_000) return 'a moment';
  return ms < 90_000 ? `about ${Math.round(ms / 1000)} seconds` : `about ${Math.round(ms / 60_000)} minutes`;
}

/**
 * A total that was agreed to, shared out among the searches that it is for. A search may cost what is left divided by
 * the searches that are left, so that the total is never passed and there is always enough for the last one.
 * Amounts are atomic USDC.
 */
interface Shares {
  /** The most that the next search may cost; it is set aside. */
  take(): bigint;
  /** A search has cost this much. */
  paid(share: bigint, amount: bigint): void;
  /** Nothing was signed: the search is still to come. */
  back(share: bigint): void;
}

export function openShares(total: bigint, searches: number): Shares {
  let left = total;
  let waiting = searches;
  return {
    take() {
      const share = left / BigInt(Math.max(1, waiting));
      left -= share;
      waiting--;
      return share;
    },
    paid(share, amount) {
      left += share - amount;
    },
    back(share) {
      left += share;
      waiting++;
    },
  };
}

/** The price of one search now, atomic USDC; 0 where the service asks for nothing. Asks, and pays nothing. */
export async function searchPrice(context: CommandContext, request: SearchRequestInput): Promise<bigint> {
  const flights = await context.session.flights({ plan: true });
  try {
    await flights.search(request, { signal: context.signal });
    return 0n;
  } catch (error) {
    if (error instanceof PaymentPlanned) return BigInt(error.plan.amount_atomic);
    throw error;
  }
}

/** The price of several searches, atomic USDC. */
interface SearchesCost {
  readonly searches: number;
  /** Of one, now. */
  readonly price: bigint;
  /** Of all, at that price. */
  readonly total: bigint;
  /** Of all, should the price rise as it does when many search. */
  readonly atMost: bigint;
  /** How long it takes to pay no more than `total`, beside the searching itself. */
  readonly waitMs: number;
}

/**
 * The searches themselves make the next ones dearer. `free` is what may be paid without a question: up to there a price
 * that others have driven up is paid too.
 */
export function costOf(searches: number, price: bigint, free: bigint): SearchesCost {
  const total = price * BigInt(searches);
  const steps = Array.from({ length: searches }, (_none, index) => BigInt(Math.floor(index / DEARER_AFTER) + 1));
  const risen = steps.reduce((sum, step) => sum + step * price, 0n);
  const twice = 2n * total < free ? 2n * total : free;
  const waitMs = waitFor(searches, price, total);
  return { searches, price, total, atMost: risen > twice ? risen : twice, waitMs };
}

/**
 * `7 searches at 0.10 USDC each: 0.70 USDC, at most 1.00 if the price rises`, and of so many that they make themselves
 * dearer `30 searches at 0.10 USDC each: 3.00 USDC in about 2 minutes, or at most 6.00 at once`
 */
export function costText(cost: SearchesCost, maxPayment: bigint | undefined): string {
  const { searches, price, total, waitMs } = cost;
  const atMost = formatUsdc(maxPayment ?? cost.atMost);
  const head = costHead({ searches, price, total });
  if (maxPayment !== undefined) {
    // The less a total leaves for a price that has risen, the longer it takes.
    const cappedMs = waitFor(searches, price, maxPayment);
    const patience = cappedMs > 0 ? `, ${aboutText(cappedMs)} of waiting for the price to fall` : '';
    return `${head}${maxPayment > total ? `, at most ${atMost}` : ''}${patience}`;
  }
  if (cost.atMost <= total) return head;
  return waitMs > 0
    ? `${head} in ${aboutText(waitMs)}, or at most ${atMost} at once`
    : `${head}, at most ${atMost} if the price rises`;
}

/** The facts of a dry run of several searches. */
export const costFacts = (cost: SearchesCost, maxPayment: bigint | undefined) => ({
  searches: cost.searches,
  price: formatUsdc(cost.price),
  total: formatUsdc(cost.total),
  at_most: formatUsdc(maxPayment ?? cost.atMost),
  wait_seconds: Math.round(cost.waitMs / 1000),
});

function costHead({ searches, price, total }: Pick<SearchesCost, 'searches' | 'price' | 'total'>): string {
  return searches === 1
    ? `1 search: ${formatUsdc(total)} USDC`
    : `${counted(searches, 'search', 'searches')} at ${formatUsdc(price)} USDC each: ${formatUsdc(total)} USDC`;
}

/**
 * The most that the searches may cost together, atomic USDC: --max-payment, which is for all of them, or what they cost
 * should the price rise. More than a call may cost without a question is asked for, unless --yes or --max-payment has
 * said it.
 * @throws Problem `payment_above_cap`, `payment_declined`, `daily_limit_reached`, `insufficient_funds`; nothing is paid
 */
export async function agreeTotal(context: CommandContext, cost: SearchesCost): Promise<bigint> {
  const { terminal, globals, session, allowance } = context;
  const spender = spenderOf(context, session.profile);
  const { price, total } = cost;
  const wanted = globals.maxPayment ?? cost.atMost;
  const most = allowance && allowance.left() < wanted ? allowance.left() : wanted;
  const mayCost = (amount: bigint, spent = 0n): 'pay' | 'ask' => {
    const spending: Spending = { kind: 'call', amount, each: price, spent };
    const verdict = mayBePaid(spending, spender);
    if (verdict.act !== 'refuse') return verdict.act;
    throw refusalOfAll(cost, most, spender, verdict.why) ?? refusal(spending, spender, verdict.why);
  };
  mayCost(total, await spentOrMissing(context, total));
  const said = costText(cost, globals.maxPayment);
  terminal.note(`${said}.`);
  if (mayCost(most) === 'pay') return most;
  const asking = terminal.ask('--yes');
  const question = `Pay ${most > total ? 'up to ' : ''}${formatUsdc(most)} USDC for ${cost.searches} searches?`;
  if (await asking.confirm(question, true)) return most;
  if (cost.waitMs === 0) throw problem('payment_declined');
  const patient = `Pay ${formatUsdc(total)} USDC instead, and wait ${aboutText(cost.waitMs)} for the price to fall?`;
  if (!(await asking.confirm(patient, true))) throw problem('payment_declined');
  return total;
}

/** A refusal in words that speak of all the searches; null where the words for one payment do. */
function refusalOfAll(cost: SearchesCost, most: bigint, spender: Spender, why: string): Problem | null {
  const { searches, price, total } = cost;
  const isProgram = spender.allowance !== undefined;
  const detail = { searches, price: formatUsdc(price), total: formatUsdc(total), at_most: formatUsdc(most) };
  const said = costText(cost, spender.most);
  const refused = (message: string, fix: string) => problem('payment_above_cap', { message, fix, detail });
  if ((why === 'most' || why === 'allowance') && total > most) {
    return refused(
      `${said}; ${isProgram ? 'the allowance has' : '--max-payment allows'} ${detail.at_most} for all of them.`,
      isProgram
        ? 'Make fewer searches, or ask a person to allow more. Nothing was charged.'
        : `Give --max-payment ${detail.total}, or make fewer searches. Nothing was charged.`,
    );
  }
  if (why === 'limit') {
    const limit = formatUsdc(spender.limits.perCall ?? 0n);
    return refused(
      `A search costs ${detail.price} USDC now; your limit for a call is ${limit}.`,
      isProgram
        ? liftedBy(total, true)
        : `--max-payment ${detail.total} allows all ${searches} of them. Nothing was charged.`,
    );
  }
  if (why !== 'nobody') return null;
  return refused(
    `${said}, more than is paid without asking.`,
    `Give --yes, or --max-payment ${detail.total} for all of them. Nothing was charged.`,
  );
}

/**
 * The whole of it must be there: half a grid helps nobody.
 * @returns what was signed in the last 24 hours, atomic USDC
 * @throws Problem `insufficient_funds`
 */
async function spentOrMissing({ session }: CommandContext, total: bigint): Promise<bigint> {
  if (total === 0n) return 0n;
  const [wallet, cluster, store] = [await session.wallet(), await session.cluster(), await session.store()];
  const { network, usdcAccount } = await usdcOf(cluster, wallet.address);
  const held = (await cluster.tokenBalance(usdcAccount)) ?? 0n;
  if (held >= total) return store.spent(wallet.address, network, BUDGET_WINDOW_MS);
  const detail = {
    wallet: wallet.address,
    needed: formatUsdc(total),
    held: formatUsdc(held),
    missing: formatUsdc(total - held),
  };
  throw problem('insufficient_funds', {
    message: `The wallet holds ${detail.held} USDC of the ${detail.needed} needed; ${detail.missing} USDC are missing.`,
    detail,
  });
}

/** Many paid searches; `A` says which one, and its answer becomes an `F`. */
interface ManySearches<A, F> {
  /** The first ones first. */
  readonly asked: readonly A[];
  readonly requestOf: (one: A) => SearchRequestInput;
  /** A client that may pay so much for a call. */
  readonly flights: (mostAtomic: bigint) => Promise<FlightsClient>;
  readonly shares: Shares;
  /** Makes of a paid answer what is kept of it. */
  readonly found: (one: A, first: SearchResponse, context: CommandContext, flights: FlightsClient) => Promise<F>;
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
export async function searchMany<A, F>(context: CommandContext, given: ManySearches<A, F>): Promise<SearchesDone> {
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
        if (clock.now() >= deadlineMs) return { ...one, status: 'not_searched', reason: `price rose to ${risenTo}` };
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
  const ended = waits ? await followArrivals(context, flights, first, (landed) => offers.push(...landed)) : null;
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
  return { ...common, status: 'found', total_amount_decimal, total_currency, offer_id, owner_name, stops, duration };
}
