import { AccountState, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { beforeEach, expect, test } from 'vitest';
import { observeEscrow } from '../../src/escrow/account.ts';
import { ESCROW_PROGRAM_ID } from '../../src/escrow/address.ts';
import { captureInstructions, refundInstructions, sweepInstructions } from '../../src/escrow/program.ts';
import { type OpenEscrow, openEscrow } from './program-scene.ts';
import { createWorld, tokenData, type World } from './program-world.ts';

/** The lists of instructions that a server sends, chosen by what it observed just before. */

const AMOUNT = 1_000n;
let world: World;
beforeEach(async () => {
  world = await createWorld();
});

const partiesOf = ({ escrow, refundOwner, treasury }: OpenEscrow) => ({
  programId: ESCROW_PROGRAM_ID,
  authority: world.authority.address,
  payer: world.authority.address,
  mint: world.mint,
  escrow,
  treasury,
  refundOwner,
});
const observe = (escrow: OpenEscrow) => observeEscrow(world.cluster, { ...escrow, mint: world.mint });

test('what is observed is the balance, the excess and whether the refund account can take money', async () => {
  const escrow = await openEscrow(world, 'int_1', { amount: AMOUNT, pays: AMOUNT + 3n });
  const usable = { held: AMOUNT + 3n, excess: 3n, refundAccount: 'usable', escrow: { state: 'open' } };
  expect(await observe(escrow)).toMatchObject(usable);
  await world.send([escrow.captureAndLeave], world.authority);
  expect(await observe(escrow)).toMatchObject({ held: 3n, excess: 3n, escrow: { state: 'captured' } });
  await world.send([escrow.sweep]);
  expect(await observe(escrow)).toMatchObject({ held: 0n, excess: 0n });

  const { mint, traveller, stranger } = world;
  for (const [data, refundAccount] of [
    [tokenData(mint, traveller.address, 0n, { state: AccountState.Frozen }), 'unusable'],
    [tokenData(mint, stranger.address, 0n), 'unusable'],
    [new Uint8Array(), 'missing'],
  ] as const) {
    world.put(escrow.refundAccount, TOKEN_PROGRAM_ADDRESS, data);
    expect(await observe(escrow)).toMatchObject({ refundAccount });
  }
});

test('a refund owner cannot stop a capture by making his token account unusable', async () => {
  const escrow = await openEscrow(world, 'int_1', { amount: AMOUNT, pays: AMOUNT + 1n });
  const givenAway = tokenData(world.mint, world.stranger.address, 0n);
  world.put(escrow.refundAccount, TOKEN_PROGRAM_ADDRESS, givenAway);
  expect((await world.send([escrow.capture], world.authority)).result).toBe(130);
  const list = await captureInstructions({ ...partiesOf(escrow), observed: await observe(escrow) });
  expect((await world.send(list, world.authority)).result).toBe('ok');
  expect(world.tokensOf(escrow.treasuryAccount)).toBe(AMOUNT);
  expect(world.tokensOf(escrow.vault)).toBe(1n);
  expect(world.tokensOf(escrow.refundAccount)).toBe(0n);

  // He still gets it, into another token account of his.
  const second = await world.walletOf(world.bank.address, world.otherMint);
  world.putToken(second, escrow.refundOwner, 0n);
  const sweep = await sweepInstructions({ ...partiesOf(escrow), refundAccount: second });
  expect((await world.send(sweep, world.authority)).result).toBe('ok');
  expect(world.tokensOf(second)).toBe(1n);
});

test('a capture without an observation is never held up, and leaves the excess', async () => {
  const escrow = await openEscrow(world, 'int_1', { amount: AMOUNT, pays: AMOUNT + 1n });
  expect((await world.send(await captureInstructions(partiesOf(escrow)), world.authority)).result).toBe('ok');
  expect(world.tokensOf(escrow.vault)).toBe(1n);
});

test('the token account of the refund owner is created where money goes to it, and only there', async () => {
  // The bank has no token account yet, so that the operator would pay the rent of one.
  const lists = { capture: captureInstructions, refund: refundInstructions, sweep: sweepInstructions };
  const run = async (intentId: string, pays: bigint, end: keyof typeof lists) => {
    const escrow = await openEscrow(world, intentId, { amount: AMOUNT, refundOwner: world.bank.address, pays });
    const list = await lists[end]({ ...partiesOf(escrow), observed: await observe(escrow) });
    expect((await world.send(list, world.authority)).result).toBe('ok');
    return world.tokensOf(escrow.refundAccount);
  };
  expect(await run('int_1', AMOUNT, 'capture')).toBeNull();
  expect(await run('int_2', 0n, 'refund')).toBeNull();
  expect(await run('int_3', AMOUNT + 4n, 'sweep')).toBe(4n);
  expect(await run('int_4', AMOUNT + 2n, 'capture')).toBe(6n);
  expect(await run('int_5', 1n, 'refund')).toBe(7n);
});

test.each(['capture', 'refund', 'sweep'] as const)('a %s creates a missing refund account', async (end) => {
  const lists = { capture: captureInstructions, refund: refundInstructions, sweep: sweepInstructions };
  const terms = { amount: AMOUNT, refundOwner: world.bank.address, pays: AMOUNT + 1n };
  const escrow = await openEscrow(world, 'int_1', terms);
  const observed = await observe(escrow);
  expect(observed.refundAccount).toBe('missing');
  const list = await lists[end]({ ...partiesOf(escrow), observed });
  expect((await world.send(list, world.authority)).result).toBe('ok');
  expect(world.tokensOf(escrow.refundAccount)).toBe(end === 'refund' ? AMOUNT + 1n : 1n);
});
