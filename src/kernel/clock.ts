/** Time as a port: everything that reads a clock or waits takes one, so that tests move time by hand. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms`, or early when `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done, { once: true });
    }),
};

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

/** An instant as the wire and the database write it: RFC 3339, UTC, milliseconds. */
export const instant = (ms: number): string => new Date(ms).toISOString();
