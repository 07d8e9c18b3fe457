import type { Address, Instruction } from '@solana/kit';
import { AccountState, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { expect } from 'vitest';
import { ESCROW_PROGRAM_ID } from '../../src/escrow/address.ts';
import { openEscrow } from './program-scene.ts';
import { createWorld, type Person, person, tokenData } from './program-world.ts';
import { ESCROW_REFUSALS, type EscrowRefusalName } from './refusals.ts';

/** Every attack is a valid instruction with one thing changed; each has to fail for its own reason. */

export const AMOUNT = 1_000_000n;

export const codeOf = (name: EscrowRefusalName): number =>
  Number(Object.entries(ESCROW_REFUSALS).find(([, [each]]) => each === name)?.[0]);

export async function createAttack() {
  const world = await createWorld();
  const { traveller, treasury, stranger, mint, otherMint } = world;
  const escrow = await openEscrow(world, 'int_target', { amount: AMOUNT, pays: AMOUNT + 5n });
  const other = await openEscrow(world, 'int_other', { amount: AMOUNT, pays: AMOUNT + 5n });
  const place = async (name: string): Promise<Address> => (await person(name)).address;

  /** Accounts that look like what they are not. */
  const decoys = {
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
  world.put(decoys.forgedState, decoys.fakeProgram, new Uint8Array(state.data));
  world.put(decoys.zeroState, ESCROW_PROGRAM_ID, new Uint8Array(272));

  /** The attack fails with that refusal, and no account that it could touch has changed. */
  async function refused(name: EscrowRefusalName, attack: Instruction, ...signers: Person[]): Promise<void> {
    const touched = new Set([
      ...[escrow, other].flatMap((each) => [each.escrow, each.vault, each.treasuryAccount, each.refundAccount]),
      ...Object.values(decoys),
      ...(attack.accounts ?? []).map((account) => account.address),
    ]);
    // The bank pays the fee, of a refused transaction too.
    touched.delete(world.bank.address);
    const before = world.snapshot([...touched]);
    const { result, logs } = await world.send([attack], ...signers);
    expect({ result, logs: result === codeOf(name) ? [] : logs }).toEqual({ result: codeOf(name), logs: [] });
    expect(world.snapshot([...touched])).toBe(before);
  }

  return { world, escrow, other, decoys, refused };
}

export type Attack = Awaited<ReturnType<typeof createAttack>>;
