import type { Address, Instruction } from '@solana/kit';
import { decodeEscrow } from '../../src/escrow/account.ts';
import { ESCROW_PROGRAM_ID, escrowAddress, refundCommitment } from '../../src/escrow/address.ts';
import {
  captureInstruction,
  closeInstruction,
  openInstruction,
  openInstructions,
  recoverInstruction,
  refundInstruction,
  sweepInstruction,
} from '../../src/escrow/program.ts';
import { randomIds } from '../../src/kernel/ids.ts';
import { DAY, type Person, START, type World } from './program-world.ts';

/** An intent id that names its refund owner, as the service makes them. */
export const idFor = (refundOwner: Address): string =>
  randomIds().committed('int', (start) => refundCommitment(start, refundOwner));

/** An open escrow and the plain, valid instructions that concern it; attacks change one thing in them. */
export async function openEscrow(
  world: World,
  intentId: string,
  terms: {
    amount?: bigint;
    refundAfter?: bigint;
    pays?: bigint;
    rentPayer?: Person;
    treasury?: Address;
    refundOwner?: Address;
  } = {},
) {
  const { authority, mint } = world;
  const payer = terms.rentPayer ?? authority;
  const treasury = terms.treasury ?? world.treasury.address;
  const refundOwner = terms.refundOwner ?? world.traveller.address;
  const amount = terms.amount ?? 250_000_000n;
  const refundAfter = terms.refundAfter ?? START + DAY;
  const {
    address: escrow,
    vault,
    intentHash,
    bump,
  } = await escrowAddress(intentId, { mint, programId: ESCROW_PROGRAM_ID });
  const treasuryAccount = await world.walletOf(treasury);
  const refundAccount = await world.walletOf(refundOwner);
  if (world.found(treasuryAccount) === null) world.putToken(treasuryAccount, treasury, 0n);
  const opened = await world.send(
    await openInstructions({
      programId: ESCROW_PROGRAM_ID,
      authority: authority.address,
      payer: payer.address,
      mint,
      intentId,
      amount,
      refundAfter,
      treasury,
      refundOwner,
    }),
    authority,
    payer,
  );
  if (opened.result !== 'ok') throw new Error(`${opened.result}\n${opened.logs.join('\n')}`);
  if (terms.pays) await world.pay(world.traveller, vault, terms.pays);
  const accounts = {
    programId: ESCROW_PROGRAM_ID,
    authority: authority.address,
    escrow,
    vault,
    treasuryAccount,
    refundAccount,
    rentPayer: payer.address,
  };
  return {
    ...accounts,
    bump,
    intentHash,
    amount,
    refundAfter,
    treasury,
    refundOwner,
    units: opened.units,
    open: openInstruction({
      ...accounts,
      payer: payer.address,
      mint,
      intentHash,
      amount,
      refundAfter,
      treasury,
      refundOwner,
    }),
    capture: captureInstruction(accounts),
    captureAndLeave: captureInstruction({ ...accounts, refundAccount: null }),
    refund: refundInstruction({ ...accounts, byAuthority: true }),
    refundByAnyone: refundInstruction({ ...accounts, byAuthority: false }),
    sweep: sweepInstruction(accounts),
    close: closeInstruction(accounts),
    recover: recoverInstruction({ ...accounts, intentId, refundOwner }),
    /** The state as `account.ts` reads it, or null. */
    read: () => {
      const account = world.found(escrow);
      return account?.programAddress === ESCROW_PROGRAM_ID
        ? decodeEscrow(escrow, ESCROW_PROGRAM_ID, new Uint8Array(account.data))
        : null;
    },
    /** Somebody makes the vault again after the end. */
    reviveVault: (amountInIt: bigint) => world.putToken(vault, escrow, amountInIt),
  };
}

export type OpenEscrow = Awaited<ReturnType<typeof openEscrow>>;

/** The instruction with the account at `index` replaced; roles stay unless one is given. */
export const withAccount = (instruction: Instruction, index: number, by: Address, role?: number): Instruction => ({
  ...instruction,
  accounts: (instruction.accounts ?? []).map((account, at) =>
    at === index ? { address: by, role: role ?? account.role } : account,
  ),
});

export const withData = (instruction: Instruction, data: Uint8Array): Instruction => ({ ...instruction, data });

/** Only the first `count` accounts. */
export const withFirst = (instruction: Instruction, count: number): Instruction => ({
  ...instruction,
  accounts: (instruction.accounts ?? []).slice(0, count),
});

export const withMore = (instruction: Instruction, ...more: Address[]): Instruction => ({
  ...instruction,
  accounts: [...(instruction.accounts ?? []), ...more.map((each) => ({ address: each, role: 0 }))],
});
