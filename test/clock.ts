import { join } from 'node:path';
import { type Clock, systemClock } from '../src/kernel/clock.ts';
import { isProof } from './rounds.ts';

/**
 * The clock of every test that looks at the sandbox's world, whatever the machine's says: the world of the same seed at
 * the same moment is the same. test/sim/calendar.test.ts asks whether other moments would do as well.
 */
export const WORLD_STARTS_MS = Date.UTC(2026, 10, 21, 9);

let startedNs = process.hrtime.bigint();

/** The world begins again: for the next file of tests, which may run in the same process. */
export function restartWorldClock(): void {
  startedNs = process.hrtime.bigint();
}

/** Runs on from `startsMs`, by a clock that nobody sets: not by the machine's calendar. */
export const clockFrom = (startsMs: number): Clock => ({
  now: () => startsMs + Number((process.hrtime.bigint() - startedNs) / 1_000_000n),
  sleep: systemClock.sleep,
});

export const worldClock = clockFrom(WORLD_STARTS_MS);

/** The clock that `moved-clock.cjs` gives a process of this environment: for the same command in this process. */
export function clockOf(env: Readonly<Record<string, string | undefined>>): Clock {
  const speed = Number(env.TEST_CLOCK_SPEED ?? 1);
  const startsMs = Number(env.TEST_CLOCK_STARTS_MS ?? WORLD_STARTS_MS);
  return {
    now: () => startsMs + Math.floor((Number(process.hrtime.bigint() - startedNs) * speed) / 1e6),
    sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
  };
}

/** The clock of the world for a test that waits for nobody but the clock: who sleeps wakes at once, and it is later. */
export function hastyClock(): Clock {
  let aheadMs = 0;
  return {
    now: () => worldClock.now() + aheadMs,
    async sleep(ms, signal) {
      if (signal?.aborted) return;
      aheadMs += ms;
      await worldClock.sleep(1, signal);
    },
  };
}

export interface ManualClock extends Clock {
  /** Moves time forward and wakes what slept until then. */
  advance(ms: number): void;
  set(nowMs: number): void;
}

/** A clock that stands still until it is moved. `sleep` returns once `advance` has passed its deadline. */
export function manualClock(startMs = Date.UTC(2026, 10, 21, 9, 0, 0)): ManualClock {
  let nowMs = startMs;
  const sleepers = new Set<{ at: number; wake: () => void }>();
  const wakeDue = () => {
    for (const sleeper of [...sleepers]) {
      if (sleeper.at > nowMs) continue;
      sleepers.delete(sleeper);
      sleeper.wake();
    }
  };
  return {
    now: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (ms <= 0 || signal?.aborted) return resolve();
        const sleeper = { at: nowMs + ms, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          resolve();
        });
      }),
    advance: (ms) => {
      nowMs += ms;
      wakeDue();
    },
    set: (ms) => {
      nowMs = ms;
      wakeDue();
    },
  };
}

/** For Node processes that agree on the time among themselves: what takes a minute takes a few seconds. */
export const fastClockEnv = (times: number) => ({ TEST_CLOCK_SPEED: String(isProof ? 1 : times) });

/** For a Node process that a test starts, and all that it starts: the same clock. */
export const worldClockEnv = {
  NODE_OPTIONS: `--require ${JSON.stringify(join(import.meta.dirname, 'moved-clock.cjs'))}`,
  TEST_CLOCK_STARTS_MS: String(WORLD_STARTS_MS),
  get TEST_CLOCK_STARTED_NS() {
    return String(startedNs);
  },
};
