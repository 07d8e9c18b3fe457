import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Address, type Instruction, isSolanaError } from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { getTransferInstruction } from '@solana-program/token';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isProblem } from '../../src/kernel/problems.ts';
import { DEVNET_USDC } from '../../src/solana/cluster.ts';
import { type EmbeddedCluster, openEmbeddedCluster } from '../../src/solana/embedded/open.ts';
import { signerFromSeed } from '../../src/solana/signer.ts';
import { associatedTokenAddress, MEMO_PROGRAM } from '../../src/solana/token.ts';
import { blockhashOf, buildTransaction, signatureOf } from '../../src/solana/transaction.ts';
import { manualClock } from '../clock.ts';

const SOL = 1_000_000_000n;
const alice = signerFromSeed(new Uint8Array(32).fill(41));
const bob = signerFromSeed(new Uint8Array(32).fill(42));
const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111' as Address;

let folder: string;
let cluster: EmbeddedCluster;
const clock = manualClock();
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'farelock-runtime-'));
  cluster = await openEmbeddedCluster({ path: join(folder, 'ledger.db'), clock });
  await cluster.airdropSol(alice.address, 10n * SOL);
  await cluster.airdropUsdc(alice.address, 1_000n);
});
afterAll(async () => {
  await cluster.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => clock.advance(400));

const build = async (...instructions: Instruction[]) =>
  buildTransaction({ feePayer: alice, instructions, blockhash: await cluster.latestBlockhash() });
const memo = (text: string): Instruction => ({ programAddress: MEMO_PROGRAM, data: Buffer.from(text) });
function budget(tag: 2 | 3, value: number): Instruction {
  const data = new Uint8Array(tag === 2 ? 5 : 9);
  data[0] = tag;
  new DataView(data.buffer).setUint32(1, value, true);
  return { programAddress: COMPUTE_BUDGET, data };
}

describe('fees', () => {
  const lamports = () => cluster.ledger.account(alice.address)?.lamports ?? 0n;
  it.each([
    ['no budget', []],
    ['a price', [budget(3, 1_000_001)]],
    ['a price and a limit', [budget(3, 777), budget(2, 123_457)]],
    ['a limit above all', [budget(3, 5_000_000), budget(2, 4_000_000_000)]],
  ])('kept with a transaction are what its payer lost: %s', async (name, budgets) => {
    const { wire, signature } = await build(...budgets, memo(name), memo('twice'));
    const before = lamports();
    await cluster.send(wire);
    const fee = BigInt(cluster.ledger.landed(signature)?.meta.fee ?? 0);
    expect(before - lamports()).toBe(fee);
    expect(fee).toBeGreaterThanOrEqual(5000n);
  });
});

describe('what a transaction did', () => {
  it('is kept: inner instructions, token balances, logs', async () => {
    const usdc = await associatedTokenAddress(alice.address, DEVNET_USDC);
    const signature = await cluster.airdropUsdc(bob.address, 5n);
    const meta = cluster.ledger.landed(signature)?.meta;
    expect(meta?.innerInstructions[0]?.instructions.length).toBeGreaterThan(2);
    expect(meta?.preTokenBalances).toEqual([]);
    expect(meta?.postTokenBalances).toMatchObject([{ owner: bob.address, amount: '5', decimals: 6 }]);
    expect(
      cluster.ledger.accountsPage({ by: 'token_owner', is: alice.address }, '', 10).map(({ address }) => address),
    ).toEqual([usdc]);
  });
});

describe('transactions made to do harm', () => {
  it('that were changed anywhere never land, and never end the process', { timeout: 60_000 }, async () => {
    const usdc = await associatedTokenAddress(alice.address, DEVNET_USDC);
    const { wire } = await build(
      getTransferSolInstruction({ source: alice, destination: bob.address, amount: 10_000_000n }),
      getTransferInstruction({ source: usdc, destination: usdc, authority: alice, amount: 1n }),
      budget(2, 200_000),
    );
    const change = fc.record({ at: fc.nat({ max: wire.length - 1 }), to: fc.nat({ max: 255 }) });
    const changes = fc.array(change, { minLength: 1, maxLength: 3 });
    const count = cluster.ledger.transactionCount();
    await fc.assert(
      fc.asyncProperty(changes, fc.nat({ max: 3 }), async (list, cut) => {
        const bad = wire.slice(0, wire.length - cut);
        for (const { at, to } of list) if (at < bad.length) bad[at] = to;
        fc.pre(Buffer.compare(bad, wire) !== 0);
        const refused = await cluster.send(bad).catch((error: unknown) => error);
        expect(isProblem(refused, 'transaction_failed')).toBe(true);
        // Without a look at the signatures it reaches the virtual machine.
        const tried = await cluster.ledger.tryOut(bad, { replaceBlockhash: true }).catch((error: unknown) => error);
        expect(isSolanaError(tried)).toBe(false);
      }),
      { numRuns: 400 },
    );
    expect(cluster.ledger.transactionCount()).toBe(count);
  });

  it('of any bytes are refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 1400 }), async (bytes) => {
        const refused = await cluster.send(bytes).catch((error: unknown) => error);
        expect(isProblem(refused, 'transaction_failed')).toBe(true);
        expect((await cluster.simulate(bytes)).err).toEqual(expect.any(String));
      }),
    );
  });
});

describe('buildTransaction', () => {
  it('gives the signature and the blockhash by which the bytes are known', async () => {
    const blockhash = await cluster.latestBlockhash();
    const built = buildTransaction({ feePayer: alice, instructions: [memo('x')], blockhash });
    expect(signatureOf(built.wire)).toBe(built.signature);
    expect(blockhashOf(built.wire)).toBe(blockhash.blockhash);
    expect(built.lastValidBlockHeight).toBe(blockhash.lastValidBlockHeight);
    expect(await cluster.send(built.wire)).toBe(built.signature);
  });

  it('refuses to go on without a signer that is needed, or beyond the size of a packet', async () => {
    const foreign = getTransferSolInstruction({ source: bob, destination: alice.address, amount: 1n });
    await expect(build(foreign)).rejects.toThrow(bob.address);
    await expect(build(memo('x'.repeat(1300)))).rejects.toThrow('bytes');
  });
});
