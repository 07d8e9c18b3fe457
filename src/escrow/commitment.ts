import { createHash } from 'node:crypto';
import { type Address, getAddressEncoder } from '@solana/kit';
import { CROCKFORD } from '../kernel/ids.ts';

/**
 * An intent id names its refund owner: `int_`, 16 random characters, and 16 that commit to him (program/commitment.h).
 * When an escrow was closed, no account on chain knows any more who gets what arrives late; its id still proves it.
 *
 * The program takes 30 bytes: `int_`, ten that it reads as they are, and the 16 characters. The random characters spell
 * ten bytes, so those stand there. The chain shows the owner and a hash of the 30 bytes: what is left to guess are 80 bits.
 * Ids of 0.2 are the 30 bytes themselves, with ten random characters in them.
 */

const TAG = 'farelock refund owner';
const DIGIT = `[${CROCKFORD.toLowerCase()}]`;
const FORM = new RegExp(`^(?<nonce>int_(?<random>${DIGIT}{16}|${DIGIT}{10}))(?<commitment>${DIGIT}{16})$`);
const RANDOM_CHARACTERS = 16;

/** The bytes that stand for an intent id on chain, where the escrow's address is made of their hash. */
export function chainBytes(intentId: string): Uint8Array {
  const { nonce, commitment } = FORM.exec(intentId)?.groups ?? {};
  if (nonce === undefined || commitment === undefined) return Buffer.from(intentId, 'utf8');
  return Buffer.concat([nonceBytes(nonce), Buffer.from(commitment, 'latin1')]);
}

/** The first 14 bytes that stand for an id: of what comes before its commitment. */
function nonceBytes(start: string): Uint8Array {
  const random = start.slice('int_'.length);
  if (random.length !== RANDOM_CHARACTERS) return Buffer.from(start, 'latin1');
  const value = [...random].reduce((sum, one) => (sum << 5n) | BigInt(CROCKFORD.indexOf(one.toUpperCase())), 0n);
  return Buffer.concat([Buffer.from('int_'), Buffer.from(value.toString(16).padStart(20, '0'), 'hex')]);
}

/**
 * The bytes that the last 16 characters of an intent id spell (their first 80 bits).
 * @param start the characters before them
 */
export function refundCommitment(start: string, refundOwner: Address): Uint8Array {
  const hash = createHash('sha256').update(TAG).update(nonceBytes(start));
  return new Uint8Array(hash.update(new Uint8Array(getAddressEncoder().encode(refundOwner))).digest());
}

/** Checks that an intent id names this refund owner. Ids that were made before 0.2 name nobody. */
export function commitsTo(intentId: string, refundOwner: Address): boolean {
  const { nonce, commitment } = FORM.exec(intentId)?.groups ?? {};
  if (nonce === undefined || commitment === undefined) return false;
  const bits = [...commitment].map((one) => CROCKFORD.indexOf(one.toUpperCase()));
  const hash = refundCommitment(nonce, refundOwner);
  return bits.every((value, place) => {
    const bit = 5 * place;
    const pair = ((hash[bit >> 3] ?? 0) << 8) | (hash[(bit >> 3) + 1] ?? 0);
    return ((pair >> (11 - (bit & 7))) & 31) === value;
  });
}
