import { PaymentPlanned } from '../../client/payer/plan.ts';
import { checkBudget } from '../../client/payer/policy.ts';
import type { SearchRequestInput } from '../../flights/wire.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import type { CommandContext } from '../context.ts';
import { callCap, liftedBy } from '../spending.ts';
import { usdcOf } from '../usdc.ts';
import { counted } from '../view/text.ts';

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
export interface SearchesCost {
  readonly searches: number;
  /** Of one, now. */
  readonly price: bigint;
  /** Of all, at that price. */
  readonly total: bigint;
  /** Of all, should the price rise as it does when many search. */
  readonly atMost: bigint;
}

/** So many searches a minute make a service dearer by its first price again (spec/flight-service.md, Limits). */
const DEARER_AFTER = 10;

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
  return { searches, price, total, atMost: risen > twice ? risen : twice };
}

/** `7 searches at 0.10 USDC each: 0.70 USDC, at most 1.00 if the price rises` */
export function costText({ searches, price, total, atMost }: SearchesCost): string {
  const rise = atMost > total ? `, at most ${formatUsdc(atMost)} if the price rises` : '';
  return searches === 1
    ? `1 search: ${formatUsdc(total)} USDC${rise}`
    : `${counted(searches, 'search', 'searches')} at ${formatUsdc(price)} USDC each: ${formatUsdc(total)} USDC${rise}`;
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
  const said = costText({ ...cost, atMost: most });
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
    if (most > total) terminal.note(`--max-payment ${detail.total} waits for the lower price instead.`);
    const question = `Pay ${most > total ? 'up to ' : ''}${detail.at_most} USDC for ${searches} searches?`;
    if (!(await terminal.ask('--yes').confirm(question, true))) throw problem('payment_declined');
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
