import { withoutAddressKeys } from '../../../kernel/shown-url.ts';
import { storageTrouble } from '../../../kernel/storage.ts';
import type { CommandContext } from '../../spec/command.ts';

const LONGEST_SLEEP_MS = 1000;
/** A round that takes longer waits for a cluster or an airline: what else is due does not wait with it. */
const SLOW_ROUND_MS = 1000;
/** An airline may take two minutes for an order: the bookings of as many travellers wait at once. */
const MOST_ROUNDS = 12;

/** The worker's loop: what is due, then a sleep until something is, for at most a second. */
export async function work(
  { terminal, clock }: CommandContext,
  worker: { runDue(): Promise<{ nextDueAtMs: number | null }> },
  napSignal: () => AbortSignal,
  isClosing: () => boolean,
): Promise<void> {
  const running = new Set<Promise<number>>();
  /** @returns how long nothing is due (milliseconds) */
  const round = async (): Promise<number> => {
    try {
      const { nextDueAtMs } = await worker.runDue();
      return nextDueAtMs === null ? LONGEST_SLEEP_MS : nextDueAtMs - clock.now();
    } catch (error) {
      // One bad round must not end the loop: leases run out, and the next round takes the work up again.
      terminal.note(
        `The worker failed and goes on: ${withoutAddressKeys(messageOf(storageTrouble(error) ?? error))}`,
      );
      return LONGEST_SLEEP_MS;
    }
  };
  while (!isClosing()) {
    // Taken before the round: what is posted during it cuts the nap after it short.
    const nap = napSignal();
    const begun = round();
    running.add(begun);
    void begun.then(() => running.delete(begun));
    const inTime = new AbortController();
    const slow = clock.sleep(SLOW_ROUND_MS, inTime.signal).then(() => 0);
    const untilDue = await Promise.race([begun, ...(running.size < MOST_ROUNDS ? [slow] : running)]);
    inTime.abort();
    if (!isClosing()) await clock.sleep(Math.min(LONGEST_SLEEP_MS, Math.max(20, untilDue)), nap);
  }
  await Promise.all(running);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
