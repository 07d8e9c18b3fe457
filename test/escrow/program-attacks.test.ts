import { type Address, address } from '@solana/kit';
import { AccountState, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { beforeAll, describe, test } from 'vitest';
import { ESCROW_PROGRAM_ID } from '../../src/escrow/address.ts';
import { AMOUNT, type Attack, createAttack } from './program-attack.ts';
import { type OpenEscrow, openEscrow, withAccount, withData, withFirst, withMore } from './program-scene.ts';
import { person, SYSTEM_PROGRAM, tokenData, type World } from './program-world.ts';

const READONLY = 0;
const WRITABLE = 1;

let world: World;
let escrow: OpenEscrow;
let other: OpenEscrow;
let decoys: Attack['decoys'];
let refused: Attack['refused'];
beforeAll(async () => {
  ({ world, escrow, other, decoys, refused } = await createAttack());
});

describe('any instruction', () => {
  test.each([9, 99, 255])('refuses the unknown tag %i', (tag) =>
    refused('unknown_instruction', withData(escrow.sweep, Uint8Array.of(tag))),
  );
  test('refuses to have no data', () => refused('wrong_data_length', withData(escrow.sweep, new Uint8Array())));
  test('refuses data that is too long', async () => {
    for (const [each, tag, signers] of [
      [escrow.capture, 1, [world.authority]],
      [escrow.refund, 2, [world.authority]],
      [escrow.sweep, 3, []],
      [escrow.close, 4, [world.authority]],
    ] as const)
      await refused('wrong_data_length', withData(each, Uint8Array.of(tag, 0)), ...signers);
  });
  test('refuses a list that lacks an account, whichever', async () => {
    for (const each of [escrow.capture, escrow.refund, escrow.sweep, escrow.close]) {
      for (let count = (each.accounts?.length ?? 0) - 1; count >= 0; count--)
        await refused('too_few_accounts', withFirst(each, count), world.authority);
    }
  });
  test('refuses accounts that nobody asked for', async () => {
    for (const each of [escrow.capture, escrow.refund, escrow.sweep, escrow.close])
      await refused('too_many_accounts', withMore(each, world.stranger.address), world.authority);
  });
  test('refuses more accounts than it has room for', () =>
    refused('too_many_accounts', withMore(escrow.sweep, ...Array<Address>(40).fill(world.stranger.address))));
  test('refuses one account in every place', async () => {
    for (const [each, count] of [
      [escrow.capture, 7],
      [escrow.refund, 6],
      [escrow.close, 4],
    ] as const) {
      let attack = each;
      for (let at = 0; at < count; at++) attack = withAccount(attack, at, escrow.escrow, WRITABLE);
      await refused('wrong_authority', attack);
    }
    let sweep = escrow.sweep;
    for (let at = 0; at < 5; at++) sweep = withAccount(sweep, at, escrow.escrow, WRITABLE);
    await refused('wrong_token_program', sweep);
  });
});

describe('the state account', () => {
  // [instruction, index of its state account]
  const all = () =>
    [
      [escrow.capture, 1],
      [escrow.refund, 1],
      [escrow.sweep, 0],
      [escrow.close, 1],
    ] as const;

  test('may not be a forgery with the same layout under another program', async () => {
    for (const [each, at] of all())
      await refused('state_not_ours', withAccount(each, at, decoys.forgedState), world.authority);
  });
  test('may not be an account that somebody assigned to the program', async () => {
    for (const [each, at] of all())
      await refused('state_unreadable', withAccount(each, at, decoys.zeroState), world.authority);
  });
  test('may not be a token account, a wallet or nothing', async () => {
    for (const [each, at] of all()) {
      await refused('state_not_ours', withAccount(each, at, escrow.vault), world.authority);
      await refused('state_not_ours', withAccount(each, at, decoys.nobody), world.authority);
    }
  });
  test('of another version or length is not read', async () => {
    const at = (await person('newer')).address;
    const data = new Uint8Array(world.found(escrow.escrow)?.data ?? []);
    const newer = data.with(8, 2);
    for (const unread of [newer, data.slice(0, 271), Uint8Array.of(...data, 0)]) {
      world.put(at, ESCROW_PROGRAM_ID, unread);
      for (const [each, index] of all())
        await refused('state_unreadable', withAccount(each, index, at), world.authority);
    }
  });
  test('must be writable where it changes', async () => {
    for (const each of [escrow.capture, escrow.refund, escrow.close])
      await refused('not_writable', withAccount(each, 1, escrow.escrow, READONLY), world.authority);
  });
  test('of another escrow does not fit this vault', async () => {
    await refused('wrong_vault', withAccount(escrow.capture, 1, other.escrow), world.authority);
    await refused('wrong_vault', withAccount(escrow.refund, 1, other.escrow), world.authority);
    await refused('wrong_vault', withAccount(escrow.sweep, 0, other.escrow));
  });
});

describe('the authority', () => {
  test('must have signed a capture and a close', async () => {
    for (const each of [escrow.capture, escrow.close])
      await refused('missing_signature', withAccount(each, 0, world.authority.address, READONLY));
  });
  test('is not whoever signs', async () => {
    for (const each of [escrow.capture, escrow.refund, escrow.close])
      await refused('wrong_authority', withAccount(each, 0, world.stranger.address), world.stranger);
    await refused('wrong_authority', withAccount(escrow.capture, 0, world.traveller.address), world.traveller);
    await refused('wrong_authority', withAccount(escrow.capture, 0, world.treasury.address), world.treasury);
  });
  test('alone refunds before refund_after', async () => {
    await refused('refund_not_due', escrow.refundByAnyone);
    await refused('wrong_authority', withAccount(escrow.refundByAnyone, 0, world.stranger.address));
  });
  test('is not replaced by a clock that somebody brings', () =>
    refused(
      'too_many_accounts',
      withMore(escrow.refundByAnyone, address('SysvarC1ock11111111111111111111111111111111')),
    ));
});

describe('the vault', () => {
  const all = () =>
    [
      [escrow.capture, 2],
      [escrow.refund, 2],
      [escrow.sweep, 1],
    ] as const;

  test('is the one of this escrow', async () => {
    for (const [each, at] of all()) {
      await refused('wrong_vault', withAccount(each, at, other.vault), world.authority);
      await refused('wrong_vault', withAccount(each, at, decoys.strangerWallet), world.authority);
      await refused('wrong_vault', withAccount(each, at, escrow.refundAccount), world.authority);
    }
  });
  test('must be writable', async () => {
    for (const [each, at] of all())
      await refused('not_writable', withAccount(each, at, escrow.vault, READONLY), world.authority);
  });
  test('still belongs to the escrow and its mint', async () => {
    const good = world.found(escrow.vault);
    if (!good) throw new Error('no vault');
    for (const data of [
      tokenData(world.mint, world.stranger.address, AMOUNT),
      tokenData(world.otherMint, escrow.escrow, AMOUNT),
      tokenData(world.mint, escrow.escrow, AMOUNT, { state: AccountState.Uninitialized }),
      new Uint8Array(82),
    ]) {
      world.put(escrow.vault, TOKEN_PROGRAM_ADDRESS, data);
      for (const [each] of all()) await refused('vault_unusable', each, world.authority);
    }
    world.put(escrow.vault, decoys.fakeProgram, tokenData(world.mint, escrow.escrow, AMOUNT));
    await refused('vault_unusable', escrow.capture, world.authority);
    await refused('vault_unusable', escrow.refund, world.authority);
    world.svm.setAccount(good);
  });
  test('is no other token account of the escrow, however full', async () => {
    const second = (await person('second vault')).address;
    world.putToken(second, escrow.escrow, AMOUNT);
    for (const [each, at] of all()) await refused('wrong_vault', withAccount(each, at, second), world.authority);
  });
});

describe('the destination', () => {
  const refunds = () =>
    [
      [escrow.capture, 4],
      [escrow.refund, 3],
      [escrow.sweep, 2],
    ] as const;
  const all = () => [[escrow.capture, 3] as const, ...refunds()];

  test('is not the vault', async () => {
    for (const [each, at] of all())
      await refused('destination_is_vault', withAccount(each, at, escrow.vault), world.authority);
  });
  test('is not a token account of somebody else', async () => {
    for (const [each, at] of all())
      await refused('destination_wrong_owner', withAccount(each, at, decoys.strangerWallet), world.authority);
    await refused('destination_wrong_owner', withAccount(escrow.capture, 3, escrow.refundAccount), world.authority);
    for (const [each, at] of refunds())
      await refused('destination_wrong_owner', withAccount(each, at, escrow.treasuryAccount), world.authority);
    await refused('destination_wrong_owner', withAccount(escrow.refund, 3, other.vault), world.authority);
  });
  test('is not for another mint', async () => {
    await refused('destination_wrong_mint', withAccount(escrow.capture, 3, decoys.otherMintTreasury), world.authority);
    for (const [each, at] of refunds())
      await refused('destination_wrong_mint', withAccount(each, at, decoys.otherMintWallet), world.authority);
  });
  test('is a token account, and one of the token program', async () => {
    for (const [each, at] of all()) {
      for (const decoy of [
        decoys.fakeTokenAccount,
        decoys.uninitialised,
        decoys.nobody,
        world.mint,
        world.traveller.address,
      ])
        await refused('destination_not_token_account', withAccount(each, at, decoy), world.authority);
    }
  });
  test('must be writable', async () => {
    await refused('not_writable', withAccount(escrow.capture, 3, escrow.treasuryAccount, READONLY), world.authority);
    for (const [each, at] of refunds())
      await refused('not_writable', withAccount(each, at, escrow.refundAccount, READONLY), world.authority);
  });
  test('of a refund cannot be left out', async () => {
    await refused(
      'destination_not_token_account',
      withAccount(escrow.refund, 3, ESCROW_PROGRAM_ID, READONLY),
      world.authority,
    );
    await refused('destination_not_token_account', withAccount(escrow.sweep, 2, ESCROW_PROGRAM_ID, READONLY));
  });
});

describe('the rent payer and the programs', () => {
  test('rents go to who paid them', async () => {
    for (const [each, at] of [
      [escrow.capture, 5],
      [escrow.refund, 4],
      [escrow.sweep, 3],
    ] as const) {
      await refused('wrong_rent_payer', withAccount(each, at, world.stranger.address), world.authority);
      await refused('wrong_rent_payer', withAccount(each, at, escrow.vault), world.authority);
      await refused('wrong_rent_payer', withAccount(each, at, escrow.escrow), world.authority);
    }
  });
  test('the rent payer must be writable', async () => {
    const paid = await openEscrow(world, 'int_paid', { rentPayer: world.stranger });
    for (const [each, at] of [
      [paid.refund, 4],
      [paid.sweep, 3],
    ] as const)
      await refused('not_writable', withAccount(each, at, world.stranger.address, READONLY), world.authority);
  });
  test('the token program is the real one', async () => {
    for (const [each, at] of [
      [escrow.capture, 6],
      [escrow.refund, 5],
      [escrow.sweep, 4],
    ] as const) {
      for (const fake of [decoys.fakeProgram, SYSTEM_PROGRAM, ESCROW_PROGRAM_ID])
        await refused('wrong_token_program', withAccount(each, at, fake), world.authority);
    }
  });
});
