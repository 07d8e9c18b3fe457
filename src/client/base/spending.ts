import { DAY_MS } from '../../kernel/clock.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { type Charged, type Problem, problem } from '../../kernel/problems.ts';
import type { Usdc } from '../../kernel/usdc.ts';
import { SOLANA_NETWORKS } from '../../solana/index.ts';

/** Judges payments, dry runs, confirmations, day grids and programs by one set of rules. */

/** Calls of up to 1 USDC are paid without a question (CONTRACT, section 14). */
const FREE_CALL = 1_000_000n;

/** The person's limits in atomic USDC; null if not set. */
export interface Limits {
  readonly perCall: bigint | null;
  /** The most in 24 hours, calls and bookings together; no answer lifts it. */
  readonly perDay: bigint | null;
  readonly booking: bigint | null;
  /** Hosts that may be paid, as in a URL, with the port where it is not the usual one. */
  readonly hosts: readonly string[] | null;
}

export const NO_LIMITS: Limits = { perCall: null, perDay: null, booking: null, hosts: null };

/** A consent already given, in atomic USDC; `isTyped` if the person typed a booking's amount. */
export type Agreed =
  | { readonly kind: 'call'; readonly amount: bigint }
  | { readonly kind: 'booking'; readonly amount: bigint; readonly isTyped: boolean };

export interface Spender {
  readonly limits: Limits;
  /** `--max-payment`, atomic USDC: agrees up to this amount, and no answer lifts it. */
  readonly most?: bigint | undefined;
  /** `--yes`: agrees within the person's limits. */
  readonly saysYes?: boolean | undefined;
  readonly canAsk?: boolean | undefined;
  readonly agreed?: Agreed | undefined;
  /** The allowance of a program that drives the tool; it lifts no limit of the person. */
  readonly allowance?: Allowance | undefined;
}

/** A payment to judge, in atomic USDC. */
export interface Spending {
  readonly kind: 'call' | 'booking';
  readonly amount: bigint;
  /** The cost of each call, if several are agreed to together. */
  readonly each?: bigint;
  readonly network?: string;
  readonly host?: string;
  /** Signed in the last 24 hours. */
  readonly spent?: bigint;
  /** The part that was not verified; such a payment needs a person's answer. */
  readonly warning?: string | undefined;
}

export interface PaymentRequest extends Spending {
  readonly resource: string;
  readonly host: string;
  readonly asset: string;
  readonly payTo: string;
  readonly network: string;
}

export interface SpendingPolicy extends Spender {
  /** Asks the person; absent: no person can be asked. */
  readonly ask?: ((request: PaymentRequest) => Promise<boolean>) | undefined;
}

/** Atomic USDC that a program driving the tool may sign for while it runs, counted at each signature. */
export interface Allowance {
  left(): bigint;
  /** The reason why this amount would be refused now; null if it would be paid. */
  refusal(amount: bigint): Problem | null;
  /**
   * Takes an amount out at once, before signing, so that concurrent calls cannot share it.
   * @throws Problem `payment_above_cap`
   */
  reserve(amount: bigint): Reservation;
  /**
   * Counts a resent payment, such as an earlier program's, unless it was counted here.
   * @throws Problem `payment_above_cap`
   */
  resend(paymentId: string, amount: bigint): void;
}

interface Reservation {
  /** Uses the amount: the payment is in the journal under this id. */
  spend(paymentId: string): void;
  /** Restores the amount: nothing was written. */
  giveBack(): void;
}

/** The reasons for not paying; `refusal` words them. */
type Why = 'host' | 'day' | 'allowance' | 'most' | 'limit' | 'nobody' | 'real_money' | 'not_agreed' | 'unverified';

export type Verdict =
  | { readonly act: 'pay' }
  /** Real money, and amounts above the person's limit, have to be typed. */
  | { readonly act: 'ask'; readonly mustType: boolean }
  | { readonly act: 'refuse'; readonly why: Why };

const PAY: Verdict = { act: 'pay' };
const refuse = (why: Why): Verdict => ({ act: 'refuse', why });

/** The most that a call costs without a question, atomic USDC. */
export const freeCall = ({ perCall }: Limits): bigint => perCall ?? FREE_CALL;

/** True for a booking above the person's limit that `--max-payment` does not cover. */
export const isOverLimit = (amount: bigint, { limits, most }: Spender): boolean =>
  limits.booking !== null && amount > limits.booking && most === undefined;

/**
 * Decides whether a payment is signed. Nothing lifts the daily limit, the hosts, an allowance or `--max-payment`. The
 * person's own limit yields to their answer or `--max-payment`, not to `--yes`. A booking needs agreement to its exact
 * amount; real money needs it typed, or covered by `--max-payment` or a program's allowance.
 */
export function mayBePaid(spending: Spending, spender: Spender): Verdict {
  const { amount, each = amount, host, spent } = spending;
  const { hosts, perDay } = spender.limits;
  if (hosts !== null && host !== undefined && !hosts.includes(host)) return refuse('host');
  if (perDay !== null && spent !== undefined && spent + amount > perDay) return refuse('day');
  const { allowance, most, agreed } = spender;
  if (allowance && (allowance.refusal(each) !== null || amount > allowance.left())) return refuse('allowance');
  if (most !== undefined && amount > most) return refuse('most');
  if (spending.kind === 'call') return mayBeCalled(spending, spender);
  return agreed?.kind === 'booking' ? mayBeBooked(spending, spender, agreed) : mayBeAgreedTo(spending, spender);
}

function mayBeCalled({ amount, each = amount }: Spending, spender: Spender): Verdict {
  const { limits, most, agreed, saysYes, canAsk } = spender;
  if (agreed?.kind === 'call') return amount <= agreed.amount ? PAY : refuse('not_agreed');
  if (most !== undefined || amount <= freeCall(limits)) return PAY;
  if (canAsk && !saysYes) return { act: 'ask', mustType: false };
  if (limits.perCall !== null && each > limits.perCall) return refuse('limit');
  return saysYes ? PAY : refuse('nobody');
}

function mayBeAgreedTo(spending: Spending, spender: Spender): Verdict {
  const { most, saysYes, canAsk, allowance } = spender;
  const isOver = isOverLimit(spending.amount, spender);
  const isRealMoney = spending.network === SOLANA_NETWORKS.mainnet;
  if (canAsk && !saysYes) return { act: 'ask', mustType: isRealMoney || isOver };
  if (isOver) return refuse('limit');
  if (!saysYes) return refuse('nobody');
  if (isRealMoney && most === undefined && !allowance) return refuse('real_money');
  return verified(spending, spender);
}

function mayBeBooked(
  spending: Spending,
  spender: Spender,
  { amount, isTyped }: Extract<Agreed, { kind: 'booking' }>,
): Verdict {
  const isSaid = isTyped || spender.most !== undefined || spender.allowance !== undefined;
  if (isOverLimit(spending.amount, spender) && !isTyped) return refuse('limit');
  if (spending.network === SOLANA_NETWORKS.mainnet && !isSaid) return refuse('not_agreed');
  return spending.amount === amount ? verified(spending, spender) : refuse('not_agreed');
}

/** A person may pay for unverified parts; a program may not. */
function verified({ warning }: Spending, { saysYes, canAsk, allowance }: Spender): Verdict {
  if (warning === undefined) return PAY;
  return !allowance && (saysYes || canAsk) ? { act: 'ask', mustType: false } : refuse('unverified');
}

/** Words a refusal and the way to lift it. */
export function refusal(spending: Spending, spender: Spender, why: Why): Problem {
  const { amount, kind } = spending;
  const { limits, allowance } = spender;
  const above = (
    cap: bigint | null | undefined,
    but: (usdc: Usdc) => string,
    fix: string,
    charged: Charged | undefined = 'nothing',
  ): Problem =>
    problem('payment_above_cap', {
      message: (usdc) => `${kind === 'booking' ? 'The booking' : 'This'} costs ${usdc(amount)}${but(usdc)}`,
      fix,
      charged,
      detail: { amount: formatUsdc(amount), cap: typeof cap === 'bigint' ? formatUsdc(cap) : null },
    });
  switch (why) {
    case 'host':
      return problem('host_not_allowed', {
        message: `Payments to ${spending.host} are not allowed.`,
        detail: { host: spending.host, allowed: limits.hosts },
      });
    case 'day':
      return overBudget(amount, spending.spent ?? 0n, limits.perDay ?? 0n);
    case 'allowance':
      return allowance?.refusal(spending.each ?? amount) ?? problem('payment_above_cap');
    case 'most': {
      const most = formatUsdc(spender.most ?? 0n);
      return above(spender.most, () => `; --max-payment allows ${most}.`, 'Raise --max-payment.');
    }
    case 'limit': {
      const limit = kind === 'booking' ? limits.booking : limits.perCall;
      const but = (usdc: Usdc) => `; your limit for a ${kind} is ${usdc(limit ?? 0n)}.`;
      return above(limit, but, liftedBy(amount, allowance !== undefined));
    }
    case 'nobody': {
      if (kind === 'booking') {
        return above(null, () => ', and questions cannot be asked here.', 'Approve it with --yes.', undefined);
      }
      const cap = freeCall(limits);
      const but = (usdc: Usdc) => `, more than the ${usdc(cap)} that is paid without asking.`;
      return above(cap, but, `Approve it with --yes or --max-payment ${formatUsdc(amount)}.`);
    }
    case 'real_money':
      return problem('input_required', {
        message: (usdc) => `This pays ${usdc(amount)} of real money.`,
        fix: `With --yes, add --max-payment ${formatUsdc(amount)}.`,
      });
    case 'not_agreed': {
      if (kind === 'booking') return problem('payment_declined', { detail: { amount: formatUsdc(amount) } });
      const agreed = spender.agreed?.amount ?? 0n;
      return above(agreed, (usdc) => `, more than the ${usdc(agreed)} you agreed to.`, '');
    }
    case 'unverified':
      return problem('escrow_mismatch', {
        ...(spending.warning !== undefined && { message: spending.warning }),
        ...(allowance && { fix: 'A person has to pay it at a terminal.', charged: 'nothing' }),
      });
  }
}

export const liftedBy = (amount: bigint, isProgram: boolean): string =>
  isProgram
    ? 'Only a person can raise the limit: farelock wallet limits.'
    : `--yes does not lift a limit; --max-payment ${formatUsdc(amount)} does.`;

/** The daily limit covers the last 24 hours, so that no midnight doubles it. */
export const BUDGET_WINDOW_MS = DAY_MS;

/** The daily limit's refusal, made before the signature and again when the payment is written. */
export function overBudget(amount: bigint, spent: bigint, limit: bigint): Problem {
  const detail = { amount: formatUsdc(amount), spent: formatUsdc(spent), limit: formatUsdc(limit) };
  return problem('daily_limit_reached', {
    message: (usdc) =>
      `This costs ${usdc(amount)}; ${detail.spent} of the ${usdc(limit)} for 24 hours is already signed.`,
    detail,
  });
}
