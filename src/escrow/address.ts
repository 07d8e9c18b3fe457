import { createHash } from 'node:crypto';
import { type Address, getProgramDerivedAddress } from '@solana/kit';
import { associatedTokenAddress } from '../solana/index.ts';
import { chainBytes } from './commitment.ts';

/**
 * Where the embedded cluster carries program/escrow.so. The key behind it was discarded: nobody can upgrade it there.
 * A deployment has an address of its own, and an intent ends at the program that it was opened at: no function of this
 * room takes this one for granted.
 */
export const ESCROW_PROGRAM_ID = 'FLKFgRHGErf3EwbLdxVUrACXZDrAhmgJmjawBzvQGq7B' as Address;

interface EscrowPlace {
  /** The state account; also what an x402 payment names as `payTo`. */
  readonly address: Address;
  readonly bump: number;
  /** sha256 of the bytes that stand for the intent id (commitment.ts). */
  readonly intentHash: Uint8Array;
}

export const intentHashOf = (intentId: string): Uint8Array =>
  new Uint8Array(createHash('sha256').update(chainBytes(intentId)).digest());

/** The state account of an intent: PDA of `["escrow", sha256(bytes of the intent id)]` (docs/escrow.md). */
export async function escrowPlace(intentHash: Uint8Array, programId: Address): Promise<EscrowPlace> {
  const [address, bump] = await getProgramDerivedAddress({ programAddress: programId, seeds: ['escrow', intentHash] });
  return { address, bump, intentHash };
}

/** Where the escrow of an intent is, or will be, and its vault: known before anything is on chain. */
export async function escrowAddress(
  intentId: string,
  { mint, programId }: { readonly mint: Address; readonly programId: Address },
): Promise<EscrowPlace & { readonly vault: Address }> {
  const place = await escrowPlace(intentHashOf(intentId), programId);
  return { ...place, vault: await associatedTokenAddress(place.address, mint) };
}
