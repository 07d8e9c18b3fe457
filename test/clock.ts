import { join } from 'node:path';
import { type Clock, systemClock } from '../src/kernel/clock.ts';

/**
 * The clock of every test that looks at the sandbox's world, whatever the machine's says: the world of the same seed at
 * the same moment is the same. Whether another moment would do as well, test/calendar.test.ts asks.
 */
export const WORLD_STARTS_MS = Date.UTC(2026, 10, 21, 9);

const aheadMs = WORLD_STARTS_MS - Date.now();

/** Runs from the start of the world. */
export const worldClock: Clock = { now: () => Date.now() + aheadMs, sleep: systemClock.sleep };

/** For a Node process that a test starts, and all that it starts: the clock of the world. */
export const worldClockEnv = {
  NODE_OPTIONS: `--require ${JSON.stringify(join(import.meta.dirname, 'moved-clock.cjs'))}`,
  TEST_CLOCK_AHEAD_MS: String(aheadMs),
};
