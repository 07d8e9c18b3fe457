import { AccountState, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { beforeAll, describe, expect, test } from 'vitest';
import { AMOUNT, type Attack, codeOf, createAttack } from './program-attack.ts';
import { type OpenEscrow, openEscrow, withAccount } from './program-scene.ts';
import { DAY, START, tokenData, type World } from './program-world.ts';

const _READONLY = 0;
const MONTH = 30n * DAY;

let world: World;
let escrow: OpenEscrow;
let decoys: Attack['decoys'];
let refused: Attack['refused'];
beforeAll(async () => {
  ({ world, escrow, decoys, refused } = await createAttack());
});

describe('what has happened', () => {
  test('a vault that holds a unit less is not captured', async () => {
    const short = await openEscrow(world, 'int_short', { amount: AMOUNT, pays: AMOUNT - 1n });
    await refused('underfunded', short.capture, world.authority);
    await refused('nothing_to_sweep', short.sweep);
    await refused('underfunded', (await openEscrow(world, 'int_none')).capture, world.authority);
  });
  test.each(['capture', 'refund'] as const)('after a %s neither can follow', async (end) => {
    const ended = await openEscrow(world, `int_end_${end}`, { amount: AMOUNT, pays: AMOUNT });
    expect((await world.send([ended[end]], world.authority)).result).toBe('ok');
    for (const revived of [false, true]) {
      // The vault made and paid anew does not make the escrow anew.
      if (revived) ended.reviveVault(AMOUNT);
      await refused('not_open', ended.capture, world.authority);
      await refused('not_open', ended.captureAndLeave, world.authority);
      await refused('not_open', ended.refund, world.authority);
      world.at(START + 2n * DAY);
      await refused('not_open', ended.refundByAnyone);
      world.at(START);
      await refused('already_open', ended.open, world.authority);
    }
  });
  test('two captures, or a capture and a refund, in one transaction change nothing', async () => {
    const twice = await openEscrow(world, 'int_twice', { amount: AMOUNT, pays: 2n * AMOUNT });
    for (const both of [
      [twice.captureAndLeave, twice.captureAndLeave],
      [twice.captureAndLeave, twice.refund],
      [twice.refund, twice.capture],
    ]) {
      const before = world.snapshot([twice.escrow, twice.vault, twice.treasuryAccount, twice.refundAccount]);
      expect((await world.send(both, world.authority)).result).toBe(codeOf('not_open'));
      expect(world.snapshot([twice.escrow, twice.vault, twice.treasuryAccount, twice.refundAccount])).toBe(before);
    }
  });
  test('close waits for the end, for 30 days and for the vault to be gone', async () => {
    await refused('not_ended', escrow.close, world.authority);
    const ended = await openEscrow(world, 'int_close', { amount: AMOUNT, pays: AMOUNT });
    world.at(START + 100n);
    expect((await world.send([ended.refund], world.authority)).result).toBe('ok');
    world.at(START + 99n + MONTH);
    await refused('close_too_early', ended.close, world.authority);
    // A clock that was set back is not a reason to close either.
    world.at(START - MONTH);
    await refused('close_too_early', ended.close, world.authority);
    world.at(START + 100n + MONTH);
    ended.reviveVault(0n);
    await refused('vault_still_there', ended.close, world.authority);
    await refused('wrong_vault', withAccount(ended.close, 2, decoys.nobody), world.authority);
    await refused('wrong_rent_payer', withAccount(ended.close, 3, world.stranger.address), world.authority);
    await refused('wrong_rent_payer', withAccount(ended.close, 3, ended.escrow), world.authority);
    expect((await world.send([ended.sweep, ended.close], world.authority)).result).toBe('ok');
    await refused('state_not_ours', ended.close, world.authority);
    await refused('state_not_ours', ended.capture, world.authority);
    world.at(START);
  });
  test('an ended escrow without a vault has nothing to sweep', async () => {
    const ended = await openEscrow(world, 'int_swept', { amount: AMOUNT });
    await world.send([ended.refund], world.authority);
    await refused('nothing_to_sweep', ended.sweep);
    await refused('wrong_vault', withAccount(ended.sweep, 1, decoys.nobody));
  });
});

test('a frozen account stops the money with the error of the token program, and nothing else changes', async () => {
  const frozen = await openEscrow(world, 'int_frozen', { amount: AMOUNT, pays: AMOUNT });
  world.put(
    frozen.vault,
    TOKEN_PROGRAM_ADDRESS,
    tokenData(world.mint, frozen.escrow, AMOUNT, { state: AccountState.Frozen }),
  );
  const before = world.snapshot([frozen.escrow, frozen.vault]);
  expect((await world.send([frozen.refund], world.authority)).result).toBe(17);
  expect(world.snapshot([frozen.escrow, frozen.vault])).toBe(before);
});
