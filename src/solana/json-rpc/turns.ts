import { setTimeout as sleep } from 'node:timers/promises';
import { isNestedDeeply } from './cost.ts';

/** Longer than this nothing holds the thread: whoever asks something else in the meantime is answered in between. */
const SLICE_MS = 4;

/** The one thread, which calls take in turns, a slice each. */
export interface Turns {
  /** Runs a call when its turn comes. */
  run<T>(call: () => T | Promise<T>): Promise<T>;
  /** Within a call, between two steps: lets the others have their turn once the slice is used up. */
  breathe(): Promise<void>;
  /** Within a call: waits for a while, and lets the others have their turns meanwhile. */
  rest(ms: number): Promise<void>;
}

/**
 * Answers calls of many requests side by side, a slice at a time, and between two slices everything else that the
 * process does: twenty heavy batches at once slow each other down, and nothing else.
 */
export function createTurns(): Turns {
  const waiting: (() => void)[] = [];
  let isTaken = false;
  let beganMs = 0;

  const next = () => {
    const first = waiting.shift();
    isTaken = first !== undefined;
    // Not at once: sockets and timers come first.
    if (first) setImmediate(first);
  };
  const take = async () => {
    await new Promise<void>((mine) => {
      waiting.push(mine);
      if (!isTaken) next();
    });
    beganMs = performance.now();
  };

  return {
    async run(call) {
      await take();
      try {
        return await call();
      } finally {
        next();
      }
    },
    async breathe() {
      if (performance.now() - beganMs < SLICE_MS) return;
      next();
      await take();
    },
    async rest(ms) {
      next();
      await sleep(ms);
      await take();
    },
  };
}

/** A JSON-RPC request. Without an id it is a notification. */
export interface Call {
  readonly method: string;
  readonly params?: unknown;
  readonly id?: string | number | null;
}

/** Checks that parsed JSON is one request. */
export function isCall(call: unknown): call is Call {
  if (typeof call !== 'object' || call === null || Array.isArray(call)) return false;
  const { jsonrpc, method, id } = call as Record<string, unknown>;
  const isId = id === undefined || id === null || typeof id === 'string' || typeof id === 'number';
  return jsonrpc === '2.0' && typeof method === 'string' && isId;
}

/** undefined for what is not JSON. Text is looked through first: a parser takes long for what is nested thousands of times. */
export function parseJson(text: string): unknown {
  if (isNestedDeeply(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
