import { setTimeout as sleep } from 'node:timers/promises';
import { JsonRpcError } from './wire.ts';

/** The most that a request's calls may cost together, in small reads. */
const MOST_COST = 250;
/** The most for all requests in progress; requests up to `SMALL` are always taken. */
const MOST_AT_ONCE = 500;
const SMALL = 10;
const MOST_ANSWER_BYTES = 8 * 1024 * 1024;

/** The cost of each call at its largest; any other call is one small read. */
const COSTS: Readonly<Record<string, number>> = {
  farelock_airdropUsdc: 5,
  getBlock: 20,
  getBlocks: 100,
  getBlocksWithLimit: 100,
  getLargestAccounts: 100,
  getLeaderSchedule: 100,
  getProgramAccounts: 100,
  getRecentPerformanceSamples: 20,
  getSignaturesForAddress: 10,
  getSlotLeaders: 10,
  getSupply: 100,
  getTokenAccountsByDelegate: 100,
  getTokenAccountsByOwner: 10,
  getTokenLargestAccounts: 100,
  getTransaction: 2,
  requestAirdrop: 5,
  sendTransaction: 5,
  simulateTransaction: 5,
};
/** The parameter values that cost as much as one small read. */
const VALUES_FOR_ONE = 20;
const DEEPEST = 16;

const limitExceeded = (message: string) => new JsonRpcError('limit_exceeded', message);

/** True if JSON is nested deeper than any call of ours, batches included. */
function isNestedDeeply(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const one = text.charCodeAt(at);
    if (one === QUOTE) at = endOfString(text, at);
    else if (one === BRACKET || one === BRACE) depth++;
    else if (one === BRACKET + 2 || one === BRACE + 2) depth--;
    if (depth > DEEPEST) return true;
  }
  return false;
}

const [QUOTE, BACKSLASH, BRACKET, BRACE] = [0x22, 0x5c, 0x5b, 0x7b];

function endOfString(text: string, begin: number): number {
  for (let at = begin + 1; at < text.length; at++) {
    const one = text.charCodeAt(at);
    if (one === BACKSLASH) at++;
    else if (one === QUOTE) return at;
  }
  return text.length;
}

function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, one) => sum + valuesIn(one), 1);
}

function costOf(call: unknown): number {
  if (typeof call !== 'object' || call === null) return 1;
  const { method, params } = call as { method?: unknown; params?: unknown };
  const most = (typeof method === 'string' && Object.hasOwn(COSTS, method) && COSTS[method]) || 1;
  return most + Math.floor(valuesIn(params) / VALUES_FOR_ONE);
}

/** A refusal whose HTTP status says whether retrying is worth it. */
interface TooMuch {
  readonly status: 413 | 429;
  readonly error: JsonRpcError;
}

export function createScales() {
  let atOnce = 0;
  return {
    /** @returns a function that gives the cost back, or a refusal */
    weigh(calls: readonly unknown[]): (() => void) | TooMuch {
      const cost = calls.reduce<number>((sum, call) => sum + costOf(call), 0);
      if (cost > MOST_COST)
        return { status: 413, error: limitExceeded('The request asks for too much at once: send fewer calls.') };
      if (cost > SMALL && atOnce + cost > MOST_AT_ONCE)
        return { status: 429, error: limitExceeded('Too many requests at once: try again in a second.') };
      atOnce += cost;
      return () => {
        atOnce -= cost;
      };
    },
  };
}

export function createMeter() {
  let size = 0;
  return (bytes: number): void => {
    size += bytes;
    if (size > MOST_ANSWER_BYTES)
      throw limitExceeded('The answer is too large: narrow it with filters, a dataSlice or fewer details.');
  };
}

/** Calls that take longer yield the thread. */
const SLICE_MS = 4;

export type Turns = ReturnType<typeof createTurns>;

/** Answers calls side by side in slices, so that heavy batches slow only each other. */
export function createTurns() {
  const waiting: (() => void)[] = [];
  let isTaken = false;
  let beganMs = 0;

  const next = () => {
    const first = waiting.shift();
    isTaken = first !== undefined;
    // setImmediate lets sockets and timers come first.
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
    async run<T>(call: () => T | Promise<T>): Promise<T> {
      await take();
      try {
        return await call();
      } finally {
        next();
      }
    },
    /** Yields within a call once the slice is used up. */
    async breathe(): Promise<void> {
      if (performance.now() - beganMs < SLICE_MS) return;
      next();
      await take();
    },
    /** Waits within a call while others run. */
    async rest(ms: number): Promise<void> {
      next();
      await sleep(ms);
      await take();
    },
  };
}

/** Reads page by page, yielding in between. @param read the page after `last` */
export async function eachPage<T>(
  turns: Turns,
  size: number,
  read: (last: T | undefined) => readonly T[],
  look: (one: T) => void,
): Promise<void> {
  for (let last: T | undefined; ; ) {
    const page = read(last);
    for (const one of page) look(one);
    last = page.at(-1);
    if (page.length < size) return;
    await turns.breathe();
  }
}

/** A notification has no id. */
export interface Call {
  readonly method: string;
  readonly params?: unknown;
  readonly id?: string | number | null;
}

export function isCall(call: unknown): call is Call {
  if (typeof call !== 'object' || call === null || Array.isArray(call)) return false;
  const { jsonrpc, method, id } = call as Record<string, unknown>;
  const isId = id === undefined || id === null || typeof id === 'string' || typeof id === 'number';
  return jsonrpc === '2.0' && typeof method === 'string' && isId;
}

/** Returns undefined if the text is not JSON. Checks nesting first: parsing thousands of levels takes long. */
export function parseJson(text: string): unknown {
  if (isNestedDeeply(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
