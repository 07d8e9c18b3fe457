/** A number from 0 to 1 that follows from a seed and a name: what is drawn for one name never moves another. */
export function drawn(seed: number, name: string): number {
  let a = 0xdeadbeef ^ Math.imul(seed, 0x9e3779b1);
  let b = 0x41c6ce57 ^ seed;
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    a = Math.imul(a ^ code, 2_654_435_761);
    b = Math.imul(b ^ code, 1_597_334_677);
  }
  a = Math.imul(a ^ (a >>> 16), 2_246_822_507) ^ Math.imul(b ^ (b >>> 13), 3_266_489_909);
  b = Math.imul(b ^ (b >>> 16), 2_246_822_507) ^ Math.imul(a ^ (a >>> 13), 3_266_489_909);
  a ^= b >>> 15;
  return (a >>> 0) / 2 ** 32;
}

/** How likely each of several things is to happen; they exclude each other, and most often none does. */
export type Odds = Readonly<Record<string, number>>;

/** What happened at a place that has a name: a fault, a player who takes part. Leaving it out gives another world. */
export interface Change {
  readonly key: string;
  readonly what: string;
  readonly atMs: number;
}

/** Which world is made: all that chance brings with a seed, or only some of it. */
export interface Schedule {
  readonly seed: number;
  /** The keys of the only changes that happen; null: all of them. */
  readonly only: ReadonlySet<string> | null;
  /** false: every step takes the same time. */
  readonly noise: boolean;
}

/**
 * Chance of one world. Each decision has a name of its own (who, what, the how-manieth time) and follows from seed and
 * name alone: a schedule with one change less is the same schedule otherwise, which is what shrinking lives by.
 */
export function createChance({ seed, only, noise }: Schedule, now: () => number) {
  const changes: Change[] = [];
  const counts = new Map<string, number>();
  let isCalm = false;
  /** Each seed has its own weather: of every kind of fault none, the usual, or many. */
  const weather = (kind: string, what: string): number => {
    const fortune = drawn(seed, `weather ${kind} ${what}`);
    return fortune < 0.35 ? 0 : fortune < 0.85 ? 1 : 4;
  };
  const note = (key: string, what: string): void => {
    changes.push({ key, what, atMs: now() });
  };
  return {
    changes,
    /** No more faults: the world comes to rest. */
    calm: () => {
      isCalm = true;
    },
    /** A name for the next time that this happens. */
    numbered(name: string): string {
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      return `${name} ${count}`;
    },
    /** One of the things that can go wrong here, or null. The kind shares its weather among all places. */
    happens(kind: string, name: string, odds: Odds): string | null {
      if (isCalm) return null;
      const key = `${kind}: ${name}`;
      if (only && !only.has(key)) return null;
      let left = drawn(seed, key);
      for (const [what, odd] of Object.entries(odds)) {
        left -= Math.min(1, odd * weather(kind, what));
        if (left >= 0) continue;
        note(key, what);
        return what;
      }
      return null;
    },
    /** True when something takes place in this world at all. */
    takesPart(name: string, odds: number): boolean {
      const key = `cast: ${name}`;
      if (only ? !only.has(key) : drawn(seed, key) >= odds) return false;
      note(key, 'takes part');
      return true;
    },
    /** A number from 0 to 1 for what is not to be shrunk: which route, which amount. */
    part: (name: string): number => drawn(seed, `part ${name}`),
    pick<T>(name: string, among: readonly [T, ...T[]]): T {
      return among[Math.floor(drawn(seed, `part ${name}`) * among.length)] ?? among[0];
    },
    /** How long a step takes, milliseconds. */
    pauseMs: (name: string, mostMs: number): number =>
      noise ? drawn(seed, `pause ${name}`) * mostMs : Math.min(0.1, mostMs),
  };
}

export type Chance = ReturnType<typeof createChance>;
