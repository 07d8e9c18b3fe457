import type { Intent } from '../flights/wire.ts';
import { isProblem, type ProblemCode, problem } from '../kernel/problems.ts';
import type { CommandContext } from './context.ts';
import { hasSignedBooking } from './remembered.ts';
import { usdc } from './view/intent.ts';
import { quoted } from './view/payment.ts';

/**
 * A booking was cut off (Ctrl-C, --timeout, a lost connection): says what has happened to the money, and how to go
 * on. Other failures are given back as they are, for they say it themselves.
 */
export async function whereMoneyIs(
  context: CommandContext,
  intent: Intent,
  error: unknown,
  /** Saved ones, where the booking was asked for by their names. */
  travellers: readonly string[] = [],
): Promise<unknown> {
  const code = cutOffBy(error, context.signal);
  if (code === null) return error;
  const given = travellers.map((name) => ` --traveller ${quoted(name)}`).join('') || ' --passengers …';
  const again = `farelock book ${intent.intent_id}${given}`;
  const { stage, where } = await moneySaid(context, intent);
  return problem(stage === 'booking' && code === 'timed_out' ? 'still_booking' : code, {
    message: `${code === 'interrupted' ? 'Interrupted' : 'That took too long'}. ${where}`,
    fix:
      stage === 'booking'
        ? 'Follow it, or run the same command again: it resumes and never pays twice.'
        : 'Run the same command again: it resumes and never pays twice.',
    next: [stage === 'booking' ? `farelock status ${intent.intent_id} --watch` : again],
    detail: { intent_id: intent.intent_id, money: stage },
    cause: error,
  });
}

function cutOffBy(error: unknown, signal: AbortSignal): ProblemCode | null {
  const reason: unknown = signal.aborted ? signal.reason : null;
  if (isProblem(reason) && (!isProblem(error) || isProblem(error, ...CUT_OFF))) return reason.code;
  return isProblem(error, 'interrupted', 'timed_out') ? error.code : null;
}

const CUT_OFF: readonly ProblemCode[] = [
  'interrupted',
  'timed_out',
  'network_unreachable',
  'unexpected_answer',
  'payment_pending',
];

async function moneySaid(
  { session }: CommandContext,
  intent: Intent,
): Promise<{ stage: 'booking' | 'signed' | 'unpaid'; where: string }> {
  const amount = usdc(intent.escrow.amount);
  try {
    const flights = await session.flights();
    const now = await flights.intent(intent.intent_id, { signal: AbortSignal.timeout(3000) });
    if (now.booking_requested_at !== null) {
      const goesOn = session.isEmbedded ? 'the booking goes on when a command runs' : 'the booking goes on';
      return { stage: 'booking', where: `${amount} are in the escrow; ${goesOn}.` };
    }
  } catch (error) {
    // The question was where the money is; without an answer the journal below says what was signed.
    if (!isProblem(error)) throw error;
  }
  if (await hasSignedBooking(await session.store(), intent)) {
    return {
      stage: 'signed',
      where: `A payment of ${amount} into the escrow was signed and may have been sent.`,
    };
  }
  return { stage: 'unpaid', where: 'Nothing was paid.' };
}
