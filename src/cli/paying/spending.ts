import type { Allowance, PaymentRequest, SpendingPolicy } from '../../client/types.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import { SOLANA_NETWORKS } from '../../solana/cluster.ts';
import type { Terminal } from '../screen/terminal.ts';
import type { Limits, Profile } from '../session/profile.ts';
import type { GlobalOptions } from '../spec/globals.ts';

/** CONTRACT, section 14: a call of up to 1 USDC is paid without a question. */
const PER_CALL_CAP = 1_000_000n;

/** A booking that a person has agreed to pay: the escrow amount (atomic), and whether they have typed it. */
export interface BookingAgreed {
  readonly amount: bigint;
  readonly isTyped: boolean;
}

interface Spending {
  readonly globals: GlobalOptions;
  readonly terminal: Terminal;
  /** Of a program that drives the tool. */
  readonly allowance?: Allowance | undefined;
}

/**
 * What may be signed. --max-payment is a limit that no answer lifts; above the default cap a person is asked, and
 * --yes agrees. A cap that the person has set themselves is lifted by their own answer or --max-payment, not by --yes.
 * The daily limit and the list of hosts are lifted by nothing. A booking is paid only when exactly its amount was
 * agreed to, and real money only when it was typed, or --max-payment or a program's allowance says so. An allowance
 * lifts no limit of the person, and pays for nothing that could not be verified.
 */
export function spendingPolicy(
  { globals, terminal, allowance }: Spending,
  { limits, isEmbedded }: Profile,
  booking: BookingAgreed | null,
): SpendingPolicy {
  const limit = globals.maxPayment;
  const mayApprove = globals.yes === true || terminal.canAsk || booking !== null;
  return {
    perCallCap: limit ?? limits.perCall ?? PER_CALL_CAP,
    bookingCap: null,
    perDay: limits.perDay,
    // The embedded service has no host to be mistaken about.
    hosts: isEmbedded ? null : limits.hosts,
    allowance,
    refuse(ask) {
      if (limit !== undefined && ask.amount > limit) {
        throw problem('payment_above_cap', {
          message: `This costs ${formatUsdc(ask.amount)} USDC; --max-payment allows ${formatUsdc(limit)}.`,
          fix: 'Raise --max-payment; nothing was charged.',
        });
      }
      const isAsked = terminal.canAsk && globals.yes !== true;
      if (ask.kind === 'booking') {
        // Before anybody was asked, somebody may still type it.
        const mayType = booking === null ? isAsked : booking.isTyped;
        if (isOverLimit(ask.amount, limits, globals) && !mayType) {
          throw bookingOverLimit(ask.amount, limits, allowance !== undefined);
        }
      } else if (!isAsked && limits.perCall !== null && limit === undefined && ask.amount > limits.perCall) {
        throw problem('payment_above_cap', {
          message: `This costs ${formatUsdc(ask.amount)} USDC; your limit for a call is ${formatUsdc(limits.perCall)}.`,
          fix: liftedBy(ask.amount, allowance !== undefined),
        });
      }
    },
    approve: !mayApprove
      ? null
      : async (ask) => {
          if (ask.warning !== undefined) {
            if (allowance) throw problem('escrow_mismatch', { message: ask.warning, fix: BY_A_PERSON });
            terminal.note(ask.warning);
            if (!globals.yes) return terminal.ask('--yes').confirm('Pay it all the same?', false);
          }
          if (ask.kind !== 'booking') return globals.yes === true || askPerson(ask, terminal);
          const isRealMoney = ask.network === SOLANA_NETWORKS.mainnet;
          const isSaid = booking?.isTyped === true || limit !== undefined || allowance !== undefined;
          if (isRealMoney && !isSaid) return false;
          return ask.amount === booking?.amount;
        },
  };
}

/**
 * For one of many calls whose total was agreed to: this one may cost `most` (atomic USDC), and nobody is asked. The
 * daily limit and the list of hosts hold for it as for every call.
 */
export const agreedPolicy = (
  { allowance }: Pick<Spending, 'allowance'>,
  { limits, isEmbedded }: Profile,
  most: bigint,
): SpendingPolicy => ({
  perCallCap: most,
  bookingCap: null,
  perDay: limits.perDay,
  hosts: isEmbedded ? null : limits.hosts,
  allowance,
  approve: null,
});

const BY_A_PERSON = 'A person pays it at a terminal. Nothing was charged.';

/** Who may lift a limit, and how. */
export const liftedBy = (amount: bigint, isProgram: boolean): string =>
  isProgram
    ? 'No tool lifts a limit; a person does: farelock wallet limits. Nothing was charged.'
    : `--yes does not lift a limit; --max-payment ${formatUsdc(amount)} does. Nothing was charged.`;

/** What a call may cost without a question, atomic USDC. */
export const callCap = ({ limits }: Profile): bigint => limits.perCall ?? PER_CALL_CAP;

function askPerson(ask: PaymentRequest, terminal: Terminal): Promise<boolean> {
  const question = `${ask.resource} at ${ask.host} costs ${formatUsdc(ask.amount)} USDC, more than usual. Pay it?`;
  return terminal.ask('--max-payment <usdc>').confirm(question, false);
}

/** True when a booking is above the person's own limit, and --max-payment does not speak for it. */
export const isOverLimit = (amount: bigint, limits: Limits, { maxPayment }: GlobalOptions): boolean =>
  limits.booking !== null && amount > limits.booking && maxPayment === undefined;

export function bookingOverLimit(amount: bigint, limits: Limits, isProgram = false) {
  const detail = { amount: formatUsdc(amount), cap: formatUsdc(limits.booking ?? 0n) };
  return problem('payment_above_cap', {
    message: `The booking costs ${detail.amount} USDC; your limit for a booking is ${detail.cap}.`,
    fix: liftedBy(amount, isProgram),
    detail,
  });
}
