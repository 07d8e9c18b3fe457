/**
 * How the searches themselves make a service dearer, and how long one has to wait so that they don't
 * (spec/flight-service.md, Limits: the price grows with the searches completed in the last 60 seconds).
 */

export const WINDOW_MS = 60_000;
/** So many searches within the window make a search dearer by its first price again. */
export const DEARER_AFTER = 10;

/**
 * How long the searches wait for a lower price, milliseconds, when they may cost `most` together; the searching itself
 * takes its own time. It is what shares.ts decides, played through: each search may cost its share of what is left.
 * @param price of one search now, atomic USDC
 */
export function waitFor(searches: number, price: bigint, most: bigint): number {
  const doneAtMs: number[] = [];
  let nowMs = 0;
  let left = most;
  for (let waiting = searches; waiting > 0; waiting--) {
    for (;;) {
      const recent = doneAtMs.filter((at) => at > nowMs - WINDOW_MS);
      const cost = price * BigInt(Math.max(1, Math.ceil(recent.length / DEARER_AFTER)));
      const [oldest] = recent;
      // A total below the price of now is refused before; nobody waits for what waiting cannot change.
      if (cost <= left / BigInt(waiting) || oldest === undefined) {
        left -= cost;
        break;
      }
      nowMs = oldest + WINDOW_MS;
    }
    doneAtMs.push(nowMs);
  }
  return nowMs;
}

/** When a search is worth trying again: as soon as one of ours no longer counts, else after a look around. */
export function nextTryMs(doneAtMs: readonly number[], nowMs: number, elseMs: number): number {
  const counted = doneAtMs.filter((at) => at > nowMs - WINDOW_MS && at <= nowMs);
  if (counted.length === 0) return elseMs;
  return Math.max(SHORTEST_MS, Math.min(...counted) + WINDOW_MS - nowMs);
}

const SHORTEST_MS = 500;

/** `about 2 minutes`, `about 40 seconds`, `a moment` */
export function aboutText(ms: number): string {
  if (ms < 2_000) return 'a moment';
  return ms < 90_000 ? `about ${Math.round(ms / 1000)} seconds` : `about ${Math.round(ms / 60_000)} minutes`;
}
