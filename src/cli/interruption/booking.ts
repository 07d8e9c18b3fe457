import type { Intent } from '../../flights/wire.ts';
import { isProblem, type Problem, problem } from '../../kernel/problems.ts';
import { quoted } from '../../kernel/shell-word.ts';
import { signedBooking } from '../session/remembered.ts';
import type { CommandContext } from '../spec/command.ts';
import { usdc } from '../view/flights/intent.ts';
import { hasEnded, moneyStage, reviewText } from '../view/flights/status.ts';
import { utcTime } from '../view/times.ts';
import { cutOffBy, saysMoney } from './cut-off.ts';

/**
 * A command on a booking was cut off (Ctrl-C, --timeout, a lost connection): says what has happened to the money, and
 * how to go on. Other failures are given back as they are, for they say it themselves; so is what was told already.
 */
export async function whereMoneyIs(
  context: CommandContext,
  intent: Intent,
  error: unknown,
  /** The command to go on with while nothing is paid. */
  again: string,
): Promise<unknown> {
  const cutOff = bookingCutOff(error, context.signal);
  if (cutOff === null) return error;
  const { stage, where, next } = await moneySaid(context, intent);
  const isSlow = stage === 'booking' && cutOff.code === 'timed_out';
  return problem(isSlow ? 'still_booking' : cutOff.code, {
    message: `${cutOff.message} ${where}`,
    fix: FIX[stage],
    next: [...next, ...(stage === 'unpaid' || stage === 'signed' ? [again] : [])],
    detail: { intent_id: intent.intent_id, money: stage },
    cause: error,
  });
}

/** A person decides, and may take hours: nobody is kept waiting for it. */
export const inReview = ({ clock }: Pick<CommandContext, 'clock'>, intent: Intent) =>
  problem('booking_in_review', {
    message: reviewText(intent, clock.now()),
    detail: {
      intent_id: intent.intent_id,
      operator_review_since: intent.operator_review_since,
      refund_after: intent.escrow.refund_after,
      money: 'booking',
    },
  });

type Stage = 'unpaid' | 'signed' | 'booking' | 'captured' | 'refunded';

const FIX: Readonly<Record<Stage, string>> = {
  unpaid: 'Run the same command again.',
  signed: 'Send it again, or run the same command again: it resumes and never pays twice.',
  booking: 'Follow it, or run the same command again: it resumes and never pays twice.',
  captured: 'The airline order has the rest.',
  refunded: 'Look for another fare, or see where the money went.',
};

/** The cause that cut it off; a call that took too long says so itself. */
function bookingCutOff(error: unknown, signal: AbortSignal): Problem | null {
  const cutOff = cutOffBy(error, signal, ['payment_pending']);
  if (cutOff !== null || saysMoney(error)) return cutOff;
  return isProblem(error, 'timed_out') ? problem('timed_out', { cause: error }) : null;
}

async function moneySaid(
  context: CommandContext,
  intent: Intent,
): Promise<{ stage: Stage; where: string; next: readonly string[] }> {
  const { session, clock } = context;
  const { intent_id: id } = intent;
  const amount = usdc(intent.escrow.amount);
  try {
    const flights = await session.flights();
    const now = await flights.intent(id, { signal: AbortSignal.timeout(3000) });
    const stage = moneyStage(now, clock.now());
    if (stage === 'captured') {
      return {
        stage,
        where: `The flight is booked, and the ${amount} of the escrow are captured.`,
        next: [`farelock order ${quoted(id)}`],
      };
    }
    if (stage === 'refunded') {
      return {
        stage,
        where: `${amount} went back to the refund wallet.`,
        next: [`farelock status ${quoted(id)}`],
      };
    }
    if (now.booking_requested_at !== null) {
      const goesOn = session.isEmbedded ? 'the booking goes on when a command runs' : 'the booking goes on';
      return {
        stage: 'booking',
        where: `${amount} are in the escrow; ${goesOn}.`,
        next: [`farelock status ${quoted(id)} --watch`],
      };
    }
  } catch (error) {
    // The question was where the money is; without an answer the journal below says what was signed.
    if (!isProblem(error)) throw error;
  }
  const signed = await signedBooking(await session.store(), intent);
  if (signed?.state === 'answered') {
    return {
      stage: 'booking',
      where: `${amount} were paid into the escrow.`,
      next: [`farelock status ${quoted(id)} --watch`],
    };
  }
  if (signed) {
    return {
      stage: 'signed',
      where: `A payment of ${amount} into the escrow was signed and may have been taken.`,
      next: signed.open ? [`farelock payments resume ${signed.payment_id}`] : [],
    };
  }
  const isLocked = !hasEnded(intent) && Date.parse(intent.expires_at) > clock.now();
  const until = isLocked ? `; the fare stays locked until ${utcTime(intent.expires_at)}` : '';
  return { stage: 'unpaid', where: `Nothing was paid${until}.`, next: [] };
}
