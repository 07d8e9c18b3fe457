import { chances } from '../../rounds.ts';

/**
 * Breaks good inputs quickly: a corpus of what is right, and a few changes to one of it at a time. The same seed breaks the
 * same inputs in the same way.
 */

/** Words that parsers, databases and people stumble over. */
const WORDS = [
  ...['', ' ', '0', '-0', '-1', '1e309', '9007199254740993', 'NaN', 'null', 'true', '\u0000', '\ufeff', '\u202e'],
  ...[
    '__proto__',
    'constructor',
    'toString',
    "' or 1=1 --",
    '../../etc/passwd',
    '%00',
    '%zz',
    '{{7*7}}',
    '\r\n',
    '\ud800',
  ],
  ...['{', '}', '[', ']', '"', '\\', ',', ':', '#', '--', '-', '/', '?', '=', '&', '*', '1,5', '١', 'İ', 'ß', '𝟙'],
  ...['é'.repeat(40), 'x'.repeat(3_000), '9'.repeat(120), '2026-02-30', '1970-01-01T00:00:00Z', '0x10', '٠', 'Ω'],
] as const;

/** Values of every kind, for a place in JSON. */
const VALUES: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e308, 2 ** 53, '', [], {}, [[]], [null], { a: 1 }, 'LIS', ['LIS'], '0', '-1'],
  ...[{ __proto__: null, toString: 1 }, { length: -1 }, Array.from({ length: 300 }, () => 0), 'x'.repeat(3_000)],
];

const DEEPEST = 12;

export type Mutator = ReturnType<typeof createMutator>;

export function createMutator(seed: number) {
  const chance = chances(seed);
  const upTo = (count: number): number => Math.floor(chance() * count);
  function oneOf<T>(list: readonly T[]): T {
    const found = list[upTo(list.length)];
    if (found === undefined && list.length === 0) throw new Error('nothing to choose from');
    return found as T;
  }

  /** One change of a text: a piece lost, told twice, put elsewhere, replaced, or taken from another text. */
  function change(whole: string, other: string): string {
    const at = upTo(whole.length + 1);
    const to = Math.min(whole.length, at + 1 + upTo(chance() < 0.8 ? 3 : 40));
    const piece = whole.slice(at, to);
    const [head, tail] = [whole.slice(0, at), whole.slice(to)];
    switch (upTo(8)) {
      case 0:
        return head + tail;
      case 1:
        return head + piece + piece + tail;
      case 2:
        return head + oneOf(WORDS) + tail;
      case 3:
        return head + oneOf(WORDS) + piece + tail;
      case 4:
        return head + String.fromCharCode(upTo(chance() < 0.9 ? 128 : 0x1_0000)) + tail;
      case 5:
        return head + other.slice(upTo(other.length + 1));
      case 6:
        return head + [...piece].reverse().join('') + tail;
      default:
        return whole.slice(0, at);
    }
  }

  function text(whole: string, other = whole): string {
    let made = change(whole, other);
    while (chance() < 0.3) made = change(made, other);
    return made;
  }

  function bytes(whole: Uint8Array): Uint8Array<ArrayBuffer> {
    const made = new Uint8Array(whole);
    for (let times = 1 + upTo(8); times > 0 && made.length > 0; times--) made[upTo(made.length)] = upTo(256);
    return chance() < 0.2 ? made.slice(0, upTo(made.length + 1)) : made;
  }

  /** One place in a JSON value changed; `other` lends parts of itself. */
  function json(value: unknown, other: unknown = value, depth = 0): unknown {
    const goesDeeper = depth < DEEPEST && chance() < 0.75;
    if (Array.isArray(value) && value.length > 0 && goesDeeper) {
      const at = upTo(value.length);
      const list = [...(value as unknown[])];
      const how = chance();
      if (how < 0.15) list.splice(at, 1);
      else if (how < 0.3) list.push(list[at]);
      else list[at] = json(list[at], partOf(other), depth + 1);
      return list;
    }
    if (typeof value === 'object' && value !== null && goesDeeper) {
      const fields = Object.entries(value);
      const at = upTo(fields.length);
      const [name, one] = fields[at] ?? ['a', 1];
      const how = chance();
      if (how < 0.15) fields.splice(at, 1);
      else if (how < 0.25) fields.push([oneOf(WORDS), oneOf(VALUES)]);
      else if (how < 0.35) fields[at] = [text(name), one];
      else fields[at] = [name, json(one, partOf(other), depth + 1)];
      // fromEntries defines own properties, also one that is called __proto__.
      return Object.fromEntries(fields);
    }
    if (typeof value === 'string' && chance() < 0.5) return text(value);
    if (typeof value === 'number' && chance() < 0.5) return value + oneOf([1, -1, 0.5, 1e9, -value, value * 1e6]);
    return chance() < 0.3 ? partOf(other) : oneOf(VALUES);
  }

  function partOf(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    const parts = Object.values(value);
    return parts.length === 0 ? value : (parts[upTo(parts.length)] as unknown);
  }

  /** JSON text with one place changed, or, now and then, text that is no JSON any more. */
  function jsonText(whole: string, other: string): string {
    if (chance() < 0.25) return text(whole, other);
    try {
      return JSON.stringify(json(JSON.parse(whole), JSON.parse(other))) ?? '';
    } catch {
      return text(whole, other);
    }
  }

  return { chance, upTo, oneOf, text, bytes, json, jsonText };
}
