import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { getTransferSolInstruction } from '@solana-program/system';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { type EmbeddedCluster, openEmbeddedCluster } from '../../src/solana/embedded/open.ts';
import { signerFromSeed } from '../../src/solana/signer.ts';
import { buildTransaction } from '../../src/solana/transaction.ts';
import { buildProgram, type Program } from '../built.ts';
import { proofTest } from '../proof-only.ts';

const bob = signerFromSeed(new Uint8Array(32).fill(200));
let program: Program;

beforeAll(async () => {
  program = await buildProgram('solana/ledger-process.ts');
});
afterAll(() => program.remove());

let folder: string;
let path: string;
const running = new Set<ChildProcess>();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'farelock-processes-'));
  path = join(folder, 'ledger.db');
});
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
  rmSync(folder, { recursive: true });
});

interface Started {
  readonly child: ChildProcess;
  readonly lines: string[];
  /** Resolves once `count` lines were printed. */
  printed(count: number): Promise<void>;
  readonly ended: Promise<void>;
}

function start(...parameters: string[]): Started {
  const child = spawn(process.execPath, [program.path, path, ...parameters], { stdio: ['pipe', 'pipe', 'inherit'] });
  running.add(child);
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout });
  output.on('line', (line) => lines.push(line));
  const ended = once(output, 'close').then(() => void running.delete(child));
  const printed = async (count: number) => {
    while (lines.length < count && running.has(child)) await Promise.race([once(output, 'line'), ended]);
  };
  return { child, lines, printed, ended };
}

const balance = async (cluster: EmbeddedCluster) => (await cluster.accounts([bob.address]))[0]?.lamports ?? 0n;
const amountsOf = (lines: readonly string[]) => lines.map((line) => BigInt(line.split(' ')[1] ?? 0));
const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);

describe('several processes on one ledger', () => {
  proofTest('create it together and send at once to one account: nothing is lost or counted twice', async () => {
    const senders = [1, 2, 3, 4].map((seed) => start('transfers', String(seed), bob.address, '25', '7'));
    await Promise.all(senders.map(({ ended }) => ended));
    const lines = senders.flatMap((sender) => sender.lines);
    expect(lines).toHaveLength(100);
    const cluster = await openEmbeddedCluster({ path, clock: systemClock });
    expect(await balance(cluster)).toBe(sum(amountsOf(lines)));
    // 100 transfers, 4 airdrops.
    expect(cluster.ledger.transactionCount()).toBe(104);
    await cluster.close();
  });

  proofTest('sending the same bytes at the same moment land them once, and each is told that they landed', async () => {
    const cluster = await openEmbeddedCluster({ path, clock: systemClock });
    const alice = signerFromSeed(new Uint8Array(32).fill(1));
    await cluster.airdropSol(alice.address, 1_000_000_000n);
    const senders = [start('send'), start('send'), start('send')];
    await Promise.all(senders.map(({ printed }) => printed(1)));
    const { wire, signature } = buildTransaction({
      feePayer: alice,
      instructions: [getTransferSolInstruction({ source: alice, destination: bob.address, amount: 5_000_000n })],
      blockhash: await cluster.latestBlockhash(),
    });
    for (const { child } of senders) child.stdin?.end(Buffer.from(wire).toString('base64'));
    await Promise.all(senders.map(({ ended }) => ended));
    expect(senders.map(({ lines }) => lines[1])).toEqual([signature, signature, signature]);
    expect(await balance(cluster)).toBe(5_000_000n);
    await cluster.close();
  });

  it('killed with -9 while sending, leave everything that was acknowledged and nothing by halves', async () => {
    for (const [round, acknowledged] of [3, 11, 27].entries()) {
      const sender = start('transfers', String(round + 1), bob.address, '100000', '3');
      await sender.printed(acknowledged);
      sender.child.kill('SIGKILL');
      await sender.ended;
      expect(sender.lines.length).toBeGreaterThanOrEqual(acknowledged);
      const cluster = await openEmbeddedCluster({ path, clock: systemClock });
      for (const line of sender.lines) {
        const [signature = ''] = line.split(' ');
        expect(cluster.ledger.landed(signature)?.err).toBeNull();
      }
      const everything = { beforeSeq: Number.MAX_SAFE_INTEGER, untilSeq: 0, limit: 1_000_000 };
      const metasOf = (address: string) =>
        cluster.ledger.transactionsNaming(address, everything).flatMap(({ signature }) => {
          const meta = cluster.ledger.landed(signature)?.meta;
          return meta ? [meta] : [];
        });
      const received = metasOf(bob.address).map(
        (meta) => BigInt(meta.postBalances[1] ?? 0) - BigInt(meta.preBalances[1] ?? 0),
      );
      expect(await balance(cluster)).toBe(sum(received));
      const payer = signerFromSeed(new Uint8Array(32).fill(round + 1)).address;
      const spent = metasOf(payer)
        .map((meta) => BigInt(meta.postBalances[0] ?? 0) - BigInt(meta.preBalances[0] ?? 0))
        .slice(0, -1); // All but the airdrop, which the faucet pays.
      expect(cluster.ledger.account(payer)?.lamports).toBe(100_000_000_000n + sum(spent));
      await cluster.close();
    }
  });
});
