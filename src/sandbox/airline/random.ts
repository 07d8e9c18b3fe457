/**
 * The dice of the sandbox world: a hash of a seed and a few integers, so that every fact can be looked up again in any
 * order by any process. Not cryptographic.
 */
export interface Dice {
  /** A 32-bit unsigned integer. */
  bits: Throw;
  /** A number in [0, 1). */
  unit: Throw;
  /** An integer in [0, count). */
  pick(count: number, ...about: Parameters<Throw>): number;
}

/** A topic and the integers that it is about. Not a rest parameter: it is thrown thousands of times in a search. */
type Throw = (topic: number, a?: number, b?: number, c?: number, d?: number, e?: number) => number;

/** Topics of throws: two topics never share a result. */
export const TOPIC = {
  demand: 1,
  slot: 2,
  aircraft: 3,
  weekdays: 4,
  technicalStop: 5,
  terminal: 6,
  codeshare: 7,
  codeshareNumber: 8,
  seller: 9,
  disclosure: 10,
  fare: 11,
  step: 12,
  conditions: 13,
  lifetime: 14,
  brands: 15,
  gateway: 16,
  emissions: 17,
  services: 18,
} as const;

export function createDice(seed: string): Dice {
  let start = 0x811c9dc5;
  for (let i = 0; i < seed.length; i++) start = Math.imul(start ^ seed.charCodeAt(i), 0x01000193);
  const bits: Throw = (topic, a = 0, b = 0, c = 0, d = 0, e = 0) =>
    mix(mix(mix(mix(mix(mix(start, topic), a), b), c), d), e);
  const unit: Throw = (topic, a, b, c, d, e) => bits(topic, a, b, c, d, e) / 0x1_0000_0000;
  return { bits, unit, pick: (count, topic, a, b, c, d, e) => Math.floor(unit(topic, a, b, c, d, e) * count) };
}

/** One round of a murmur-like finaliser. */
function mix(hash: number, value: number): number {
  let h = Math.imul((hash ^ value) + 0x9e3779b9, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 15), 0xc2b2ae35);
  h ^= h >>> 13;
  return (h ^ Math.imul(h, 0x27d4eb2f)) >>> 0;
}
