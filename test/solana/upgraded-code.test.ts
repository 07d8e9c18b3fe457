import type { Instruction } from '@solana/kit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Deployment } from '../../src/escrow/deployment/plan.ts';
import { carryOut } from '../../src/escrow/deployment/steps.ts';
import { escrowElf } from '../../src/escrow/elf.ts';
import type { EmbeddedCluster } from '../../src/solana/embedded/open.ts';
import { closeBuffer, programDataOf } from '../../src/solana/loader.ts';
import { buildTransaction } from '../../src/solana/transaction.ts';
import { agreeableElf, openScene, payer } from '../escrow/deployment/scene.ts';

/** Two processes on one ledger, one of which replaces a program that the other has run before. */

let scene: Awaited<ReturnType<typeof openScene>>;
let other: EmbeddedCluster;
beforeEach(async () => {
  scene = await openScene();
  other = await scene.open();
});
afterEach(async () => {
  await other.close();
  await scene.close();
});

const portsOf = (cluster: EmbeddedCluster) => ({
  cluster,
  clock: { now: scene.clock.now, sleep: async (ms: number) => scene.clock.advance(ms) },
  noteBufferUntil: () => undefined,
});

/** A call that the escrow program refuses, and the agreeable one takes. */
async function call(cluster: EmbeddedCluster, { program }: Deployment, how: 'send' | 'simulate' = 'send') {
  scene.clock.advance(1_000);
  const instructions: Instruction[] = [{ programAddress: program, accounts: [], data: Uint8Array.of(99) }];
  const blockhash = await cluster.latestBlockhash();
  const { wire } = buildTransaction({ feePayer: payer, instructions, blockhash });
  if (how === 'simulate') return (await cluster.simulate(wire)).err === null ? 'taken' : 'refused';
  return cluster.send(wire).then(
    () => 'taken',
    () => 'refused',
  );
}

test('the code that runs is the one that the ledger names, whoever has replaced it', async () => {
  const first = scene.deployment({ elf: agreeableElf() });
  await carryOut(portsOf(scene.cluster), first);
  expect([await call(scene.cluster, first), await call(other, first)]).toEqual(['taken', 'taken']);
  await carryOut(portsOf(other), scene.upgradeOf(first, escrowElf()));
  expect([await call(other, first), await call(scene.cluster, first)]).toEqual(['refused', 'refused']);
  await carryOut(portsOf(scene.cluster), scene.upgradeOf(first, agreeableElf()));
  expect([await call(other, first, 'simulate'), await call(scene.cluster, first, 'simulate')]).toEqual([
    'taken',
    'taken',
  ]);
});

test('an upgrade that is only tried out changes nothing, for nobody', async () => {
  const first = scene.deployment({ elf: agreeableElf() });
  await carryOut(portsOf(scene.cluster), first);
  await call(scene.cluster, first);
  const upgrade = scene.upgradeOf(first, escrowElf());
  const dry: EmbeddedCluster = {
    ...scene.cluster,
    async send(wire) {
      // All but the last.
      if ((await scene.cluster.accounts([upgrade.buffer.address]))[0] === null || !(await isWritten(upgrade)))
        return scene.cluster.send(wire);
      expect((await scene.cluster.simulate(wire)).err).toBeNull();
      throw new Error('tried out');
    },
  };
  await expect(carryOut(portsOf(dry), upgrade)).rejects.toThrow('tried out');
  expect([await call(scene.cluster, first), await call(other, first)]).toEqual(['taken', 'taken']);
});

test('a program whose code was closed runs no more, and says so', async () => {
  const first = scene.deployment({ elf: agreeableElf() });
  await carryOut(portsOf(scene.cluster), first);
  expect(await call(other, first)).toBe('taken');
  const programData = await programDataOf(first.program);
  const close = closeBuffer(programData, payer.address, payer.address);
  await scene.send([{ ...close, accounts: [...(close.accounts ?? []), { address: first.program, role: 1 }] }]);
  expect(scene.lamports(programData)).toBe(0n);
  expect([await call(other, first), await call(scene.cluster, first)]).toEqual(['refused', 'refused']);
});

const isWritten = async ({ buffer, elf }: Deployment): Promise<boolean> => {
  const held = scene.cluster.ledger.account(buffer.address)?.data.subarray(37);
  return held !== undefined && Buffer.compare(held, elf) === 0;
};
