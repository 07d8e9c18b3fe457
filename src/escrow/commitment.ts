import { createHash } from 'node:crypto';
import { type Address, getAddressEncoder } from '@solana/kit';
import { CROCKFORD } from '../kernel/ids.ts';

/**
 * An intent id names its refund owner: `int_`, ten random characters, and 16 that commit to him (program/commitment.h).
 * When an escrow was closed, no account on chain knows any more who gets what arrives late; its id still proves it.
 */

const TAG = 'farelock refund owner';
const FORM = new RegExp(`^int_[${CROCKFORD.toLowerCase()}]{26}$`);
const NONCE = 'int_'.length + 10;

/**
 * The bytes that the last 16 characters of an intent id spell (their first 80 bits).
 * @param start the first 14 characters of the id
 */
export function refundCommitment(start: string, refundOwner: Address): Uint8Array {
  const hash = createHash('sha256').update(TAG).update(start, 'latin1');
  return new Uint8Array(hash.update(new Uint8Array(getAddressEncoder().encode(refundOwner))).digest());
}

/** Checks that an intent id names this refund owner. Ids that were made before 0.2 name nobody. */
export function commitsTo(intentId: string, refundOwner: Address): boolean {
  if (!FORM.test(intentId)) return false;
  const bits = [...intentId.slice(NONCE)].map((one) => CROCKFORD.indexOf(one.toUpperCase()));
  const hash = refundCommitment(intentId.slice(0, NONCE), refundOwner);
  return bits.every((value, place) => {
    const bit = 5 * place;
    const pair = ((hash[bit >> 3] ?? 0) << 8) | (hash[(bit >> 3) + 1] ?? 0);
    return ((pair >> (11 - (bit & 7))) & 31) === value;
  });
}
