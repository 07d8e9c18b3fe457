import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Address, Instruction } from '@solana/kit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { observeEscrow, readEscrow } from '../../src/escrow/account.ts';
import { ESCROW_PROGRAM_ID, escrowAddress } from '../../src/escrow/address.ts';
import { EARLIER_ESCROW_ELFS, escrowElf } from '../../src/escrow/elf.ts';
import {
  captureInstructions,
  capturePartInstruction,
  openInstructions,
  refundInstructions,
} from '../../src/escrow/program.ts';
import { DEVNET_USDC } from '../../src/solana/cluster.ts';
import { type EmbeddedCluster, openEmbeddedCluster } from '../../src/solana/embedded/open.ts';
import { signerFromSeed } from '../../src/solana/signer.ts';
import { buildTransaction } from '../../src/solana/transaction.ts';
import { manualClock } from '../clock.ts';
import { type OpenEscrow, openEscrow } from './program-scene.ts';
import { createWorld, DAY, START } from './program-world.ts';

/** Ledgers of older homes, written by the program of 0.1.0. */

const EARLIER = new URL('./fixtures/escrow-0.1.0.so', import.meta.url);
const key = (n: number) => signerFromSeed(new Uint8Array(32).fill(n));
const [authority, treasury, traveller] = [key(1), key(2), key(3)];
const AMOUNT = 5_000_000n;
const clock = manualClock();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'farelock-upgrade-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (elf: () => Uint8Array, replaces: readonly string[] = []) =>
  openEmbeddedCluster({
    path: join(folder, 'ledger.db'),
    clock,
    programs: [{ address: ESCROW_PROGRAM_ID, elf, replaces }],
  });
const earlier = () => new Uint8Array(readFileSync(EARLIER));
const codeOn = async (cluster: EmbeddedCluster) => (await cluster.accounts([ESCROW_PROGRAM_ID]))[0]?.data;
const send = async (cluster: EmbeddedCluster, instructions: readonly Instruction[]) =>
  cluster.send(
    buildTransaction({ feePayer: authority, instructions, blockhash: await cluster.latestBlockhash() }).wire,
  );

async function openOne(cluster: EmbeddedCluster, intentId: string, pays: bigint) {
  const { address: escrow } = await escrowAddress(intentId, { mint: DEVNET_USDC, programId: ESCROW_PROGRAM_ID });
  await send(
    cluster,
    await openInstructions({
      programId: ESCROW_PROGRAM_ID,
      authority: authority.address,
      payer: authority.address,
      mint: DEVNET_USDC,
      intentId,
      amount: AMOUNT,
      refundAfter: BigInt(Math.floor(clock.now() / 1000)) + 86_400n,
      treasury: treasury.address,
      refundOwner: traveller.address,
    }),
  );
  if (pays > 0n) await cluster.airdropUsdc(escrow, pays);
  return escrow;
}

async function parties(cluster: EmbeddedCluster, escrow: Address) {
  const at = { programId: ESCROW_PROGRAM_ID, escrow, mint: DEVNET_USDC, refundOwner: traveller.address };
  const observed = await observeEscrow(cluster, at);
  const payer = authority.address;
  return { ...at, authority: payer, payer, treasury: treasury.address, observed };
}

test('escrows that an older program opened go on under the one that replaces it, in running processes too', async () => {
  const running = await open(earlier);
  await running.airdropSol(authority.address, 10_000_000_000n);
  await running.airdropUsdc(traveller.address, 0n);
  const [unpaid, paid, booked] = [
    await openOne(running, 'int_unpaid', 1n),
    await openOne(running, 'int_paid', AMOUNT),
    await openOne(running, 'int_booked', AMOUNT),
  ];
  // The older program wants 30 days of every escrow.
  const closes = await refundInstructions({ ...(await parties(running, unpaid)), closes: true });
  await expect(send(running, closes)).rejects.toMatchObject({ code: 'transaction_failed' });

  const renewed = await open(escrowElf, EARLIER_ESCROW_ELFS);
  expect(await codeOn(renewed)).toEqual(escrowElf());
  await send(renewed, closes);
  expect(await readEscrow(renewed, unpaid, [ESCROW_PROGRAM_ID])).toBeNull();
  await send(renewed, await refundInstructions(await parties(renewed, paid)));
  expect(await readEscrow(renewed, paid, [ESCROW_PROGRAM_ID])).toMatchObject({ state: 'refunded', neverFunded: false });
  // A process that had compiled the older code runs the new one from now on.
  const another = await openOne(running, 'int_another', 0n);
  await send(running, await refundInstructions({ ...(await parties(running, another)), closes: true }));
  expect(await readEscrow(running, another, [ESCROW_PROGRAM_ID])).toBeNull();
  await send(running, await captureInstructions(await parties(running, booked)));
  expect(await readEscrow(renewed, booked, [ESCROW_PROGRAM_ID])).toMatchObject({ state: 'captured' });
  await renewed.close();
  await running.close();
});

test.each(['./fixtures/escrow-sbpf0.so', './fixtures/escrow-whole.so'])(
  '%s on a ledger is replaced too, and its escrows go on',
  async (file) => {
    const before = await open(() => new Uint8Array(readFileSync(new URL(file, import.meta.url))));
    await before.airdropSol(authority.address, 10_000_000_000n);
    await before.airdropUsdc(traveller.address, 0n);
    const booked = await openOne(before, 'int_booked', AMOUNT);
    await before.close();
    const renewed = await open(escrowElf, EARLIER_ESCROW_ELFS);
    expect(await codeOn(renewed)).toEqual(escrowElf());
    await send(renewed, await captureInstructions(await parties(renewed, booked)));
    expect(await readEscrow(renewed, booked, [ESCROW_PROGRAM_ID])).toMatchObject({ state: 'captured' });
    await renewed.close();
  },
);

test('intents of the program without captures in part end each way under the one that replaces it', async () => {
  const world = await createWorld();
  const whole = new Uint8Array(readFileSync(new URL('./fixtures/escrow-whole.so', import.meta.url)));
  const { authority: operator } = world;
  const ends = {
    capture: async (escrow: OpenEscrow) => [escrow.capture],
    captureAndLeave: async (escrow: OpenEscrow) => [escrow.captureAndLeave, escrow.sweep],
    part: async (escrow: OpenEscrow) => [capturePartInstruction({ ...escrow, amount: 400n, total: 1_000n })],
    refund: async (escrow: OpenEscrow) => [escrow.refund],
    refundByAnyone: async (escrow: OpenEscrow) => [escrow.refundByAnyone],
  };
  const taken = { capture: 1_000n, captureAndLeave: 1_000n, part: 400n, refund: 0n, refundByAnyone: 0n };
  for (const [name, end] of Object.entries(ends)) {
    world.svm.addProgram(ESCROW_PROGRAM_ID, whole);
    world.at(START);
    const escrow = await openEscrow(world, `int_${name}`, { amount: 1_000n, pays: 1_007n });
    const swept = await openEscrow(world, `int_swept_${name}`, { amount: 1_000n, pays: 1_007n });
    const [part] = await ends.part(escrow);
    expect((await world.send(part ? [part] : [], operator)).result).toBe(101);
    expect((await world.send([swept.capture], operator)).result).toBe('ok');
    swept.reviveVault(3n);

    world.svm.addProgram(ESCROW_PROGRAM_ID, escrowElf());
    const [had, paid] = [world.tokensOf(escrow.treasuryAccount) ?? 0n, world.tokensOf(escrow.refundAccount) ?? 0n];
    if (name === 'refundByAnyone') world.at(START + DAY);
    expect((await world.send(await end(escrow), operator)).result).toBe('ok');
    const captured = taken[name as keyof typeof taken];
    expect((world.tokensOf(escrow.treasuryAccount) ?? 0n) - had).toBe(captured);
    expect((world.tokensOf(escrow.refundAccount) ?? 0n) - paid).toBe(1_007n - captured);
    expect(escrow.read()).toMatchObject({ state: captured > 0n ? 'captured' : 'refunded', captured });
    expect((await world.send([swept.sweep])).result).toBe('ok');
    world.at(START + 31n * DAY);
    expect((await world.send([escrow.close, swept.close], operator)).result).toBe('ok');
    expect([world.found(escrow.escrow), world.found(swept.escrow)]).toEqual([null, null]);
  }
});

test('a program that is not a known earlier one stays: it may be newer than this version', async () => {
  const newer = await open(() => Uint8Array.of(...earlier(), 0));
  const code = await codeOn(newer);
  await newer.close();
  const older = await open(escrowElf, EARLIER_ESCROW_ELFS);
  expect(await codeOn(older)).toEqual(code);
  await older.close();
});
