import { PaymentPlanned } from '../../client/payer/plan.ts';
import { checkBudget } from '../../client/payer/policy.ts';
import type { SearchRequestInput } from '../../flights/wire.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import { callCap, liftedBy } from '../paying/spending.ts';
import { usdcOf } from '../session/usdc.ts';
import type { CommandContext } from '../spec/command.ts';
import { counted } from '../view/text.ts';
import { aboutText, DEARER_AFTER, waitFor } from './pace.ts';

/** What one search costs now, atomic USDC; 0 where the service asks for nothing. It is asked for, and not paid. */
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

/** What several searches cost, atomic USDC. */
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
  const { limits } = session.profile;
  const { searches, price, total } = cost;
  const wanted = globals.maxPayment ?? cost.atMost;
  const most = allowance && allowance.left() < wanted ? allowance.left() : wanted;
  const detail = { searches, price: formatUsdc(price), total: formatUsdc(total), at_most: formatUsdc(most) };
  const said = costText(cost, globals.maxPayment);
  if (total > most) {
    throw problem('payment_above_cap', {
      message: `${said}; ${allowance ? 'the allowance has' : '--max-payment allows'} ${detail.at_most} for all of them.`,
      fix: allowance
        ? 'Search fewer days, or let a person allow more; nothing was charged.'
        : `Give --max-payment ${detail.total}, or search fewer days; nothing was charged.`,
      detail,
    });
  }
  if (globals.maxPayment === undefined && limits.perCall !== null && price > limits.perCall) {
    throw problem('payment_above_cap', {
      message: `A search costs ${detail.price} USDC now; your limit for a call is ${formatUsdc(limits.perCall)}.`,
      fix: allowance
        ? liftedBy(total, true)
        : `--max-payment ${detail.total} allows all ${searches} of them. Nothing was charged.`,
      detail,
    });
  }
  // What one of them may cost.
  allowance?.reserve(price).giveBack();
  await checkMoney(context, total);
  terminal.note(`${said}.`);
  if (globals.maxPayment !== undefined) return most;
  if (most > callCap(session.profile) && !globals.yes) {
    if (!terminal.canAsk) {
      throw problem('payment_above_cap', {
        message: `${said}, more than is paid without a question.`,
        fix: `Give --yes, or --max-payment ${detail.total} for all of them; nothing was charged.`,
        detail,
      });
    }
    const asking = terminal.ask('--yes');
    const question = `Pay ${most > total ? 'up to ' : ''}${detail.at_most} USDC for ${searches} searches?`;
    if (await asking.confirm(question, true)) return most;
    if (cost.waitMs === 0) throw problem('payment_declined');
    const patient = `Pay ${detail.total} USDC instead, and wait ${aboutText(cost.waitMs)} for the price to fall?`;
    if (!(await asking.confirm(patient, true))) throw problem('payment_declined');
    return total;
  }
  return most;
}

/** The whole of it must be there: half a grid helps nobody. */
async function checkMoney({ session }: CommandContext, total: bigint): Promise<void> {
  if (total === 0n) return;
  const [wallet, cluster, store] = [await session.wallet(), await session.cluster(), await session.store()];
  const { network, usdcAccount } = await usdcOf(cluster, wallet.address);
  const { perDay } = session.profile.limits;
  const budget = perDay === null ? undefined : { limit: perDay, windowMs: 86_400_000 };
  await checkBudget(store, budget, { wallet: wallet.address, network, amount: total });
  const held = (await cluster.tokenBalance(usdcAccount)) ?? 0n;
  if (held >= total) return;
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
