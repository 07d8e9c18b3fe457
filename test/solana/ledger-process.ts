// Run as a process of its own by processes.test.ts: sends transfers over a shared ledger and prints, for each one
// that was acknowledged, its signature and amount.
import { writeSync } from 'node:fs';
import type { Address } from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { systemClock } from '../../src/kernel/clock.ts';
import { openEmbeddedCluster } from '../../src/solana/embedded/open.ts';
import { signerFromSeed } from '../../src/solana/signer.ts';
import { buildTransaction } from '../../src/solana/transaction.ts';

const [path = '', job = '', ...rest] = process.argv.slice(2);
const cluster = await openEmbeddedCluster({ path, clock: systemClock });
const say = (line: string) => writeSync(1, `${line}\n`);

if (job === 'transfers') {
  const [seed = '1', to = '', count = '1', step = '1'] = rest;
  const from = signerFromSeed(new Uint8Array(32).fill(Number(seed)));
  await cluster.airdropSol(from.address, 100_000_000_000n);
  for (let n = 1; n <= Number(count); n++) {
    const amount = 1_000_000n + BigInt(n) * BigInt(step);
    const { wire, signature } = buildTransaction({
      feePayer: from,
      instructions: [getTransferSolInstruction({ source: from, destination: to as Address, amount })],
      blockhash: await cluster.latestBlockhash(),
    });
    await cluster.send(wire);
    say(`${signature} ${amount}`);
  }
}
if (job === 'send') {
  say('ready');
  for await (const wire of process.stdin) {
    say(await cluster.send(new Uint8Array(Buffer.from(String(wire), 'base64'))));
    break;
  }
}
await cluster.close();
process.exit(0);
