import { PaymentPlanned } from '../../client/payer/plan.ts';
import {
  BUDGET_WINDOW_MS,
  liftedBy,
  mayBePaid,
  refusal,
  type Spender,
  type Spending,
} from '../../client/spending.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { type Problem, problem } from '../../kernel/problems.ts';
import { counted } from '../../terminal/text.ts';
import type { SearchRequestInput } from '../../wire/flights/index.ts';
import { spenderOf } from '../paying/spending.ts';
import { usdcOf } from '../session/usdc.ts';
import type { CommandContext } from '../spec/command.ts';
import { aboutText, DEARER_AFTER, waitFor } from './pace.ts';

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
  const steps = Array.from({ length: searches }, (_none, index) =>
    BigInt(Math.floor(index / DEARER_AFTER) + 1),
  );
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
  const detail = {
    searches,
    price: formatUsdc(price),
    total: formatUsdc(total),
    at_most: formatUsdc(most),
  };
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
