import { DAY_MS } from '../../kernel/clock.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { type Charged, type Problem, problem } from '../../kernel/problems.ts';
import type { Usdc } from '../../kernel/usdc.ts';
import { SOLANA_NETWORKS } from '../../solana/index.ts';

/** May this be paid? One answer for payments, dry runs, confirmations, day grids and programs. */

/** CONTRACT, section 14: a call of up to 1 USDC is paid without a question. */
const FREE_CALL = 1_000_000n;

/** Limits that a person has set for their own money, in atomic USDC; null: not set. */
export interface Limits {
  readonly perCall: bigint | null;
  /** Signed in 24 hours at most, calls and bookings together. Nobody's answer lifts it. */
  readonly perDay: bigint | null;
  readonly booking: bigint | null;
  /** Hosts that may be paid, as a URL writes them, with the port where it is not the usual one. */
  readonly hosts: readonly string[] | null;
}

export const NO_LIMITS: Limits = { perCall: null, perDay: null, booking: null, hosts: null };

/** A consent that was given already: atomic USDC, and of a booking, whether the amount was typed. */
export type Agreed =
  | { readonly kind: 'call'; readonly amount: bigint }
  | { readonly kind: 'booking'; readonly amount: bigint; readonly isTyped: boolean };

/** The payer, and the consents that they have given. */
export interface Spender {
  readonly limits: Limits;
  /** `--max-payment`, atomic USDC: it speaks for this much, and no answer lifts it. */
  readonly most?: bigint | undefined;
  /** `--yes`: agrees to what no limit of the person forbids. */
  readonly saysYes?: boolean | undefined;
  readonly canAsk?: boolean | undefined;
  readonly agreed?: Agreed | undefined;
  /** Of a program that drives the tool. It lifts no limit of the person. */
  readonly allowance?: Allowance | undefined;
}

/** A payment that is to be judged. Amounts are atomic USDC. */
export interface Spending {
  readonly kind: 'call' | 'booking';
  readonly amount: bigint;
  /** Of several calls that are agreed to together: what one costs. */
  readonly each?: bigint;
  readonly network?: string;
  readonly host?: string;
  /** Signed in the last 24 hours. */
  readonly spent?: bigint;
  /** A part of it that could not be verified; such a payment always asks. */
  readonly warning?: string | undefined;
}

/** A payment that a service has asked for. */
export interface PaymentRequest extends Spending {
  readonly resource: string;
  readonly host: string;
  readonly asset: string;
  readonly payTo: string;
  readonly network: string;
}

/** Who pays, and how they are asked. */
export interface SpendingPolicy extends Spender {
  /** Called where a payment needs a person's word; absent: nobody can be asked. */
  readonly ask?: ((request: PaymentRequest) => Promise<boolean>) | undefined;
}

/** The amount that a program driving the tool may sign for while it runs, counted at each signature. Atomic USDC. */
export interface Allowance {
  /** The rest, for all payments together. */
  left(): bigint;
  /** Why a payment of this amount would be refused now; null: it would not. */
  refusal(amount: bigint): Problem | null;
  /**
   * Takes an amount out before it is signed, at once: two calls at the same time can't have the same money.
   * @throws Problem `payment_above_cap`
   */
  reserve(amount: bigint): Reservation;
  /**
   * A payment of the journal is sent again. One that this allowance has not counted (an earlier program's) is
   * counted now.
   * @throws Problem `payment_above_cap`
   */
  resend(paymentId: string, amount: bigint): void;
}

interface Reservation {
  /** It is signed, and in the journal by this id. */
  spend(paymentId: string): void;
  /** Nothing was written: it is there again. */
  giveBack(): void;
}

/** Why something is not paid; `refusal` has the words. */
type Why = 'host' | 'day' | 'allowance' | 'most' | 'limit' | 'nobody' | 'real_money' | 'not_agreed' | 'unverified';

export type Verdict =
  | { readonly act: 'pay' }
  /** One key press is not enough for real money, or above their own limit: the amount is typed. */
  | { readonly act: 'ask'; readonly mustType: boolean }
  | { readonly act: 'refuse'; readonly why: Why };

const PAY: Verdict = { act: 'pay' };
const refuse = (why: Why): Verdict => ({ act: 'refuse', why });

/** The price up to which a call is paid without a question, atomic USDC. */
export const freeCall = ({ perCall }: Limits): bigint => perCall ?? FREE_CALL;

/** True when a booking is above the person's own limit, and `--max-payment` does not speak for it. */
export const isOverLimit = (amount: bigint, { limits, most }: Spender): boolean =>
  limits.booking !== null && amount > limits.booking && most === undefined;

/**
 * Whether a payment may be signed: yes, when a person says so, or not at all. The daily limit, the list of hosts, an
 * allowance and `--max-payment` are lifted by nothing. A limit that the person has set is lifted by their own answer or
 * by `--max-payment`, not by `--yes`. A booking is paid only when exactly its amount was agreed to, and real money only
 * when it was typed, or `--max-payment` or a program's allowance says so.
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

/** A booking that nobody has agreed to yet. */
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

/** A person may pay for what could not be verified; a program may not. */
function verified({ warning }: Spending, { saysYes, canAsk, allowance }: Spender): Verdict {
  if (warning === undefined) return PAY;
  return !allowance && (saysYes || canAsk) ? { act: 'ask', mustType: false } : refuse('unverified');
}

/** The words of a refusal, and what lifts it. */
export function refusal(spending: Spending, spender: Spender, why: Why): Problem {
  const { amount, kind } = spending;
  const { limits, allowance } = spender;
  const above = (
    cap: bigint | null | undefined,
    /** What stands against it. */
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
        return above(null, () => ', and nobody could be asked.', 'Approve it with --yes.', undefined);
      }
      const cap = freeCall(limits);
      const but = (usdc: Usdc) => `, more than the ${usdc(cap)} that is paid without asking.`;
      return above(cap, but, `Give --yes, or --max-payment ${formatUsdc(amount)}.`);
    }
    case 'real_money':
      return problem('input_required', {
        message: (usdc) => `This pays ${usdc(amount)} of real money.`,
        fix: `With --yes, also give --max-payment ${formatUsdc(amount)}.`,
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

/** Who may lift a limit, and how. */
export const liftedBy = (amount: bigint, isProgram: boolean): string =>
  isProgram
    ? 'Only a person can raise the limit: farelock wallet limits.'
    : `--yes does not lift a limit; --max-payment ${formatUsdc(amount)} does.`;

/** The day of the daily limit: the last 24 hours, so that no midnight doubles it. */
export const BUDGET_WINDOW_MS = DAY_MS;

/** Before the signature and again when the payment is written: the daily limit would be passed. */
export function overBudget(amount: bigint, spent: bigint, limit: bigint): Problem {
  const detail = { amount: formatUsdc(amount), spent: formatUsdc(spent), limit: formatUsdc(limit) };
  return problem('daily_limit_reached', {
    message: (usdc) =>
      `This costs ${usdc(amount)}; ${detail.spent} of the ${usdc(limit)} for 24 hours is already signed.`,
    detail,
  });
}
