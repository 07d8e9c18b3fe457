import { createHash } from 'node:crypto';
import { type Address, getAddressEncoder } from '@solana/kit';
import { CROCKFORD } from '../kernel/ids.ts';
import { associatedTokenAddress, derivedAddress } from '../solana/index.ts';

/** The address of program/escrow.so on the embedded cluster; its key was discarded. Deployments have their own. */
export const ESCROW_PROGRAM_ID = 'FLKFgRHGErf3EwbLdxVUrACXZDrAhmgJmjawBzvQGq7B' as Address;

export const intentHashOf = (intentId: string): Uint8Array =>
  new Uint8Array(createHash('sha256').update(chainBytes(intentId)).digest());

/** The state account of an intent, its `payTo`: PDA of `["escrow", sha256(bytes of its id)]` (docs/escrow.md). */
export async function escrowPlace(intentHash: Uint8Array, programId: Address) {
  const key = Buffer.from(intentHash).toString('hex');
  const [address, bump] = await derivedAddress(programId, key, () => ['escrow', intentHash]);
  return { address, bump, intentHash };
}

export async function escrowAddress(
  intentId: string,
  { mint, programId }: { readonly mint: Address; readonly programId: Address },
) {
  const place = await escrowPlace(intentHashOf(intentId), programId);
  return { ...place, vault: await associatedTokenAddress(place.address, mint) };
}

/**
 * An intent id is `int_`, 16 random characters and 16 that commit to its refund owner (program/commitment.h): after the
 * escrow is closed the id still proves who gets late money. The program takes 30 bytes: `int_`, the ten bytes that the
 * random characters spell, and the last 16. Ids of release 0.2, with ten random characters, are these bytes themselves.
 */

const TAG = 'farelock refund owner';
const DIGIT = `[${CROCKFORD.toLowerCase()}]`;
const FORM = new RegExp(`^(?<nonce>int_(?<random>${DIGIT}{16}|${DIGIT}{10}))(?<commitment>${DIGIT}{16})$`);
const RANDOM_CHARACTERS = 16;

/** Encodes an intent id as on chain, where the escrow's address is made of the hash of these bytes. */
export function chainBytes(intentId: string): Uint8Array {
  const { nonce, commitment } = FORM.exec(intentId)?.groups ?? {};
  if (nonce === undefined || commitment === undefined) return Buffer.from(intentId, 'utf8');
  return Buffer.concat([nonceBytes(nonce), Buffer.from(commitment, 'latin1')]);
}

/** Encodes the start of an id, up to its commitment, in 14 bytes. */
function nonceBytes(start: string): Uint8Array {
  const random = start.slice('int_'.length);
  if (random.length !== RANDOM_CHARACTERS) return Buffer.from(start, 'latin1');
  const value = [...random].reduce((sum, one) => (sum << 5n) | BigInt(CROCKFORD.indexOf(one.toUpperCase())), 0n);
  return Buffer.concat([Buffer.from('int_'), Buffer.from(value.toString(16).padStart(20, '0'), 'hex')]);
}

/** Computes the hash whose first 80 bits end an intent id. @param start the id up to them */
export function refundCommitment(start: string, refundOwner: Address): Uint8Array {
  const hash = createHash('sha256').update(TAG).update(nonceBytes(start));
  return new Uint8Array(hash.update(new Uint8Array(getAddressEncoder().encode(refundOwner))).digest());
}

/** Checks that an intent id names this refund owner. Ids from before 0.2 name no owner. */
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
