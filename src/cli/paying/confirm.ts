import type { Intent, Passenger } from '../../flights/wire.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import { SOLANA_NETWORKS } from '../../solana/cluster.ts';
import type { Screen } from '../screen/terminal.ts';
import type { CommandContext } from '../spec/command.ts';
import { fieldLines } from '../view/table.ts';
import { harmless } from '../view/text.ts';
import { fromNow, utcTime } from '../view/times.ts';
import { type BookingAgreed, bookingOverLimit, isOverLimit } from './spending.ts';

/** What a person has to do to agree to a booking. */
interface Agreement {
  /** Atomic USDC. */
  readonly amount: bigint;
  /** Real money, or more than their own limit: a key that was pressed by mistake is not enough. */
  readonly mustType: boolean;
  /** Said where the amount is above their own limit. */
  readonly overLimit: string | null;
}

/**
 * Whether a booking may be agreed to at all, and how.
 * @throws Problem `payment_above_cap`
 */
export async function agreementTo(context: CommandContext, intent: Intent): Promise<Agreement> {
  const { terminal, globals, session, allowance } = context;
  const amount = BigInt(intent.escrow.amount);
  if (globals.maxPayment !== undefined && amount > globals.maxPayment) {
    throw problem('payment_above_cap', {
      message: `The booking costs ${formatUsdc(amount)} USDC; --max-payment allows ${formatUsdc(globals.maxPayment)}.`,
      fix: 'Raise --max-payment; nothing was charged.',
    });
  }
  const isRealMoney = (await session.cluster()).network === SOLANA_NETWORKS.mainnet;
  const { limits } = session.profile;
  const isOver = isOverLimit(amount, limits, globals);
  if (isOver && (globals.yes || !terminal.canAsk)) {
    throw bookingOverLimit(amount, limits, allowance !== undefined);
  }
  if (globals.yes && isRealMoney && globals.maxPayment === undefined && !allowance) {
    throw problem('input_required', {
      message: `This pays ${formatUsdc(amount)} USDC of real money.`,
      fix: `With --yes, also give --max-payment ${formatUsdc(amount)}.`,
    });
  }
  return {
    amount,
    mustType: isRealMoney || isOver,
    overLimit: isOver ? `Your limit for a booking is ${formatUsdc(limits.booking ?? 0n)} USDC.` : null,
  };
}

/**
 * The review before a booking is paid, and the question. On mainnet, and above the person's own limit, the amount is to
 * be typed.
 * @throws Problem `payment_declined`, `payment_above_cap`, `input_required`
 */
export async function confirmBooking(
  context: CommandContext,
  intent: Intent,
  passengers: readonly Passenger[],
): Promise<BookingAgreed> {
  const { terminal, globals, clock } = context;
  const { amount, mustType, overLimit } = await agreementTo(context, intent);
  if (globals.yes) return { amount, isTyped: false };
  const prompts = terminal.ask('--yes');
  terminal.review(reviewLines(intent, passengers, clock.now(), terminal.asideScreen));
  if (overLimit !== null) terminal.review([overLimit]);
  if (mustType) {
    await prompts.text(...typedAmount(amount));
    return { amount, isTyped: true };
  }
  if (!(await prompts.confirm(`Pay ${formatUsdc(amount)} USDC and book?`, true))) {
    throw problem('payment_declined');
  }
  return { amount, isTyped: false };
}

/** The question for an amount that is to be typed, and its check. */
export function typedAmount(
  amount: bigint,
): [message: string, check: (typed: string) => Promise<string | null>] {
  const said = formatUsdc(amount);
  return [
    `Type ${said} to pay it`,
    async (typed) => (typed === said ? null : `It is ${said}; Ctrl-C pays nothing.`),
  ];
}

export function reviewLines(
  intent: Intent,
  passengers: readonly Passenger[],
  nowMs: number,
  { paint }: Screen,
): string[] {
  return fieldLines(
    [
      ['Amount', paint.bold(`${formatUsdc(BigInt(intent.escrow.amount))} USDC`)],
      ['Into escrow', intent.escrow.address],
      ['Refunds to', intent.refund_wallet],
      ['Book until', `${utcTime(intent.expires_at)} (${fromNow(intent.expires_at, nowMs)})`],
      ...passengers.map(
        (passenger, index) =>
          [
            index === 0 ? 'Passengers' : '',
            harmless(
              `${passenger.title} ${passenger.given_name} ${passenger.family_name}, born ${passenger.born_on}`,
            ),
          ] as const,
      ),
    ],
    paint.dim,
  );
}
