import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { address } from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isProblem } from '../../src/kernel/problems.ts';
import { DEVNET_USDC } from '../../src/solana/cluster.ts';
import { type EmbeddedCluster, openEmbeddedCluster } from '../../src/solana/embedded/open.ts';
import { type Signer, signerFromSeed } from '../../src/solana/signer.ts';
import { associatedTokenAddress, decodeMint } from '../../src/solana/token.ts';
import { buildTransaction } from '../../src/solana/transaction.ts';
import { type ManualClock, manualClock } from '../clock.ts';

const SOL = 1_000_000_000n;
const signer = (n: number): Signer => signerFromSeed(new Uint8Array(32).fill(n));
const alice = signer(1);
const bob = signer(2);

let folder: string;
let path: string;
let clock: ManualClock;
let cluster: EmbeddedCluster;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'farelock-solana-'));
  path = join(folder, 'ledger.db');
  clock = manualClock();
  cluster = await openEmbeddedCluster({ path, clock });
});
afterEach(async () => {
  await cluster.close();
  rmSync(folder, { recursive: true });
});

async function transfer(amount: bigint, options: { from?: Signer; to?: Signer; on?: EmbeddedCluster } = {}) {
  const { from = alice, to = bob, on = cluster } = options;
  return buildTransaction({
    feePayer: from,
    instructions: [getTransferSolInstruction({ source: from, destination: to.address, amount })],
    blockhash: await on.latestBlockhash(),
  });
}
const lamports = async (who: Signer, on = cluster) => (await on.accounts([who.address]))[0]?.lamports ?? 0n;
const refusal = async (promise: Promise<unknown>): Promise<unknown> => {
  const error = await promise.then(
    () => 'it was accepted',
    (reason: unknown) => reason,
  );
  return isProblem(error, 'transaction_failed') ? error.detail?.error : error;
};
const SYSTEM_PROGRAM = address('11111111111111111111111111111111');
/** All the SOL of the ledger that lies in wallets, and the faucet's. */
const walletLamports = (on = cluster) =>
  on.ledger
    .accountsPage({ by: 'owner', is: SYSTEM_PROGRAM }, '', 1000)
    .reduce((sum, account) => sum + account.lamports, 0n);

describe('sending', () => {
  it('moves lamports, charges the fee, and keeps the transaction', async () => {
    await cluster.airdropSol(alice.address, SOL);
    const { wire, signature } = await transfer(SOL / 2n);
    expect(await cluster.send(wire)).toBe(signature);
    expect(await lamports(bob)).toBe(SOL / 2n);
    expect(await lamports(alice)).toBe(SOL / 2n - 5000n);
    expect(await cluster.signatureStatus(signature)).toEqual({ slot: 0n, err: null, confirmation: 'finalized' });
    const kept = await cluster.transaction(signature);
    expect(kept?.transaction).toEqual(wire);
    expect(kept?.logs.at(-1)).toContain('success');
  });

  it('gives USDC to an owner who has no token account yet', async () => {
    await cluster.airdropUsdc(bob.address, 25_000_000n);
    await cluster.airdropUsdc(bob.address, 25_000_000n);
    const account = await associatedTokenAddress(bob.address, DEVNET_USDC);
    expect(await cluster.tokenBalance(account)).toBe(50_000_000n);
    const [mint] = await cluster.accounts([DEVNET_USDC]);
    expect(mint && decodeMint(mint.data)?.supply).toBe(50_000_000n);
    expect(cluster.ledger.transactionCount()).toBe(2);
  });

  it('refuses a transaction with a flipped bit', async () => {
    await cluster.airdropSol(alice.address, SOL);
    const { wire } = await transfer(1_000_000n);
    for (const place of [5, wire.length - 3]) {
      const bad = wire.slice();
      bad[place] = (bad[place] ?? 0) ^ 1;
      expect(await refusal(cluster.send(bad))).toBe('SignatureFailure');
    }
    expect(await lamports(alice)).toBe(SOL);
  });
});

describe('what a signature is worth', () => {
  it('lands once: the same bytes again are answered as the first time and change nothing', async () => {
    await cluster.airdropSol(alice.address, SOL);
    const { wire, signature } = await transfer(10_000_000n);
    expect(await cluster.send(wire)).toBe(signature);
    clock.advance(10 * 60_000);
    expect(await cluster.send(wire)).toBe(signature);
    expect(await lamports(bob)).toBe(10_000_000n);
  });
});

describe('blockhashes', () => {
  it('are good for 150 slots and refused after', async () => {
    await cluster.airdropSol(alice.address, SOL);
    const { wire, lastValidBlockHeight } = await transfer(10_000_000n);
    const late = await transfer(20_000_000n);
    clock.advance(150 * 400);
    expect(await cluster.blockHeight()).toBe(lastValidBlockHeight);
    await cluster.send(wire);
    clock.advance(400);
    expect(await refusal(cluster.send(late.wire))).toBe('BlockhashNotFound');
    expect(await lamports(bob)).toBe(10_000_000n);
  });

  it('of another ledger are refused', async () => {
    const other = await openEmbeddedCluster({ path: join(folder, 'other.db'), clock });
    await cluster.airdropSol(alice.address, SOL);
    const { wire } = await transfer(10_000_000n, { on: other });
    expect(await refusal(cluster.send(wire))).toBe('BlockhashNotFound');
    await other.close();
  });

  it('said to be expired stay so when the clock is set back', async () => {
    await cluster.airdropSol(alice.address, SOL);
    const { wire } = await transfer(10_000_000n);
    clock.advance(151 * 400);
    await cluster.blockHeight();
    clock.advance(-151 * 400);
    expect(await refusal(cluster.send(wire))).toBe('BlockhashNotFound');
  });
});

describe('the slot clock', () => {
  it('goes on after the machine clock was set back, and never back', async () => {
    await cluster.airdropSol(alice.address, SOL);
    clock.advance(3_600_000);
    const height = await cluster.blockHeight();
    const time = await cluster.unixTime();
    clock.advance(-3_600_000);
    const again = await openEmbeddedCluster({ path, clock });
    expect(await again.blockHeight()).toBe(height);
    const first = await transfer(10_000_000n, { on: again });
    await again.send(first.wire);
    clock.advance(8_000);
    expect(await again.blockHeight()).toBeGreaterThan(height);
    expect(await again.unixTime()).toBeGreaterThan(time);
    const second = await transfer(10_000_000n, { on: again });
    expect(second.signature).not.toBe(first.signature);
    await again.send(second.wire);
    expect(await lamports(bob)).toBe(20_000_000n);
    await again.close();
  });

  it('is as the machine clock again once that has caught up', async () => {
    clock.advance(60_000);
    await cluster.blockHeight();
    clock.advance(-60_000);
    await cluster.blockHeight();
    clock.advance(130_000);
    expect(await cluster.unixTime()).toBe(Math.floor(clock.now() / 1000));
  });
});

describe('failures', () => {
  it('a failed preflight lands nothing and charges nothing', async () => {
    await cluster.airdropSol(alice.address, SOL);
    const before = cluster.ledger.transactionCount();
    const { wire, signature } = await transfer(2n * SOL);
    expect(await refusal(cluster.send(wire))).toEqual({ InstructionError: [0, { Custom: 1 }] });
    expect(await lamports(alice)).toBe(SOL);
    expect(await cluster.signatureStatus(signature)).toBeNull();
    expect(cluster.ledger.transactionCount()).toBe(before);
  });

  it('without preflight a failure lands with its error, pays its fee, and stays refused', async () => {
    await cluster.airdropSol(alice.address, SOL);
    const { wire, signature } = await transfer(2n * SOL);
    const landed = await cluster.ledger.submit(wire, { skipPreflight: true });
    expect(landed.err).toEqual({ InstructionError: [0, { Custom: 1 }] });
    expect(await lamports(alice)).toBe(SOL - 5000n);
    expect((await cluster.signatureStatus(signature))?.err).toEqual(landed.err);
    expect(await refusal(cluster.send(wire))).toEqual(landed.err);
  });

  it('a payer without an account never lands, with or without preflight', async () => {
    const { wire } = await transfer(1n);
    expect(await refusal(cluster.send(wire))).toBe('AccountNotFound');
    expect(await refusal(cluster.ledger.submit(wire, { skipPreflight: true }))).toBe('AccountNotFound');
  });

  it('an account left below its rent is refused', async () => {
    await cluster.airdropSol(alice.address, SOL);
    const { wire } = await transfer(10n);
    expect(await refusal(cluster.send(wire))).toEqual({ InsufficientFundsForRent: { account_index: 1 } });
  });
});

describe('the executor', () => {
  it('sees the ledger, not what an earlier execution left in it', async () => {
    const other = await openEmbeddedCluster({ path, clock });
    await cluster.airdropSol(alice.address, SOL);
    await cluster.send((await transfer(SOL / 2n)).wire);
    // Another process takes all of it.
    const all = (await lamports(bob)) - 5000n;
    await other.send((await transfer(all, { from: bob, to: alice, on: other })).wire);
    expect(await lamports(bob)).toBe(0n);
    expect(await refusal(cluster.send((await transfer(5n, { from: bob, to: alice })).wire))).toBe('AccountNotFound');
    await other.close();
  });

  it('leaves nothing behind after a simulation', async () => {
    await cluster.airdropSol(alice.address, SOL);
    const { wire } = await transfer(SOL / 2n);
    const unsigned = wire.slice().fill(0, 1, 65);
    expect((await cluster.simulate(unsigned)).err).toBeNull();
    expect((await cluster.simulate(unsigned, { verifySignatures: true })).err).toBe('SignatureFailure');
    expect((await cluster.simulate(unsigned)).unitsConsumed).toBe(150n);
    expect(await lamports(bob)).toBe(0n);
    await cluster.send(wire);
    expect((await cluster.simulate(wire)).err).toBe('AlreadyProcessed');
    clock.advance(61_000);
    expect((await cluster.simulate(unsigned)).err).toBe('BlockhashNotFound');
  });

  it('keeps the sum of all lamports, but for the fees', async () => {
    const sum = walletLamports();
    await cluster.airdropSol(alice.address, SOL);
    await cluster.send((await transfer(SOL / 3n)).wire);
    expect(walletLamports()).toBe(sum - 2n * 5000n);
  });
});
