import { isProblem } from '../../kernel/problems.ts';
import type { Intent } from '../../wire/flights/index.ts';
import { signedBooking } from '../session/remembered.ts';
import type { CommandContext } from '../spec/command.ts';
import { hasEnded, moneyStage } from '../view/flights/status.ts';
import { bookingCutOffBy } from './cut-off.ts';
import { type Known, type Stage, storyOf, told } from './story.ts';

/** The end of a command on a booking that was cut off. Other failures are given back as they are. */
export async function bookingCutOff(
  context: CommandContext,
  intent: Intent,
  error: unknown,
  /** The command to go on with while nothing is paid. */
  again: string,
): Promise<unknown> {
  const cutOff = bookingCutOffBy(error, context.signal);
  return cutOff ? told(cutOff, storyOf(await knownOfBooking(context, intent, [again])), error) : error;
}

/** A booking as the service has it; without a payment on its record, as the tool's journal has it. */
export async function knownOfBooking(
  context: CommandContext,
  intent: Intent,
  again: readonly string[],
): Promise<Known> {
  const nowMs = context.clock.now();
  const known = (stage: Stage) => ({ again, signed: [], booking: { intent, stage }, paid: [] });
  const served = await stageAtService(context, intent);
  if (served) return known(served);
  const signed = await signedBooking(await context.session.store(), intent);
  if (signed?.state === 'answered') return known('paid');
  const isLocked = !hasEnded(intent) && Date.parse(intent.expires_at) > nowMs;
  return { ...known(isLocked ? 'locked' : 'unlocked'), signed: signed ? [signed] : [] };
}

/** Null while the service has no payment on its record, or does not answer. */
async function stageAtService({ session, clock }: CommandContext, intent: Intent): Promise<Stage | null> {
  try {
    const flights = await session.flights();
    const now = await flights.intent(intent.intent_id, { signal: AbortSignal.timeout(3000) });
    const stage = moneyStage(now, clock.now());
    if (stage === 'captured' || stage === 'refunded') return stage;
    return now.booking_requested_at === null ? null : session.isEmbedded ? 'paused' : 'queued';
  } catch (error) {
    if (!isProblem(error)) throw error;
    return null;
  }
}
