import { randomBytes } from 'node:crypto';
import type { Instruction } from '@solana/kit';
import { type Cluster, DEVNET_USDC, type Faucet } from '../cluster.ts';
import type { Signer } from '../signer.ts';
import { associatedTokenAddress, MEMO_PROGRAM } from '../token.ts';
import { buildTransaction } from '../transaction.ts';

/** Airdrops are transactions like any other, signed by the faucet's key: they appear in the history. */
export function createFaucet(
  cluster: Pick<Cluster, 'latestBlockhash' | 'send'>,
  faucetKey: () => Signer,
): Faucet {
  const send = async (key: Signer, ...instructions: Instruction[]) => {
    const blockhash = await cluster.latestBlockhash();
    // Two equal airdrops in one slot would else be one transaction, which lands once.
    const memo = { programAddress: MEMO_PROGRAM, data: Buffer.from(randomBytes(8).toString('hex')) };
    const { wire } = buildTransaction({ feePayer: key, instructions: [...instructions, memo], blockhash });
    return cluster.send(wire);
  };
  return {
    async airdropSol(to, lamports) {
      const { getTransferSolInstruction } = await import('@solana-program/system');
      const key = faucetKey();
      return send(key, getTransferSolInstruction({ source: key, destination: to, amount: lamports }));
    },
    async airdropUsdc(owner, amount) {
      const { getCreateAssociatedTokenIdempotentInstruction, getMintToInstruction } = await import(
        '@solana-program/token'
      );
      const ata = await associatedTokenAddress(owner, DEVNET_USDC);
      const key = faucetKey();
      return send(
        key,
        getCreateAssociatedTokenIdempotentInstruction({ payer: key, ata, owner, mint: DEVNET_USDC }),
        getMintToInstruction({ mint: DEVNET_USDC, token: ata, mintAuthority: key, amount }),
      );
    },
  };
}
