import type { FlightsClient } from '../../client/types.ts';
import { isProblem } from '../../kernel/problems.ts';
import type { Intent } from '../../wire/flights/index.ts';
import type { CommandContext } from '../spec/command.ts';
import { type MoneyStage, moneyStage } from '../view/flights/status.ts';

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
