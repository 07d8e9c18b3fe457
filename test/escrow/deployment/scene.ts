import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Instruction } from '@solana/kit';
import type { Deployment } from '../../../src/escrow/deployment/plan.ts';
import { escrowElf } from '../../../src/escrow/elf.ts';
import { openEmbeddedCluster } from '../../../src/solana/embedded/open.ts';
import { programDataOf } from '../../../src/solana/loader.ts';
import { type Signer, signerFromSeed } from '../../../src/solana/signer.ts';
import { buildTransaction } from '../../../src/solana/transaction.ts';
import { manualClock } from '../../clock.ts';

/** A cluster without the escrow program, and somebody who deploys to it. */

export const SOL = 1_000_000_000n;
const key = (n: number): Signer => signerFromSeed(new Uint8Array(32).fill(n));
export const [payer, stranger] = [key(71), key(72)];

export async function openScene() {
  const folder = mkdtempSync(join(tmpdir(), 'farelock-deploy-'));
  const clock = manualClock();
  const path = join(folder, 'ledger.db');
  const open = () => openEmbeddedCluster({ path, clock });
  const cluster = await open();
  await cluster.airdropSol(payer.address, 10n * SOL);
  let keys = 100;
  return {
    cluster,
    clock,
    /** The same ledger, as another process has it. */
    open,
    balance: () => cluster.ledger.account(payer.address)?.lamports ?? 0n,
    lamports: (address: Signer['address']) => cluster.ledger.account(address)?.lamports ?? 0n,
    /** What all transactions have cost that the payer has sent. */
    fees() {
      const all = cluster.ledger.transactionsNaming(payer.address, {
        beforeSeq: Number.MAX_SAFE_INTEGER,
        untilSeq: 1,
        limit: 10_000,
      });
      return all.reduce((sum, { signature }) => sum + BigInt(cluster.ledger.landed(signature)?.meta.fee ?? 0), 0n);
    },
    deployment(differs: Partial<Deployment> = {}): Deployment {
      const programSigner = key(keys++);
      return {
        kind: 'deploy',
        program: programSigner.address,
        programSigner,
        buffer: key(keys++),
        payer,
        elf: escrowElf(),
        microLamports: 0n,
        isFinal: false,
        ...differs,
      };
    },
    upgradeOf: (deployment: Deployment, elf: Uint8Array): Deployment => ({
      ...deployment,
      kind: 'upgrade',
      programSigner: null,
      buffer: key(keys++),
      elf,
    }),
    codeOf: async ({ program }: Deployment) => cluster.ledger.account(await programDataOf(program))?.data.subarray(45),
    async send(instructions: readonly Instruction[], feePayer = payer, signers: readonly Signer[] = []) {
      const blockhash = await cluster.latestBlockhash();
      return cluster.send(buildTransaction({ feePayer, signers, instructions, blockhash }).wire);
    },
    async close() {
      await cluster.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A program that does nothing, and says that all went well: the shipped one with another beginning. */
export function agreeableElf(): Uint8Array {
  const elf = Buffer.from(escrowElf());
  const codeAt = Number(elf.readBigUInt64LE(120 + 8));
  const entry = codeAt + Number(elf.readBigUInt64LE(24) - 0x1_0000_0000n);
  // r0 = 0; exit
  Buffer.from('b7000000000000009500000000000000', 'hex').copy(elf, entry);
  return new Uint8Array(elf);
}
