import { type Address, address, type Instruction } from '@solana/kit';
import { AccountState, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { beforeAll, describe, expect, test } from 'vitest';
import { ESCROW_PROGRAM_ID } from '../../src/escrow/address.ts';
import { ESCROW_REFUSALS, type EscrowRefusalName } from '../../src/escrow/errors.ts';
import { escrowAddress, openInstruction, openInstructions } from '../../src/escrow/program.ts';
import {
  createWorld,
  DAY,
  type OpenEscrow,
  openEscrow,
  type Person,
  person,
  START,
  SYSTEM_PROGRAM,
  tokenData,
  type World,
  withAccount,
  withData,
  withFirst,
  withMore,
} from './program-world.ts';

/** Every attack is a valid instruction with one thing changed; each has to fail for its own reason. */

const MONTH = 30n * DAY;
const READONLY = 0;
const WRITABLE = 1;
const AMOUNT = 1_000_000n;

const codeOf = (name: EscrowRefusalName): number => {
  const entry = Object.entries(ESCROW_REFUSALS).find(([, [each]]) => each === name);
  return Number(entry?.[0]);
};

let world: World;
let escrow: OpenEscrow;
let other: OpenEscrow;
/** Accounts that look like what they are not. */
let decoys: Record<
  | 'fakeProgram'
  | 'strangerWallet'
  | 'otherMintWallet'
  | 'otherMintTreasury'
  | 'fakeTokenAccount'
  | 'uninitialised'
  | 'forgedState'
  | 'zeroState'
  | 'nobody',
  Address
>;

beforeAll(async () => {
  world = await createWorld();
  const { authority, traveller, treasury, stranger, mint, otherMint } = world;
  escrow = await openEscrow(world, 'int_target', { amount: AMOUNT, pays: AMOUNT + 5n });
  other = await openEscrow(world, 'int_other', { amount: AMOUNT, pays: AMOUNT + 5n });
  const place = async (name: string) => (await person(name)).address;
  decoys = {
    fakeProgram: await place('fake program'),
    strangerWallet: await world.walletOf(stranger.address),
    otherMintWallet: await world.walletOf(traveller.address, otherMint),
    otherMintTreasury: await world.walletOf(treasury.address, otherMint),
    fakeTokenAccount: await place('fake token account'),
    uninitialised: await place('uninitialised'),
    forgedState: await place('forged state'),
    zeroState: await place('zero state'),
    nobody: await place('nobody'),
  };
  world.putToken(decoys.otherMintWallet, traveller.address, 0n, otherMint);
  world.putToken(decoys.otherMintTreasury, treasury.address, 0n, otherMint);
  world.put(decoys.fakeTokenAccount, decoys.fakeProgram, tokenData(mint, traveller.address, 0n));
  world.put(
    decoys.uninitialised,
    TOKEN_PROGRAM_ADDRESS,
    tokenData(mint, traveller.address, 0n, { state: AccountState.Uninitialized }),
  );
  const state = world.found(escrow.escrow);
  if (!state) throw new Error('no state');
  // The forger's dream: his own authority and refund owner over the real vault.
  const forged = new Uint8Array(state.data);
  forged.set(forged.slice(48, 80), 48);
  world.put(decoys.forgedState, decoys.fakeProgram, forged);
  world.put(decoys.zeroState, ESCROW_PROGRAM_ID, new Uint8Array(272));
  world.at(START);
  expect(authority.address).toBe(escrow.authority);
});

async function refused(name: EscrowRefusalName, attack: Instruction, ...signers: Person[]): Promise<void> {
  const touched = [
    ...new Set([
      ...[escrow, other].flatMap((each) => [
        each.escrow,
        each.vault,
        each.treasuryAccount,
        each.refundAccount,
      ]),
      ...Object.values(decoys),
      ...(attack.accounts ?? []).map((account) => account.address),
    ]),
  ].filter((each) => each !== world.bank.address);
  const before = world.snapshot(touched);
  const { result, logs } = await world.send([attack], ...signers);
  expect({ result, logs: result === codeOf(name) ? [] : logs }).toEqual({ result: codeOf(name), logs: [] });
  expect(world.snapshot(touched)).toBe(before);
}

describe('any instruction', () => {
  test.each([5, 99, 255])('refuses the unknown tag %i', (tag) =>
    refused('unknown_instruction', withData(escrow.sweep, Uint8Array.of(tag))),
  );
  test('refuses to have no data', () =>
    refused('wrong_data_length', withData(escrow.sweep, new Uint8Array())));
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
  test('of another version is not read', async () => {
    const at = (await person('newer')).address;
    const data = new Uint8Array(world.found(escrow.escrow)?.data ?? []);
    data[8] = 2;
    world.put(at, ESCROW_PROGRAM_ID, data);
    for (const [each, index] of all())
      await refused('state_unreadable', withAccount(each, index, at), world.authority);
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
    await refused(
      'wrong_authority',
      withAccount(escrow.capture, 0, world.traveller.address),
      world.traveller,
    );
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
  test('is no other token account of the escrow, however full', async () => {
    const second = (await person('second vault')).address;
    world.putToken(second, escrow.escrow, AMOUNT);
    for (const [each, at] of all())
      await refused('wrong_vault', withAccount(each, at, second), world.authority);
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
    await refused(
      'destination_wrong_owner',
      withAccount(escrow.capture, 3, escrow.refundAccount),
      world.authority,
    );
    for (const [each, at] of refunds())
      await refused(
        'destination_wrong_owner',
        withAccount(each, at, escrow.treasuryAccount),
        world.authority,
      );
    await refused('destination_wrong_owner', withAccount(escrow.refund, 3, other.vault), world.authority);
  });
  test('is not for another mint', async () => {
    await refused(
      'destination_wrong_mint',
      withAccount(escrow.capture, 3, decoys.otherMintTreasury),
      world.authority,
    );
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
    await refused(
      'not_writable',
      withAccount(escrow.capture, 3, escrow.treasuryAccount, READONLY),
      world.authority,
    );
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
    const place = await escrowAddress('int_fresh', { mint: world.mint });
    return openInstruction({
      ...terms(),
      ...change,
      escrow: place.address,
      vault: place.vault,
      intentHash: place.intentHash,
    });
  };

  beforeAll(async () => {
    const place = await escrowAddress('int_fresh', { mint: world.mint });
    const [createVault] = await openInstructions({ ...terms(), intentId: 'int_fresh' });
    if (!createVault) throw new Error('no instruction');
    expect((await world.send([createVault], world.authority)).result).toBe('ok');
    fresh = { open: await openWith({}), vault: place.vault, escrow: place.address };
  });

  test('needs the authority and the payer to sign', async () => {
    const bothAre = withAccount(fresh.open, 1, world.stranger.address);
    await refused(
      'missing_signature',
      withAccount(bothAre, 0, world.authority.address, READONLY),
      world.stranger,
    );
    await refused(
      'missing_signature',
      withAccount(bothAre, 1, world.stranger.address, WRITABLE),
      world.authority,
    );
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
      ...terms(),
      authority: world.stranger.address,
      payer: world.stranger.address,
      refundOwner: world.stranger.address,
    };
    await refused(
      'already_open',
      openInstruction({
        ...stolen,
        escrow: escrow.escrow,
        vault: escrow.vault,
        intentHash: escrow.intentHash,
      }),
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
      expect(world.snapshot([twice.escrow, twice.vault, twice.treasuryAccount, twice.refundAccount])).toBe(
        before,
      );
    }
  });
  test('close waits for the end, for 30 days and for the vault to be gone', async () => {
    await refused('not_ended', escrow.close, world.authority);
    const ended = await openEscrow(world, 'int_close', { amount: AMOUNT });
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
