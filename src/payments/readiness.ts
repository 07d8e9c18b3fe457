import type { Address } from '@solana/kit';
import { problem } from '../kernel/problems.ts';
import type { Cluster, Faucet } from '../solana/cluster.ts';
import { signPriced } from '../solana/priced.ts';
import type { Signer } from '../solana/signer.ts';
import { associatedTokenAddress } from '../solana/token.ts';

const SOL = 1_000_000_000n;
/** What authority and facilitator have to hold before a service starts on a cluster without a faucet. */
export const LEAST_LAMPORTS = SOL / 2n;

/**
 * What must be true on the cluster before a payment can be taken: the operator's keys can pay fees and rents, and the
 * treasury has a token account, since an x402 payment goes to an account that exists. On the embedded cluster the
 * faucet sees to the fees; on a real one the operator does, and is told.
 * @throws Problem `insufficient_funds` on a real cluster whose keys hold too little.
 */
export async function readyForMoney(options: {
  readonly cluster: Cluster;
  readonly faucet: Faucet | null;
  readonly authority: Signer;
  readonly facilitator: Address;
  readonly treasury: Address;
  readonly mint: Address;
}): Promise<void> {
  const { cluster, faucet, authority, facilitator, treasury, mint } = options;
  const treasuryAccount = await associatedTokenAddress(treasury, mint);
  const [authorityAccount, facilitatorAccount, tokens] = await cluster.accounts([
    authority.address,
    facilitator,
    treasuryAccount,
  ]);
  for (const [address, account] of [
    [authority.address, authorityAccount],
    [facilitator, facilitatorAccount],
  ] as const) {
    if ((account?.lamports ?? 0n) >= LEAST_LAMPORTS) continue;
    if (faucet) await faucet.airdropSol(address, 1000n * SOL);
    else {
      throw problem('insufficient_funds', {
        message: `The operator key ${address} holds less than 0.5 SOL for fees and rents.`,
        fix: `Send SOL to ${address}, then start again.`,
      });
    }
  }
  if (tokens) return;
  // Once in the life of a treasury: no later start loads it.
  const { getCreateAssociatedTokenIdempotentInstruction } = await import('@solana-program/token');
  const create = getCreateAssociatedTokenIdempotentInstruction({
    payer: authority,
    ata: treasuryAccount,
    owner: treasury,
    mint,
  });
  const { wire } = await signPriced(cluster, { feePayer: authority, instructions: [create] });
  await cluster.send(wire);
}
