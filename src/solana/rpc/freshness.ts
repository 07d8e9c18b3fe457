type Level = 'processed' | 'confirmed' | 'finalized';

/** Which levels a newer answer of each makes old: a node's processed slot is never behind its finalized one. */
const AT_LEAST: Readonly<Record<Level, readonly Level[]>> = {
  processed: ['processed', 'confirmed', 'finalized'],
  confirmed: ['confirmed', 'finalized'],
  finalized: ['finalized'],
};

export type Freshness = ReturnType<typeof createFreshness>;

/**
 * Remembers how far the cluster had come, by the slot of its answers, whichever address they came from. Behind one
 * there are often several nodes, and one that lags behind what another said before would take back what is known
 * already.
 */
export function createFreshness() {
  const seen: Record<Level, number> = { processed: 0, confirmed: 0, finalized: 0 };
  return {
    /** The least slot that an answer to this call must be of, as far as is known when it is asked. */
    floor: (level: Level): number => Math.max(...AT_LEAST[level].map((one) => seen[one])),
    saw(level: Level, slot: number): void {
      seen[level] = Math.max(seen[level], slot);
    },
  };
}

/** The level at which a method answers: the one it is asked for, and statuses always at the newest. */
export function levelOf(method: string, params: readonly unknown[]): Level {
  if (method === 'getSignatureStatuses') return 'processed';
  const options = params.at(-1);
  const asked =
    typeof options === 'object' && options !== null && 'commitment' in options ? options.commitment : null;
  return asked === 'finalized' ? 'finalized' : 'confirmed';
}
