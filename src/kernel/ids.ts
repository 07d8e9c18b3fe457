import { randomBytes } from 'node:crypto';

/** Crockford's base 32: no I, L, O or U, so that a code survives being read aloud. */
export const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A source of identifiers; tests pass a counted one. */
export interface Ids {
  /** An unguessable id such as `int_01J…`: 48 bits of time, 80 of randomness. */
  next(prefix: IdPrefix): string;
  /**
   * An id of 16 random characters (80 bits) and 16 that spell the first 80 bits of `commit`, which is given the characters
   * before them: an id that proves something without an account that remembers it. Whoever sees the proof can compute the
   * last 16, so that the random ones alone keep it from being guessed.
   */
  committed(prefix: IdPrefix, commit: (start: string) => Uint8Array): string;
  /** A customer support code: `FLK-` and 16 Crockford characters (80 random bits) in groups of four. */
  supportCode(): string;
}

type FlightPrefix = 'int' | 'ord' | 'sch' | 'bkg' | 'aff' | 'ref' | 'req';
type MoneyPrefix = 'quo' | 'pay' | 'eff';
/** Messages, keys, lines of the audit trail, notes; travellers that the tool has saved. */
type CommonPrefix = 'msg' | 'key' | 'aud' | 'nte' | 'trv';
/** Orders, outbound requests, requirements, customer data, attestations, partners, customers. */
type PartnerPrefix = 'rmp' | 'out' | 'rqm' | 'dat' | 'att' | 'par' | 'cus';
type IdPrefix = FlightPrefix | MoneyPrefix | CommonPrefix | PartnerPrefix;

function crockford(bytes: Uint8Array, characters: number): string {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  let text = '';
  for (let i = 0; i < characters; i++) {
    text = CROCKFORD[Number(value & 31n)] + text;
    value >>= 5n;
  }
  return text;
}

export function randomIds(now: () => number = Date.now): Ids {
  return {
    next(prefix) {
      const time = Buffer.alloc(6);
      time.writeUIntBE(now(), 0, 6);
      return `${prefix}_${crockford(Buffer.concat([time, randomBytes(10)]), 26)}`.toLowerCase();
    },
    committed(prefix, commit) {
      const start = `${prefix}_${crockford(randomBytes(10), 16).toLowerCase()}`;
      return start + crockford(commit(start).subarray(0, 10), 16).toLowerCase();
    },
    supportCode() {
      const text = crockford(randomBytes(10), 16);
      return `FLK-${text.match(/.{4}/g)?.join('-')}`;
    },
  };
}
