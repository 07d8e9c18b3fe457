import { randomBytes } from 'node:crypto';

/** Crockford's base 32 lacks I, L, O and U, so codes survive being read aloud. */
export const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

export interface Ids {
  /** Makes an unguessable id such as `int_01J…`: 48 bits of time, 80 random. */
  next(prefix: IdPrefix): string;
  /**
   * Makes an id of 16 random characters (80 bits) and 16 from `commit`'s hash of them: it proves what was hashed, with
   * nothing stored. Only the random characters keep the id secret: the others can be computed from them.
   */
  committed(prefix: IdPrefix, commit: (start: string) => Uint8Array): string;
  /** Makes a support code: `FLK-` and 16 Crockford characters (80 random bits) in groups of four. */
  supportCode(): string;
}

type FlightPrefix = 'int' | 'ord' | 'sch' | 'bkg' | 'aff' | 'ref' | 'req';
type MoneyPrefix = 'quo' | 'pay' | 'eff';
/** Messages, keys, audit lines, notes; saved travellers and watches. */
type CommonPrefix = 'msg' | 'key' | 'aud' | 'nte' | 'trv' | 'wch';
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

/** The smallest id of a moment: ids made earlier sort before it. */
export function idFrom(prefix: IdPrefix, ms: number): string {
  const time = Buffer.alloc(16);
  time.writeUIntBE(Math.max(0, Math.floor(ms)), 0, 6);
  return `${prefix}_${crockford(time, 26)}`.toLowerCase();
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
