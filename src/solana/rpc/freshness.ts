export const LEVELS = ['processed', 'confirmed', 'finalized'] as const;
type Level = (typeof LEVELS)[number];

/** Which levels a newer answer of each makes old: a node's processed slot is never behind its finalized one. */
const AT_LEAST: Readonly<Record<Level, readonly Level[]>> = {
  processed: ['processed', 'confirmed', 'finalized'],
  confirmed: ['confirmed', 'finalized'],
  finalized: ['finalized'],
};

/** Slots that healthy nodes may be apart: the life of a blockhash. */
const MOST_APART = 150;
/** No cluster makes slots faster. */
const FASTEST_SLOT_MS = 100;
/** So many other addresses are believed whatever slot they name. */
const ENOUGH_OTHERS = 2;

/** A slot, and when an address first named it. */
interface Reached {
  readonly slot: number;
  readonly atMs: number;
}

interface Place {
  readonly seen: Record<Level, number>;
  reached: Reached | null;
  /** Further than time allows, and said once. */
  leap: Reached | null;
}

/** How far the cluster had come when an address was asked, seen from that address. */
export interface Standing {
  /**
   * What was known when it was asked: the least slot that an answer of this level must be of, for an address that
   * shows by the answer that it has come to `slot`.
   */
  floor(level: Level): (slot?: number) => number;
  saw(level: Level, slot: number): void;
  /** True while nothing tells where this address is, although another one has named a slot. */
  isUnknown(): boolean;
}

export type Freshness = ReturnType<typeof createFreshness>;

/**
 * Remembers how far the cluster had come, by the slots that each address named, also those of transactions: what they
 * changed is to be seen from then on. Behind one there are often several
 * nodes, and one that lags behind what another said before would take back what is known already. A slot that lies
 * further ahead of an address than time allows does not count against it, unless two others name it: else a
 * single address could silence all others with one number.
 */
export function createFreshness(now: () => number) {
  const places: Place[] = [];
  const within = ({ slot, atMs }: Reached): number =>
    slot + MOST_APART + Math.max(0, now() - atMs) / FASTEST_SLOT_MS;

  return {
    /** A place for one more address. */
    join(): Standing {
      const own: Place = { seen: { processed: 0, confirmed: 0, finalized: 0 }, reached: null, leap: null };
      places.push(own);
      const reach = (slot: number): boolean => {
        const here = { slot, atMs: now() };
        const isOrdinary =
          own.reached === null ||
          slot <= within(own.reached) ||
          (own.leap !== null && slot >= own.leap.slot && slot <= within(own.leap));
        own.leap = isOrdinary ? null : here;
        if (isOrdinary && slot > (own.reached?.slot ?? -1)) own.reached = here;
        return isOrdinary;
      };
      return {
        floor(level) {
          const named = (place: Place) => Math.max(...AT_LEAST[level].map((one) => place.seen[one]));
          const ours = named(own);
          const others = places.filter((place) => place !== own).map(named);
          return (slot = 0) => {
            const furthest = Math.max(own.reached ? within(own.reached) : 0, slot + MOST_APART);
            const isBelieved = (claim: number) =>
              claim <= furthest || others.filter((other) => other >= claim).length >= ENOUGH_OTHERS;
            return Math.max(ours, ...others.filter(isBelieved));
          };
        },
        saw(level, slot) {
          if (reach(slot)) own.seen[level] = Math.max(own.seen[level], slot);
        },
        isUnknown: () => own.reached === null && places.some(({ reached }) => reached !== null),
      };
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
