import type { Address } from '@solana/kit';
import { associatedTokenAddress, decodeTokenAccount, TOKEN_PROGRAM } from '../solana/index.ts';
import type { EscrowAccount } from './account.ts';
import { type AccountReader, escrowIn } from './account.ts';

/** The facts needed to move the money of an escrow: one reading of three accounts. */
export interface ObservedEscrow {
  /** null: there is none, or it was closed. */
  readonly escrow: EscrowAccount | null;
  /** There is a token account at the vault's address; after the end somebody may have created it again. */
  readonly hasVault: boolean;
  /** Atomic units in the vault; 0 when it does not exist. */
  readonly held: bigint;
  /** The amount that a sweep would move: the excess while open, everything after the end. */
  readonly excess: bigint;
  /** The associated token account of the refund owner. `unusable`: given away, or frozen. */
  readonly refundAccount: 'usable' | 'missing' | 'unusable';
}

/**
 * Reads an escrow, its vault and its refund account, for `captureInstructions`, `refundInstructions` and
 * `sweepInstructions`. Read again for each attempt: anybody may send to the vault at any time.
 * @throws Problem `cluster_failed`
 */
export async function observeEscrow(
  cluster: AccountReader,
  at: { readonly escrow: Address; readonly mint: Address; readonly refundOwner: Address; readonly programId: Address },
): Promise<ObservedEscrow> {
  const [state, vault, refund] = await cluster.accounts([
    at.escrow,
    await associatedTokenAddress(at.escrow, at.mint),
    await associatedTokenAddress(at.refundOwner, at.mint),
  ]);
  const escrow = escrowIn(state, [at.programId]);
  const held = (vault?.owner === TOKEN_PROGRAM && decodeTokenAccount(vault.data)?.amount) || 0n;
  const keeps = escrow?.state === 'open' ? escrow.amount : 0n;
  const token = refund?.owner === TOKEN_PROGRAM ? decodeTokenAccount(refund.data) : null;
  const usable = token?.owner === at.refundOwner && token.state === 'initialized';
  // An address that only holds lamports has no token account yet, and the associated token program can make one.
  const missing = !refund || refund.data.length === 0;
  return {
    escrow,
    hasVault: vault?.owner === TOKEN_PROGRAM,
    held,
    excess: held > keeps ? held - keeps : 0n,
    refundAccount: usable ? 'usable' : missing ? 'missing' : 'unusable',
  };
}
