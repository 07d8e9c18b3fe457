import type { Address, Instruction } from '@solana/kit';
import { AccountState, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { Rent } from 'litesvm';
import { beforeAll, describe, expect, test } from 'vitest';
import { ESCROW_PROGRAM_ID, escrowAddress } from '../../src/escrow/address.ts';
import { openInstruction, openInstructions } from '../../src/escrow/program.ts';
import { AMOUNT, type Attack, createAttack } from './program-attack.ts';
import { type OpenEscrow, openEscrow, withAccount, withData, withFirst, withMore } from './program-scene.ts';
import { DAY, person, START, SYSTEM_PROGRAM, tokenData, type World } from './program-world.ts';

const READONLY = 0;
const WRITABLE = 1;

let world: World;
let escrow: OpenEscrow;
let decoys: Attack['decoys'];
let refused: Attack['refused'];
beforeAll(async () => {
  ({ world, escrow, decoys, refused } = await createAttack());
});

describe('open', () => {
  let fresh: { readonly open: Instruction; readonly vault: Address; readonly escrow: Address };
  const terms = () => ({
    authority: world.authority.address,
    payer: world.authority.address,
    mint: world.mint,
    amount: AMOUNT,
    refundAfter: START + DAY,
    treasury: world.treasury.address,
    refundOwner: world.traveller.address,
  });
  const openWith = async (change: Partial<ReturnType<typeof terms>>) => {
    const place = await escrowAddress('int_fresh', { mint: world.mint, programId: ESCROW_PROGRAM_ID });
    return openInstruction({
      programId: ESCROW_PROGRAM_ID,
      ...terms(),
      ...change,
      escrow: place.address,
      vault: place.vault,
      intentHash: place.intentHash,
    });
  };

  beforeAll(async () => {
    const place = await escrowAddress('int_fresh', { mint: world.mint, programId: ESCROW_PROGRAM_ID });
    const [createVault] = await openInstructions({ programId: ESCROW_PROGRAM_ID, ...terms(), intentId: 'int_fresh' });
    if (!createVault) throw new Error('no instruction');
    expect((await world.send([createVault], world.authority)).result).toBe('ok');
    fresh = { open: await openWith({}), vault: place.vault, escrow: place.address };
  });

  test('needs the authority and the payer to sign', async () => {
    const bothAre = withAccount(fresh.open, 1, world.stranger.address);
    await refused('missing_signature', withAccount(bothAre, 0, world.authority.address, READONLY), world.stranger);
    await refused('missing_signature', withAccount(bothAre, 1, world.stranger.address, WRITABLE), world.authority);
  });
  test('needs the payer and the state account writable', async () => {
    const other = withAccount(fresh.open, 1, world.stranger.address, 2);
    await refused('not_writable', other, world.authority, world.stranger);
    await refused('not_writable', withAccount(fresh.open, 2, fresh.escrow, READONLY), world.authority);
  });
  test('takes all of its data and its accounts', async () => {
    const data = new Uint8Array(fresh.open.data ?? []);
    await refused('wrong_data_length', withData(fresh.open, data.slice(0, 112)), world.authority);
    await refused('wrong_data_length', withData(fresh.open, Uint8Array.of(...data, 0)), world.authority);
    for (let count = 0; count < 6; count++)
      await refused('too_few_accounts', withFirst(fresh.open, count), world.authority);
    await refused('too_many_accounts', withMore(fresh.open, world.mint), world.authority);
  });
  test('is only for the address of its intent', async () => {
    await refused('wrong_state_address', withAccount(fresh.open, 2, decoys.nobody), world.authority);
    await refused('wrong_state_address', withAccount(fresh.open, 2, escrow.escrow), world.authority);
    await refused('wrong_state_address', withAccount(fresh.open, 2, decoys.zeroState), world.authority);
  });
  test('happens once', async () => {
    await refused('already_open', escrow.open, world.authority);
    const stolen = {
      programId: ESCROW_PROGRAM_ID,
      ...terms(),
      authority: world.stranger.address,
      payer: world.stranger.address,
      refundOwner: world.stranger.address,
    };
    await refused(
      'already_open',
      openInstruction({ ...stolen, escrow: escrow.escrow, vault: escrow.vault, intentHash: escrow.intentHash }),
      world.stranger,
    );
  });
  test('refuses an amount of zero', async () =>
    refused('amount_zero', await openWith({ amount: 0n }), world.authority));
  test('refuses a deadline that is not ahead, read as a signed number', async () => {
    for (const refundAfter of [START, START - 1n, 0n, -1n, -(2n ** 63n)])
      await refused('deadline_not_ahead', await openWith({ refundAfter }), world.authority);
  });
  test('refuses a treasury or refund owner that nobody can be', async () => {
    for (const nobody of [SYSTEM_PROGRAM, fresh.escrow, fresh.vault]) {
      await refused('party_invalid', await openWith({ treasury: nobody }), world.authority);
      await refused('party_invalid', await openWith({ refundOwner: nobody }), world.authority);
    }
  });
  test('refuses a treasury that is the refund owner', async () =>
    refused('parties_equal', await openWith({ refundOwner: world.treasury.address }), world.authority));
  test('refuses what is not a mint', async () => {
    const mint = new Uint8Array(world.found(world.mint)?.data ?? []);
    const [fake, unborn] = [(await person('fake mint')).address, (await person('unborn mint')).address];
    world.put(fake, decoys.fakeProgram, mint);
    world.put(unborn, TOKEN_PROGRAM_ADDRESS, mint.with(45, 0));
    for (const no of [fake, unborn]) await refused('wrong_mint', withAccount(fresh.open, 4, no), world.authority);
    for (const no of [decoys.nobody, decoys.fakeTokenAccount, escrow.vault, world.traveller.address])
      await refused('wrong_mint', withAccount(fresh.open, 4, no), world.authority);
  });
  test('refuses a vault that is not the associated token account', async () => {
    const aside = (await person('aside')).address;
    world.putToken(aside, fresh.escrow, 0n);
    for (const no of [aside, escrow.vault, decoys.strangerWallet, decoys.nobody])
      await refused('wrong_vault', withAccount(fresh.open, 3, no), world.authority);
    await refused('wrong_vault', withAccount(fresh.open, 4, world.otherMint), world.authority);
  });
  test('refuses a vault that is missing, frozen, lent out or not its own', async () => {
    const good = world.found(fresh.vault);
    if (!good) throw new Error('no vault');
    const me = world.stranger.address;
    for (const data of [
      new Uint8Array(),
      tokenData(world.mint, me, 0n),
      tokenData(world.otherMint, fresh.escrow, 0n),
      tokenData(world.mint, fresh.escrow, 0n, { state: AccountState.Frozen }),
      tokenData(world.mint, fresh.escrow, 0n, { state: AccountState.Uninitialized }),
      tokenData(world.mint, fresh.escrow, 0n, { delegate: me }),
      tokenData(world.mint, fresh.escrow, 0n, { closeAuthority: me }),
    ]) {
      world.put(fresh.vault, TOKEN_PROGRAM_ADDRESS, data);
      await refused('vault_unusable', fresh.open, world.authority);
    }
    world.put(fresh.vault, decoys.fakeProgram, tokenData(world.mint, fresh.escrow, 0n));
    await refused('vault_unusable', fresh.open, world.authority);
    world.svm.setAccount(good);
  });
  test('refuses a vault that already holds tokens', async () => {
    world.putToken(fresh.vault, fresh.escrow, 1n);
    await refused('vault_not_empty', fresh.open, world.authority);
    world.putToken(fresh.vault, fresh.escrow, 0n);
  });
  test('refuses another system program', async () =>
    refused('wrong_system_program', withAccount(fresh.open, 5, decoys.fakeProgram), world.authority));
  test('refuses a cluster whose rent rule it cannot compute', async () => {
    const usual = world.svm.getRent();
    world.svm.setRent(new Rent(usual.lamportsPerByteYear, 1.5, usual.burnPercent));
    await refused('rent_unknown', fresh.open, world.authority);
    world.svm.setRent(usual);
  });
  test('works once nothing is wrong with it, for the largest amount and the last deadline', async () => {
    const most = await openWith({ amount: 2n ** 64n - 1n, refundAfter: 2n ** 63n - 1n });
    expect((await world.send([most], world.authority)).result).toBe('ok');
    const opened = await openEscrow(world, 'int_most', {
      amount: 2n ** 64n - 1n,
      refundAfter: 2n ** 63n - 1n,
      pays: 3n,
    });
    await refused('underfunded', opened.capture, world.authority);
    await refused('nothing_to_sweep', opened.sweep);
    await refused('refund_not_due', opened.refundByAnyone);
    expect((await world.send([opened.refund], world.authority)).result).toBe('ok');
  });
});
