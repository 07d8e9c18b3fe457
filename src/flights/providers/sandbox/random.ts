/**
 * The dice of the sandbox world: a hash of a seed and a few integers, so that every fact can be looked up again in any
 * order by any process. Not cryptographic.
 */
export interface Dice {
  /** A 32-bit unsigned integer. */
  bits(topic: number, ...facts: number[]): number;
  /** A number in [0, 1). */
  unit(topic: number, ...facts: number[]): number;
  /** An integer in [0, count). */
  pick(count: number, topic: number, ...facts: number[]): number;
}

/** What a throw is about: two topics never share a result. */
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
  const bits = (topic: number, ...facts: number[]): number => {
    let hash = mix(start, topic);
    for (const fact of facts) hash = mix(hash, fact);
    return hash;
  };
  return {
    bits,
    unit: (topic, ...facts) => bits(topic, ...facts) / 0x1_0000_0000,
    pick: (count, topic, ...facts) => Math.floor((bits(topic, ...facts) / 0x1_0000_0000) * count),
  };
}

/** One round of a murmur-like finaliser. */
function mix(hash: number, value: number): number {
  let h = Math.imul((hash ^ value) + 0x9e3779b9, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 15), 0xc2b2ae35);
  h ^= h >>> 13;
  return (h ^ Math.imul(h, 0x27d4eb2f)) >>> 0;
}
