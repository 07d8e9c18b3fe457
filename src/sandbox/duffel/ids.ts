import { sha256Hex } from '../../kernel/json.ts';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const NUMBER_WIDTH = 6;
const INDEX_WIDTH = 3;
const PROOF_WIDTH = 9;

/** Ids in the API's form: a prefix and 22 characters of base 62 that begin with four zeros. */
export interface DuffelIds {
  /** A hash of what it names: the same again for the same parts. */
  hashed(prefix: string, ...about: readonly (string | number)[]): string;
  /** Two numbers that can be read back, and a proof that they were written here. */
  numbered(prefix: string, number: number, index?: number): string;
  read(prefix: string, id: string): { readonly number: number; readonly index: number } | null;
}

export function createDuffelIds(seed: string): DuffelIds {
  const digest = (text: string, width: number) =>
    base62(BigInt(`0x${sha256Hex(`farelock sandbox duffel ${seed} ${text}`).slice(0, 30)}`), width);
  const numbered = (prefix: string, number: number, index = 0) =>
    `${prefix}_0000${base62(BigInt(number), NUMBER_WIDTH)}${base62(BigInt(index), INDEX_WIDTH)}${digest(`${prefix} ${number} ${index}`, PROOF_WIDTH)}`;
  return {
    hashed: (prefix, ...about) => `${prefix}_0000${digest([prefix, ...about].join(' '), 18)}`,
    numbered,
    read(prefix, id) {
      const start = prefix.length + 5;
      const number = numberIn(id.slice(start, start + NUMBER_WIDTH));
      const index = numberIn(id.slice(start + NUMBER_WIDTH, start + NUMBER_WIDTH + INDEX_WIDTH));
      return numbered(prefix, number, index) === id ? { number, index } : null;
    },
  };
}

/** The last `width` digits of a number. */
function base62(value: bigint, width: number): string {
  let text = '';
  for (let rest = value; text.length < width; rest /= 62n) text = DIGITS.charAt(Number(rest % 62n)) + text;
  return text;
}

/** 0 for what holds another character: its proof is wrong then. */
const numberIn = (text: string): number =>
  [...text].reduce((value, digit) => value * 62 + Math.max(0, DIGITS.indexOf(digit)), 0);
