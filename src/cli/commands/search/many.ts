import {
  freeCall,
  liftedBy,
  mayBePaid,
  type PaymentReceipt,
  refusal,
  type Spender,
  type Spending,
} from '../../../client/base/index.ts';
import { hiddenTogether } from '../../../kernel/domain/offer-filters.ts';
import { formatUsdc, parseUsdc } from '../../../kernel/money.ts';
import { isProblem, type Problem, type ProblemCode, problem, type Text } from '../../../kernel/problems.ts';
import type { Usdc } from '../../../kernel/usdc.ts';
import { counted } from '../../../terminal/index.ts';
import type { Offer, SearchRequestInput, SearchResponse } from '../../../wire/flights/index.ts';
import { followArrivals } from '../../searching/index.ts';
import { spenderOf } from '../../session/index.ts';
import type { CommandContext } from '../../spec/index.ts';
import { printPlan } from '../../view/index.ts';
import type { Remembered, SearchMemory } from './index.ts';
import { searchPrice, spentOrMissing } from './price.ts';

/** One command that is many paid searches, one for each cell: a day of a grid, or a route between two cities. */
interface ManySearches<Cell, Kept extends object> {
  /** `day`, `route` */
  readonly noun: string;
  /** Searched in this order. */
  readonly cells: readonly Cell[];
  readonly requestOf: (cell: Cell) => SearchRequestInput;
  /** The request whose price is asked, which also checks it; by default the first one to be paid for. */
  readonly priced?: SearchRequestInput;
  /** Waits for slower sellers; a remembered search that is not complete is then made again. */
  readonly waits: boolean;
  readonly memory: SearchMemory<Kept>;
  /** Makes what is remembered of an answer and the offers that arrived after it. */
  readonly keep: (first: SearchResponse, landed: readonly Offer[], isComplete: boolean) => Kept;
  readonly isComplete: (kept: Kept) => boolean;
  /** The last step of a dry run, and the facts of its document. */
  readonly plan: { readonly step: string; readonly facts: Record<string, unknown> };
  /** Printed before the person agrees to anything. */
  readonly heading?: string;
  /** Shows progress after each search, and for each risen price. */
  readonly progress: (results: Results<Cell, Kept>, risen: RisenPrice | null) => void;
  readonly stop?: () => Promise<void> | undefined;
}

export type Results<Cell, Kept> = ReadonlyMap<Cell, Result<Kept>>;

type Result<Kept> =
  | (Remembered<Kept> & { readonly status: 'kept' })
  | { readonly status: 'failed'; readonly error: { readonly code: ProblemCode; readonly message: string } }
  | { readonly status: 'not_searched'; readonly reason?: string };

/** A price of decimal USDC, and the pause before the next try. */
export type RisenPrice = { readonly to: string; readonly againMs: number };

export type Ended<Cell, Kept extends object> = NonNullable<Awaited<ReturnType<typeof searchMany<Cell, Kept>>>>;

/**
 * Searches every cell that is not known from the last minutes. Before the first search, the person sees the total and
 * agrees to it. A dry run only prints the total.
 * @returns null after a dry run; cells that were not reached have no result
 * @throws Problem as agreeTotal does, and the reason for a stop before the first answer
 */
export async function searchMany<Cell, Kept extends object>(context: CommandContext, given: ManySearches<Cell, Kept>) {
  const { session, globals, terminal, signal } = context;
  const { noun, cells, requestOf, memory, plan } = given;
  const results = new Map<Cell, Result<Kept>>();
  for (const cell of cells) {
    const kept = memory.find(requestOf(cell));
    if (kept && (given.isComplete(kept) || !given.waits)) results.set(cell, { ...kept, status: 'kept' });
  }
  const known = results.size;
  const asked = cells.filter((cell) => !results.has(cell));
  const priced = given.priced ?? asked.map(requestOf)[0];
  const price = priced ? await searchPrice(context, priced) : 0n;
  const cost = costOf(asked.length, price, freeCall(session.profile.limits));
  if (globals.dryRun) {
    const pays =
      asked.length === 0
        ? `Pay nothing: every ${noun} is known.`
        : (usdc: Usdc) => `Pay ${costText(cost, globals.maxPayment, usdc)}.`;
    printPlan(terminal, [pays, plan.step], {
      ...plan.facts,
      searches: cost.searches,
      price: formatUsdc(cost.price),
      total: formatUsdc(cost.total),
      at_most: formatUsdc(globals.maxPayment ?? cost.atMost),
      wait_seconds: Math.round(cost.waitMs / 1000),
    });
    return null;
  }
  terminal.settle();
  if (given.heading !== undefined) terminal.note(given.heading);
  if (known > 0) terminal.note(`${counted(known, noun)} known from the last 10 minutes: not paid again.`);
  const total = asked.length === 0 ? 0n : await agreeTotal(context, cost);
  if (asked.length > 0) terminal.phase(`Searching ${counted(asked.length, noun)}`);
  const { payments, stoppedBy } = await searchAll(context, given, asked, total, results).finally(async () => {
    await given.stop?.();
    terminal.settle();
  });
  // Nothing to show: the reason is the whole answer.
  const hasAnswer = [...results.values()].some(({ status }) => status === 'kept');
  if (!hasAnswer && signal.aborted) throw signal.reason;
  if (!hasAnswer && stoppedBy) throw stoppedBy;
  const paid_amount = formatUsdc(payments.reduce((sum, one) => sum + parseUsdc(one.amount), 0n));
  const searches = payments.length;
  return {
    results: results as Results<Cell, Kept>,
    paid: { searches, paid_amount, payments },
    /** `Paid 0.20 USDC for 2 searches`; null where nothing was paid. */
    paidText: searches > 0 ? `Paid ${terminal.usdc(paid_amount)} for ${counted(searches, 'search', 'searches')}` : null,
    stoppedBy,
    /** The reason for an early end, to begin a sentence about the gaps; else empty. */
    why: signal.aborted ? 'Interrupted: ' : stoppedBy ? `${stoppedBy.message} ` : '',
    exit: signal.aborted && !isProblem(signal.reason, 'timed_out') ? (130 as const) : (0 as const),
  };
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

/** Few at a time, which spares the service and shows a rising price early. */
const AT_ONCE = 4;

/** After Ctrl-C, searches that are being paid have this long to finish. */
const GRACE_MS = 3_000;

/** The pause when the searches of others have raised the price. */
const RISEN_PAUSE_MS = 5_000;

const LONGEST_RISEN_MS = 300_000;

/**
 * Searches through the ordinary paid client, a few at a time and in order. A failed search leaves a gap with its
 * reason, and is not tried again: its signed payment stays in the journal, where the same search finds it. A search
 * that costs more than its share waits until the price falls. A problem of all searches (the wallet, a limit) stops the
 * rest, as do Ctrl-C and --timeout.
 */
async function searchAll<Cell, Kept extends object>(
  context: CommandContext,
  { requestOf, waits, memory, keep, progress }: ManySearches<Cell, Kept>,
  asked: readonly Cell[],
  /** The most that the searches may cost together, atomic USDC. */
  total: bigint,
  results: Map<Cell, Result<Kept>>,
): Promise<{ readonly payments: PaymentReceipt[]; readonly stoppedBy: Problem | null }> {
  const { clock, signal, session } = context;
  const payments: PaymentReceipt[] = [];
  /** Times of completed searches, which raise the price of the next ones. */
  const doneAtMs: number[] = [];
  const queue = [...asked];
  let left = total;
  let waiting = asked.length;
  let stoppedBy: Problem | null = null;
  const ending = new AbortController();
  const stop = () => void clock.sleep(GRACE_MS).then(() => ending.abort(signal.reason));
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  const isOver = () => signal.aborted || stoppedBy !== null;

  const search = async (cell: Cell): Promise<Result<Kept>> => {
    const request = requestOf(cell);
    const deadlineMs = clock.now() + LONGEST_RISEN_MS;
    for (;;) {
      // The rest of the money divided by the rest of the searches: never above the total, and enough for the last one.
      const share = left / BigInt(Math.max(1, waiting));
      left -= share;
      waiting--;
      try {
        const flights = await session.flights({ agreed: { kind: 'call', amount: share } });
        const { value, payment } = await flights.search(request, { signal: ending.signal });
        left += share - (payment ? parseUsdc(payment.amount) : 0n);
        if (payment) payments.push(payment);
        doneAtMs.push(clock.now());
        const landed: Offer[] = [];
        const within = { ...context, signal: ending.signal };
        let { hidden } = value;
        const end = waits
          ? await followArrivals(within, flights, value, (some, more) => {
              landed.push(...some);
              if (more) hidden = hiddenTogether(hidden, more);
            })
          : null;
        const isComplete = end === null ? value.status === 'complete' : end.kind === 'complete';
        return {
          ...memory.remember(request, keep({ ...value, ...(hidden && { hidden }) }, landed, isComplete)),
          status: 'kept',
        };
      } catch (error) {
        if (!isProblem(error)) throw error;
        // A price falls again, but the allowance of a program does not grow.
        const isUsedUp = error.code === 'payment_above_cap' && error.detail?.allowed !== undefined;
        if (error.code !== 'payment_above_cap' || isUsedUp) {
          if (signal.aborted) return { status: 'not_searched', reason: 'interrupted' };
          if (isUsedUp || CONCERNS_ALL.has(error.code)) stoppedBy ??= error;
          return { status: 'failed', error: { code: error.code, message: error.message } };
        }
        // Nothing was signed: the search is still to come.
        left += share;
        waiting++;
        const risenTo = typeof error.detail?.amount === 'string' ? error.detail.amount : '–';
        const againMs = nextTryMs(doneAtMs, clock.now(), RISEN_PAUSE_MS);
        progress(results, { to: risenTo, againMs });
        if (clock.now() >= deadlineMs) return { status: 'not_searched', reason: `price rose to ${risenTo}` };
        await clock.sleep(againMs, signal);
        if (isOver()) return { status: 'not_searched' };
      }
    }
  };
  const work = async () => {
    for (let cell = queue.shift(); cell && !isOver(); cell = queue.shift()) {
      results.set(cell, await search(cell));
      progress(results, null);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    signal.removeEventListener('abort', stop);
  }
  return { payments, stoppedBy };
}

type SearchesCost = ReturnType<typeof costOf>;

/**
 * The cost of searches together, atomic USDC: `total` at the present price of one, and `atMost` if the price rises,
 * since each search raises the price of the next ones. `free` may be paid without a question, so up to this amount
 * `atMost` also covers a price that others have raised. Paying no more than `total` takes `waitMs`, besides the
 * searching itself.
 */
function costOf(searches: number, price: bigint, free: bigint) {
  const total = price * BigInt(searches);
  const steps = Array.from({ length: searches }, (_none, index) => BigInt(Math.floor(index / DEARER_AFTER) + 1));
  const risen = steps.reduce((sum, step) => sum + step * price, 0n);
  const twice = 2n * total < free ? 2n * total : free;
  const waitMs = waitFor(searches, price, total);
  return { searches, price, total, atMost: risen > twice ? risen : twice, waitMs };
}

/**
 * `7 searches at 0.10 USDC each: 0.70 USDC, at most 1.00 if the price rises`, or for so many that they raise the
 * price themselves, `30 searches at 0.10 USDC each: 3.00 USDC in about 2 minutes, or at most 6.00 at once`
 */
function costText(cost: SearchesCost, maxPayment: bigint | undefined, usdc: Usdc): string {
  const { searches, price, total, waitMs } = cost;
  const atMost = formatUsdc(maxPayment ?? cost.atMost);
  const head =
    searches === 1
      ? `1 search: ${usdc(total)}`
      : `${counted(searches, 'search', 'searches')} at ${usdc(price)} each: ${usdc(total)}`;
  if (maxPayment !== undefined) {
    // A total with less room for a risen price takes longer.
    const cappedMs = waitFor(searches, price, maxPayment);
    const patience = cappedMs > 0 ? `, ${aboutText(cappedMs)} of waiting for the price to fall` : '';
    return `${head}${maxPayment > total ? `, at most ${atMost}` : ''}${patience}`;
  }
  if (cost.atMost <= total) return head;
  return waitMs > 0
    ? `${head} in ${aboutText(waitMs)}, or at most ${atMost} at once`
    : `${head}, at most ${atMost} if the price rises`;
}

/**
 * Agrees on the most that the searches may cost together, atomic USDC: --max-payment, or their cost if the price
 * rises. Asks if that is more than a call may cost without a question, unless --yes or
 * --max-payment allows it.
 * @throws Problem `payment_above_cap`, `payment_declined`, `daily_limit_reached`, `insufficient_funds`; nothing is paid
 */
async function agreeTotal(context: CommandContext, cost: SearchesCost): Promise<bigint> {
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
  terminal.note(`${costText(cost, globals.maxPayment, terminal.usdc)}.`);
  if (mayCost(most) === 'pay') return most;
  const asking = terminal.ask('--yes');
  const question = `Pay ${most > total ? 'up to ' : ''}${terminal.usdc(most)} for ${cost.searches} searches?`;
  if (await asking.confirm(question, true)) return most;
  if (cost.waitMs === 0) throw problem('payment_declined');
  const patient = `Pay ${terminal.usdc(total)} instead, and wait ${aboutText(cost.waitMs)} for the price to fall?`;
  if (!(await asking.confirm(patient, true))) throw problem('payment_declined');
  return total;
}

/** Words a refusal for all the searches together; null if the words for one payment are right. */
function refusalOfAll(cost: SearchesCost, most: bigint, spender: Spender, why: string): Problem | null {
  const { searches, price, total } = cost;
  const isProgram = spender.allowance !== undefined;
  const detail = { searches, price: formatUsdc(price), total: formatUsdc(total), at_most: formatUsdc(most) };
  const refused = (message: Text, fix: string) =>
    problem('payment_above_cap', { message, fix, charged: 'nothing', detail });
  if ((why === 'most' || why === 'allowance') && total > most) {
    return refused(
      (usdc) =>
        `${costText(cost, spender.most, usdc)}; ${isProgram ? 'the allowance has' : '--max-payment allows'} ${detail.at_most} for all of them.`,
      isProgram
        ? 'Make fewer searches, or ask a person to allow more.'
        : `Raise it: --max-payment ${detail.total}, or make fewer searches.`,
    );
  }
  if (why === 'limit') {
    const limit = formatUsdc(spender.limits.perCall ?? 0n);
    return refused(
      (usdc) => `A search costs ${usdc(detail.price)} now; your limit for a call is ${limit}.`,
      isProgram ? liftedBy(total, true) : `--max-payment ${detail.total} allows all ${searches} of them.`,
    );
  }
  if (why !== 'nobody') return null;
  return refused(
    (usdc) => `${costText(cost, spender.most, usdc)}, more than is paid without asking.`,
    `Approve them with --yes or --max-payment ${detail.total}.`,
  );
}

/** The price grows with the searches completed in the last 60 seconds (spec/flight-service.md, Limits). */
export const WINDOW_MS = 60_000;

/** Each time this many searches fall into the window, the price rises by the first price. */
const DEARER_AFTER = 10;

/**
 * The time (milliseconds) for which the searches wait for a lower price if they may cost `most` together, besides the
 * searching itself. Simulates searchAll: each search may cost its share of the rest.
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
      // A total below the present price is refused earlier: waiting would not help.
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

/** The pause before a search is worth retrying: until one of our own no longer counts, or else `elseMs`. */
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
