import type { FlightsClient } from '../../client/base/index.ts';
import { isProblem } from '../../kernel/problems.ts';
import type { Intent } from '../../wire/flights/index.ts';
import { signedBooking } from '../session/index.ts';
import type { CommandContext } from '../spec/index.ts';
import { hasEnded, type MoneyStage, moneyStage } from '../view/flights/index.ts';
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

const LONGEST_WAIT_MS = 1000;

/**
 * Waits until the money of an intent has moved on, or is held up by something else, and returns the intent as it then is. On an embedded stack the
 * waiting is also what does the work. A service that is briefly away is asked again. At `untilMs` it is over, and the
 * intent may be as it was.
 * @throws Problem `interrupted`, `timed_out` when aborted, and what the service refuses for good
 */
export async function waitForChange(
  context: CommandContext,
  flights: FlightsClient,
  intent: Intent,
  stage: MoneyStage,
  untilMs = Number.POSITIVE_INFINITY,
): Promise<Intent> {
  const { session, clock, signal } = context;
  for (let failures = 0; ; ) {
    signal.throwIfAborted();
    const dueAtMs = await session.work();
    try {
      const seen = await flights.intent(intent.intent_id, { signal });
      failures = 0;
      if (seen.status !== intent.status || moneyStage(seen, clock.now()) !== stage) return seen;
      if (seen.booking_held_up_by !== intent.booking_held_up_by) return seen;
      if (seen.refund_request?.state !== intent.refund_request?.state) return seen;
      if (clock.now() >= untilMs) return seen;
    } catch (error) {
      signal.throwIfAborted();
      if (!isProblem(error) || error.kind.retryable !== true || ++failures > 30) throw error;
    }
    const untilDue = dueAtMs === null ? LONGEST_WAIT_MS : dueAtMs - clock.now();
    await clock.sleep(Math.min(LONGEST_WAIT_MS, Math.max(10, untilDue)), signal);
  }
}
