import { AccountState, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { beforeEach, describe, expect, test } from 'vitest';
import { readEscrow } from '../../src/escrow/account.ts';
import { ESCROW_PROGRAM_ID } from '../../src/escrow/address.ts';
import { type EscrowCheckName, type ExpectedEscrow, isVerified, verifyEscrow } from '../../src/escrow/verify.ts';
import { type OpenEscrow, openEscrow } from './program-scene.ts';
import { createWorld, person, START, tokenData, type World } from './program-world.ts';
import { escrowRefusal, escrowRefusalIn } from './refusals.ts';

let world: World;
let escrow: OpenEscrow;
beforeEach(async () => {
  world = await createWorld();
  escrow = await openEscrow(world, 'int_1', { amount: 1_000n });
});

const told = (change: Partial<ExpectedEscrow> = {}): ExpectedEscrow => ({
  intentId: 'int_1',
  programId: ESCROW_PROGRAM_ID,
  address: escrow.escrow,
  vault: escrow.vault,
  mint: world.mint,
  amount: 1_000n,
  refundOwner: world.traveller.address,
  refundAfter: { min: START, max: escrow.refundAfter },
  authorities: [world.authority.address],
  held: { max: 0n },
  ...change,
});
const verify = (change?: Partial<ExpectedEscrow>) => verifyEscrow({ cluster: world.cluster, ...told(change) });
const failing = async (change?: Partial<ExpectedEscrow>): Promise<EscrowCheckName[]> =>
  (await verify(change)).filter((check) => !check.ok).map((check) => check.check);

describe('verifyEscrow', () => {
  test('says of an escrow that is as told, line by line, that it is', async () => {
    const checks = await verify();
    expect(checks.map(({ check }) => check)).toEqual([
      ...['program', 'address', 'state', 'authority', 'mint', 'amount', 'refund_owner', 'refund_after'],
      ...['vault', 'held'],
    ]);
    expect(isVerified(checks)).toBe(true);
    expect(checks.find(({ check }) => check === 'amount')).toEqual({
      check: 'amount',
      expected: '1000',
      found: '1000',
      ok: true,
    });
  });

  test('finds each term that is not as told, and no other', async () => {
    const stranger = world.stranger.address;
    expect(await failing({ amount: 999n })).toEqual(['amount']);
    expect(await failing({ refundOwner: stranger })).toEqual(['refund_owner']);
    expect(await failing({ authorities: [stranger] })).toEqual(['authority']);
    expect(await failing({ authorities: [stranger, world.authority.address] })).toEqual([]);
    expect(await failing({ authorities: undefined })).toEqual([]);
    expect(await failing({ refundAfter: { min: 0n, max: escrow.refundAfter - 1n } })).toEqual(['refund_after']);
    const late = { min: escrow.refundAfter + 1n, max: 2n ** 60n };
    expect(await failing({ refundAfter: late })).toEqual(['refund_after']);
    expect(await failing({ vault: escrow.refundAccount })).toEqual(['vault']);
    expect(await failing({ intentId: 'int_2' })).toEqual(['address']);
    expect(await failing({ mint: world.otherMint })).toEqual(['mint', 'vault', 'held']);
  });

  test('refuses an escrow of another intent, however good its terms', async () => {
    const other = await openEscrow(world, 'int_2', { amount: 1_000n });
    expect(await failing({ address: other.escrow, vault: other.vault })).toEqual(['address']);
  });

  test('refuses nothing, a wallet, and an escrow of a program that is not known', async () => {
    const nobody = (await person('nobody')).address;
    expect(await failing({ address: nobody })).toEqual(['program', 'address']);
    expect(await failing({ address: world.traveller.address })).toEqual(['program', 'address']);
    expect(await failing({ programId: nobody })).toEqual(['program', 'address']);
    const state = world.found(escrow.escrow);
    world.put(escrow.escrow, nobody, new Uint8Array(state?.data ?? []));
    expect(await failing()).toEqual(['program']);
    expect(await readEscrow(world.cluster, escrow.escrow, [ESCROW_PROGRAM_ID])).toBeNull();
  });

  test('sees what is in the vault, and whether anybody else can reach it', async () => {
    await world.pay(world.traveller, escrow.vault, 400n);
    expect(await failing({ held: { max: 399n } })).toEqual(['held']);
    expect(await failing({ held: { min: 401n } })).toEqual(['held']);
    expect(await failing({ held: { min: 400n, max: 400n } })).toEqual([]);
    expect(await failing({ held: undefined })).toEqual([]);
    const { mint, stranger } = world;
    for (const more of [
      { state: AccountState.Frozen },
      { delegate: stranger.address },
      { closeAuthority: stranger.address },
    ]) {
      world.put(escrow.vault, TOKEN_PROGRAM_ADDRESS, tokenData(mint, escrow.escrow, 0n, more));
      expect(await failing()).toEqual(['held']);
    }
  });

  test('refuses an escrow that has ended', async () => {
    await world.send([escrow.refund], world.authority);
    expect(await failing()).toEqual(['state', 'held']);
  });
});

test('a refusal is read from the error that a cluster gives', () => {
  const refusal = { code: 124, name: 'underfunded', sentence: 'The vault holds less than the amount.' };
  expect(escrowRefusalIn({ InstructionError: [1, { Custom: 124 }] })).toEqual(refusal);
  expect(escrowRefusalIn({ InstructionError: [1, { Custom: 124n }] })).toEqual(refusal);
  for (const other of [
    null,
    'BlockhashNotFound',
    {},
    { InstructionError: [0, 'InvalidArgument'] },
    { InstructionError: [0, { Custom: 17 }] },
    { InstructionError: 'odd' },
  ])
    expect(escrowRefusalIn(other)).toBeNull();
  expect(escrowRefusal(1)).toBeNull();
});
