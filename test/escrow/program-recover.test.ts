import { createHash } from 'node:crypto';
import type { Address } from '@solana/kit';
import { beforeEach, describe, expect, test } from 'vitest';
import { commitsTo, ESCROW_PROGRAM_ID, escrowAddress, intentHashOf } from '../../src/escrow/address.ts';
import { openInstructions, recoverInstruction, recoverInstructions } from '../../src/escrow/program.ts';
import { committedId } from './model/cast.ts';
import { codeOf } from './program-attack.ts';
import { idFor, openEscrow, withAccount, withData, withFirst, withMore } from './program-scene.ts';
import { createWorld, DAY, person, START, TOKEN_RENT, type World } from './program-world.ts';

const MONTH = 30n * DAY;
let world: World;
beforeEach(async () => {
  world = await createWorld();
});
const balance = async (owner: Address) => world.tokensOf(await world.walletOf(owner)) ?? 0n;

/** An escrow that was closed, into whose vault 33 units came later. */
async function closed({ pays = 0n, arrives = 33n } = {}) {
  world.at(START);
  const intentId = idFor(world.traveller.address);
  const escrow = await openEscrow(world, intentId, pays === 0n ? {} : { pays });
  await world.send([escrow.refund], world.authority);
  world.at(START + MONTH);
  expect((await world.send([escrow.close], world.authority)).result).toBe('ok');
  escrow.reviveVault(arrives);
  return { ...escrow, intentId };
}

describe('recover', () => {
  test('what reaches the vault of a closed escrow goes to the refund owner, whoever asks', async () => {
    for (const pays of [0n, 250_000_000n]) {
      const escrow = await closed({ pays });
      const had = await balance(world.traveller.address);
      const rent = world.lamportsOf(world.traveller.address);
      expect((await world.send([escrow.recover])).result).toBe('ok');
      expect((await balance(world.traveller.address)) - had).toBe(33n);
      expect(world.found(escrow.vault)).toBeNull();
      expect(world.lamportsOf(world.traveller.address) - rent).toBe(TOKEN_RENT);
    }
  });

  test('an empty vault that somebody made again is closed too', async () => {
    const escrow = await closed({ arrives: 0n });
    expect((await world.send([escrow.recover])).result).toBe('ok');
    expect(world.found(escrow.vault)).toBeNull();
  });

  test('it works before the escrow was ever opened, and does not keep it from being opened', async () => {
    const intentId = idFor(world.traveller.address);
    const { address: escrow, vault } = await escrowAddress(intentId, {
      mint: world.mint,
      programId: ESCROW_PROGRAM_ID,
    });
    world.putToken(vault, escrow, 7n);
    const { traveller, mint } = world;
    const early = {
      ...{ programId: ESCROW_PROGRAM_ID, intentId, escrow, mint, refundOwner: traveller.address },
      ...{ payer: traveller.address, opensRefundAccount: false },
    };
    expect((await world.send(await recoverInstructions(early))).result).toBe('ok');
    expect((await openEscrow(world, intentId)).read()?.state).toBe('open');
  });

  test('any token of the escrow, whatever its mint, goes to the same owner', async () => {
    const escrow = await closed();
    const stray = (await person('stray')).address;
    world.putToken(stray, escrow.escrow, 5n, world.otherMint);
    const to = await world.walletOf(world.traveller.address, world.otherMint);
    world.putToken(to, world.traveller.address, 0n, world.otherMint);
    const accounts = { ...escrow, vault: stray, refundAccount: to };
    expect((await world.send([recoverInstruction(accounts)])).result).toBe('ok');
    expect(world.tokensOf(to)).toBe(5n);
  });

  test('while there is an escrow, open or ended, it is refused', async () => {
    const intentId = idFor(world.traveller.address);
    const escrow = await openEscrow(world, intentId, { pays: 250_000_000n });
    expect((await world.send([escrow.recover])).result).toBe(codeOf('escrow_still_there'));
    await world.send([escrow.capture], world.authority);
    escrow.reviveVault(1n);
    expect((await world.send([escrow.recover])).result).toBe(codeOf('escrow_still_there'));
    expect(world.tokensOf(escrow.vault)).toBe(1n);
  });

  test('nobody but the committed owner receives', async () => {
    const escrow = await closed();
    const { stranger, traveller, mint } = world;
    const strangers = await world.walletOf(stranger.address);
    const cases: [string, typeof escrow.recover][] = [
      ['destination_wrong_owner', withAccount(escrow.recover, 2, strangers)],
      ['destination_wrong_owner', withAccount(escrow.recover, 3, stranger.address)],
      ['owner_not_committed', withAccount(withAccount(escrow.recover, 2, strangers), 3, stranger.address)],
      ['destination_is_vault', withAccount(escrow.recover, 2, escrow.vault)],
      ['destination_wrong_mint', withAccount(escrow.recover, 2, await otherWallet())],
      ['wrong_state_address', withAccount(escrow.recover, 0, stranger.address)],
      ['wrong_vault', withAccount(escrow.recover, 1, strangers)],
      ['wrong_token_program', withAccount(escrow.recover, 4, mint)],
      ['not_writable', withAccount(escrow.recover, 1, escrow.vault, 0)],
      ['not_writable', withAccount(escrow.recover, 2, await world.walletOf(traveller.address), 0)],
      ['not_writable', withAccount(escrow.recover, 3, traveller.address, 0)],
      ['too_few_accounts', withFirst(escrow.recover, 4)],
      ['too_many_accounts', withMore(escrow.recover, stranger.address)],
      ['wrong_data_length', withData(escrow.recover, escrow.recover.data?.slice(0, 30) as Uint8Array)],
    ];
    for (const [name, attack] of cases) {
      const before = world.snapshot([escrow.vault, strangers]);
      expect([name, (await world.send([attack])).result]).toEqual([name, codeOf(name as never)]);
      expect(world.snapshot([escrow.vault, strangers])).toBe(before);
    }
  });

  test('each character of the id counts: another id is another escrow, or names nobody', async () => {
    const escrow = await closed();
    for (let at = 1; at <= 30; at++) {
      const data = Uint8Array.from(escrow.recover.data ?? []);
      data[at] = data[at] === 0x30 ? 0x31 : 0x30;
      expect((await world.send([withData(escrow.recover, data)])).result).toBe(codeOf('wrong_state_address'));
    }
  });

  test('an id made for somebody else, or by an earlier version, gives nobody anything', async () => {
    for (const intentId of ['int_0123456789abcdefghjkmnpqrs', idFor(world.stranger.address)]) {
      const { address: escrow, vault } = await escrowAddress(intentId, {
        mint: world.mint,
        programId: ESCROW_PROGRAM_ID,
      });
      world.putToken(vault, escrow, 7n);
      const { traveller, mint } = world;
      const parties = {
        ...{ programId: ESCROW_PROGRAM_ID, intentId, escrow, mint, refundOwner: traveller.address },
        ...{ payer: traveller.address, opensRefundAccount: false },
      };
      expect((await world.send(await recoverInstructions(parties))).result).toBe(codeOf('owner_not_committed'));
    }
  });

  test('a stranger who opens the address anew cannot take what lies there already', async () => {
    const escrow = await closed();
    const { stranger, bank, mint } = world;
    const again = await openInstructions({
      programId: ESCROW_PROGRAM_ID,
      intentId: escrow.intentId,
      authority: stranger.address,
      payer: stranger.address,
      mint,
      amount: 1n,
      refundAfter: START + MONTH + DAY,
      treasury: bank.address,
      refundOwner: stranger.address,
    });
    expect((await world.send(again, stranger)).result).toBe(codeOf('vault_not_empty'));
    expect((await world.send([escrow.recover])).result).toBe('ok');
  });

  test('it stays far below the compute units that a transaction gets by default', async () => {
    const units: bigint[] = [];
    for (let n = 0; n < 6; n++) {
      const escrow = await closed();
      units.push((await world.send([escrow.recover])).units);
    }
    expect(units.filter((each) => each >= 60_000n)).toEqual([]);
  });

  async function otherWallet(): Promise<Address> {
    const to = await world.walletOf(world.traveller.address, world.otherMint);
    world.putToken(to, world.traveller.address, 0n, world.otherMint);
    return to;
  }
});

test('an id of an earlier release, with ten random characters, is still recovered', async () => {
  world.at(START);
  const intentId = committedId('int_0123456789', world.traveller.address);
  expect(intentId).toHaveLength(30);
  expect(intentHashOf(intentId)).toEqual(new Uint8Array(createHash('sha256').update(intentId).digest()));
  const escrow = await openEscrow(world, intentId, {});
  await world.send([escrow.refund], world.authority);
  world.at(START + MONTH);
  expect((await world.send([escrow.close], world.authority)).result).toBe('ok');
  escrow.reviveVault(33n);
  const had = await balance(world.traveller.address);
  expect((await world.send([escrow.recover])).result).toBe('ok');
  expect((await balance(world.traveller.address)) - had).toBe(33n);
});

test('80 bits of an id are random, and only all of them lead from what the chain shows to the id', () => {
  const owner = world.traveller.address;
  const id = idFor(owner);
  // The commitment follows from the owner, whom the chain shows; nothing else does.
  const [, random = '', commitment = ''] = /^int_([0-9a-hjkmnp-tv-z]{16})([0-9a-hjkmnp-tv-z]{16})$/.exec(id) ?? [];
  expect(committedId(`int_${random}`, owner)).toBe(`int_${random}${commitment}`);
  for (let at = 0; at < random.length; at++) {
    const other = random[at] === '0' ? '1' : '0';
    const guess = committedId(`int_${random.slice(0, at)}${other}${random.slice(at + 1)}`, owner);
    expect(intentHashOf(guess)).not.toEqual(intentHashOf(id));
  }
});

test('an id commits to one refund owner, as the program reads it', async () => {
  const [one, other] = [world.traveller.address, world.stranger.address];
  const ids = Array.from({ length: 50 }, () => idFor(one));
  expect(new Set(ids).size).toBe(50);
  for (const id of ids) {
    expect(id).toMatch(/^int_[0-9a-hjkmnp-tv-z]{32}$/);
    expect([commitsTo(id, one), commitsTo(id, other), commitsTo(id.toUpperCase(), one)]).toEqual([true, false, false]);
  }
});
