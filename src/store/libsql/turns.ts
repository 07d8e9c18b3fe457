/**
 * Turns at one connection, in the order in which they were asked for.
 *
 * A statement runs on the thread that everything runs on, and awaiting it gives nobody else a turn. So whoever takes
 * the connection once a slice of time is used up lets sockets and timers come first: a sweep of many rows stops no
 * request.
 */
export interface Turns {
  /** @returns passes the turn on; further calls do nothing */
  take(): Promise<() => void>;
}

const SLICE_MS = 8;

export function createTurns(): Turns {
  let last: Promise<void> = Promise.resolve();
  const breathe = slices();
  return {
    async take() {
      const before = last;
      let pass: () => void = () => undefined;
      last = new Promise((resolve) => {
        pass = resolve;
      });
      await before;
      await breathe();
      return pass;
    },
  };
}

/** @returns what is called between two pieces of work: it comes back at once, or in the next turn of the event loop */
function slices(): () => Promise<void> | undefined {
  let beganMs: number | null = null;
  const nextTurn = () => {
    beganMs = null;
  };
  return () => {
    const nowMs = performance.now();
    if (beganMs === null) {
      beganMs = nowMs;
      setImmediate(nextTurn);
    } else if (nowMs - beganMs > SLICE_MS) {
      return new Promise((resolve) => setImmediate(resolve));
    }
    return undefined;
  };
}
