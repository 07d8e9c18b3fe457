import type { Intent, Passenger } from '../flights/wire.ts';
import { formatUsdc } from '../kernel/money.ts';
import { problem } from '../kernel/problems.ts';
import { SOLANA_NETWORKS } from '../solana/cluster.ts';
import type { CommandContext } from './context.ts';
import { type BookingAgreed, bookingOverLimit, isOverLimit } from './spending.ts';
import type { Screen } from './terminal.ts';
import { fieldLines } from './view/table.ts';
import { harmless } from './view/text.ts';
import { fromNow, utcTime } from './view/times.ts';

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
  const { terminal, globals, session, clock } = context;
  const amount = BigInt(intent.escrow.amount);
  const said = formatUsdc(amount);
  if (globals.maxPayment !== undefined && amount > globals.maxPayment) {
    throw problem('payment_above_cap', {
      message: `The booking costs ${said} USDC; --max-payment allows ${formatUsdc(globals.maxPayment)}.`,
      fix: 'Raise --max-payment; nothing was charged.',
    });
  }
  const isRealMoney = (await session.cluster()).network === SOLANA_NETWORKS.mainnet;
  const { limits } = session.profile;
  const isOver = isOverLimit(amount, limits, globals);
  if (isOver && (globals.yes || !terminal.canAsk)) throw bookingOverLimit(amount, limits);
  if (globals.yes) {
    if (isRealMoney && globals.maxPayment === undefined) {
      throw problem('input_required', {
        message: `This pays ${said} USDC of real money.`,
        fix: `With --yes, also give --max-payment ${said}.`,
      });
    }
    return { amount, isTyped: false };
  }
  const prompts = terminal.ask('--yes');
  for (const line of reviewLines(intent, passengers, clock.now(), terminal.asideScreen)) terminal.note(line);
  if (isOver) terminal.note(`Your limit for a booking is ${formatUsdc(limits.booking ?? 0n)} USDC.`);
  if (isRealMoney || isOver) {
    await prompts.text(`Type ${said} to pay it`, async (typed) =>
      typed === said ? null : `It is ${said}; Ctrl-C pays nothing.`,
    );
    return { amount, isTyped: true };
  }
  if (!(await prompts.confirm(`Pay ${said} USDC and book?`, true))) throw problem('payment_declined');
  return { amount, isTyped: false };
}

function reviewLines(
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
