import { sha256Hex } from '../../kernel/json.ts';
import { testRoute } from './behaviours.ts';
import type { OfferRequestRecord, WorldOffer } from './books.ts';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const NUMBER_WIDTH = 6;
const INDEX_WIDTH = 3;
const PROOF_WIDTH = 9;

export type DuffelIds = ReturnType<typeof createDuffelIds>;

/** An id is a prefix, four zeros and 18 base-62 characters. */
export function createDuffelIds(seed: string) {
  const digest = (text: string, width: number) =>
    base62(BigInt(`0x${sha256Hex(`farelock sandbox duffel ${seed} ${text}`).slice(0, 30)}`), width);
  /** Two numbers, with a proof that they are ours. */
  const numbered = (prefix: string, number: number, index = 0): string =>
    `${prefix}_0000${base62(BigInt(number), NUMBER_WIDTH)}${base62(BigInt(index), INDEX_WIDTH)}${digest(`${prefix} ${number} ${index}`, PROOF_WIDTH)}`;
  return {
    /** A deterministic hash of the parts. */
    hashed: (prefix: string, ...about: readonly (string | number)[]): string =>
      `${prefix}_0000${spelled(`${seed} ${prefix} ${about.join(' ')}`, 18)}`,
    numbered,
    /** Null without a valid proof. */
    read(prefix: string, id: string): { readonly number: number; readonly index: number } | null {
      const start = prefix.length + 5;
      const number = numberIn(id.slice(start, start + NUMBER_WIDTH));
      const index = numberIn(id.slice(start + NUMBER_WIDTH, start + NUMBER_WIDTH + INDEX_WIDTH));
      return numbered(prefix, number, index) === id ? { number, index } : null;
    },
  };
}

/** A deterministic throw about a text. Not cryptographic, for speed. */
export const diceOf = (about: string, topic: string): number => thrown(`${topic} ${about}`, 0);

function thrown(text: string, start: number): number {
  let hash = 0x811c9dc5 ^ start;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return stirred(hash);
}

function stirred(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Makes digits from two throws about a text. */
function spelled(text: string, width: number): string {
  const lanes = [thrown(text, 0), thrown(text, 0x9e3779b9)];
  return Array.from({ length: width }, (_, at) => {
    const lane = at % 2;
    const next = stirred((lanes[lane] ?? 0) + 0x9e3779b9);
    lanes[lane] = next;
    return DIGITS.charAt(next % 62);
  }).join('');
}

function base62(value: bigint, width: number): string {
  let text = '';
  for (let rest = value; text.length < width; rest /= 62n) text = DIGITS.charAt(Number(rest % 62n)) + text;
  return text;
}

/** Another character counts as 0: the proof then fails. */
const numberIn = (text: string): number =>
  [...text].reduce((value, digit) => value * 62 + Math.max(0, DIGITS.indexOf(digit)), 0);

export const offerIdOf = (ids: DuffelIds, { request, index }: WorldOffer): string =>
  ids.numbered('off', request.number, index);

export const passengerIds = (ids: DuffelIds, { number, passengersOf = number, ages }: OfferRequestRecord): string[] =>
  ages.map((_, position) => ids.numbered('pas', passengersOf, position));

export const segmentIds = (ids: DuffelIds, { request, index, offer }: WorldOffer): string[][] =>
  offer.slices.map(({ segments }, at) =>
    segments.map((_, flight) => ids.hashed('seg', request.number, index, `${at}.${flight}`)),
  );

export const traitOf = ({ slices: [out] }: OfferRequestRecord): string | undefined =>
  out && testRoute(out.origin, out.destination)?.trait;
