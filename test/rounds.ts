/**
 * The two forms of a test that repeats: a short one for the gate, a long one for `npm run proof`. TEST_PROOF says
 * which: unset, the short one; `1`, the long one; `20`, twenty times the long one; `20:7`, with 7 for a seed.
 */
const [times = '', seed = ''] = (process.env.TEST_PROOF ?? '').split(':');

export const isProof = Number(times) > 0;

/** How often to repeat. */
export const rounds = (short: number, long: number): number => (isProof ? Math.ceil(long * Number(times)) : short);

/** Every n-th moment of a process that dies; in the proof each of them. */
export const everyNth = (inGate: number): number => (isProof ? 1 : inGate);

/** What chance begins with: the same in each run, unless the proof was given another. */
export const seedOr = (usual: number): number => (isProof && seed !== '' ? Number(seed) : usual);

/** `0` to `count - 1`, for `test.each`. */
export const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** Chance, from 0 to 1, by mulberry32: the same seed, the same numbers. */
export function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
