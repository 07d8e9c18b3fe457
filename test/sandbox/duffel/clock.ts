import type { Clock } from '../../../src/kernel/clock.ts';

/** A clock that goes when it is told to: sleeping moves it. */
export function handClock(startMs = Date.UTC(2026, 10, 22, 12)): Clock & { forward(ms: number): void } {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms;
    },
    forward(ms) {
      nowMs += ms;
    },
  };
}
