import type { AccountMeta, Address, Instruction } from '@solana/kit';
import { ED25519_PROGRAM } from '../../../src/escrow/consent.ts';
import { verifyEd25519 } from '../../../src/solana/signer.ts';
import { ASSOCIATED_TOKEN_PROGRAM, TOKEN_PROGRAM } from '../../../src/solana/token.ts';
import { SYSTEM_PROGRAM, TOKEN_RENT } from '../program-world.ts';
import type { Cast } from './cast.ts';
import type { Named } from './rules.ts';
import { bytesOf, type Draft, type Entry, NOTHING, type TokenAccount } from './state.ts';

/** The programs that everybody uses besides ours: their instructions, and what the model knows of them. */

const meta = (address: Address, role: number): AccountMeta => ({ address, role });

export const u64 = (value: bigint): Uint8Array => {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value, true);
  return bytes;
};

const token = (data: readonly number[], ...accounts: AccountMeta[]): Instruction => ({
  programAddress: TOKEN_PROGRAM,
  accounts,
  data: Uint8Array.from(data),
});

export const transfer = (from: Address, to: Address, by: Address, amount: bigint): Instruction =>
  token([3, ...u64(amount)], meta(from, 1), meta(to, 1), meta(by, 2));

export const giveAway = (account: Address, by: Address, to: Address): Instruction =>
  token([6, 2, 1, ...bytesOf(to)], meta(account, 1), meta(by, 2));

export const closeAccount = (account: Address, rentTo: Address, by: Address): Instruction =>
  token([9], meta(account, 1), meta(rentTo, 1), meta(by, 2));

export const freeze = (account: Address, mint: Address, by: Address, isThaw: boolean): Instruction =>
  token([isThaw ? 11 : 10], meta(account, 1), meta(mint, 0), meta(by, 2));

/** Makes the associated token account of `owner`, or does nothing where it is there. */
export const makeAccount = (by: Address, account: Address, owner: Address, mint: Address): Instruction => ({
  programAddress: ASSOCIATED_TOKEN_PROGRAM,
  accounts: [
    meta(by, 3),
    meta(account, 1),
    meta(owner, 0),
    meta(mint, 0),
    meta(SYSTEM_PROGRAM, 0),
    meta(TOKEN_PROGRAM, 0),
  ],
  data: Uint8Array.of(1),
});

export const gift = (from: Address, to: Address, lamports: bigint): Instruction => ({
  programAddress: SYSTEM_PROGRAM,
  accounts: [meta(from, 3), meta(to, 1)],
  data: Uint8Array.of(2, 0, 0, 0, ...u64(lamports)),
});

interface Step {
  readonly cast: Cast;
  readonly draft: Draft;
  readonly accounts: readonly Named[];
  readonly data: Uint8Array;
}

const at = ({ draft, accounts }: Step, index: number): [Address, Entry] => {
  const address = accounts[index]?.address ?? SYSTEM_PROGRAM;
  return [address, draft.entries.get(address) ?? NOTHING];
};

const signed = ({ accounts }: Step, index: number, by: Address): boolean =>
  accounts[index]?.address === by && accounts[index]?.isSigner === true;

const amountIn = (data: Uint8Array, offset: number): bigint =>
  new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(offset, true);

function tokenStep(step: Step): boolean {
  const { cast, draft, data } = step;
  const [address, held] = at(step, 0);
  if (held.kind !== 'token') return false;
  const put = (change: Partial<TokenAccount>) => {
    draft.entries.set(address, { ...held, ...change });
    return true;
  };
  switch (data[0]) {
    case 3: {
      const [target, taker] = at(step, 1);
      const amount = amountIn(data, 1);
      if (taker.kind !== 'token' || taker.mint !== held.mint || !signed(step, 2, held.owner)) return false;
      if (held.isFrozen || taker.isFrozen || held.amount < amount) return false;
      if (target === address) return true;
      draft.entries.set(target, { ...taker, amount: taker.amount + amount });
      return put({ amount: held.amount - amount });
    }
    case 6: {
      if (held.isFrozen || !signed(step, 1, held.owner)) return false;
      const owner = Object.values(cast.named).find((each) => Buffer.compare(bytesOf(each), data.slice(3)) === 0);
      return owner !== undefined && put({ owner });
    }
    case 9: {
      const [target, taker] = at(step, 1);
      if (target === address || held.amount !== 0n || !signed(step, 2, held.owner)) return false;
      draft.entries.set(target, { ...taker, lamports: taker.lamports + held.lamports });
      draft.entries.set(address, NOTHING);
      return true;
    }
    default: {
      const isFrozen = data[0] === 10;
      const isMints = step.accounts[1]?.address === held.mint && signed(step, 2, cast.bank);
      return isMints && held.isFrozen !== isFrozen && put({ isFrozen });
    }
  }
}

function makeStep(step: Step): boolean {
  const { draft } = step;
  const [by, purse] = at(step, 0);
  const [address, held] = at(step, 1);
  const [owner] = at(step, 2);
  const [mint] = at(step, 3);
  if (held.kind === 'token') return held.owner === owner && held.mint === mint;
  const missing = held.lamports < TOKEN_RENT ? TOKEN_RENT - held.lamports : 0n;
  if (purse.lamports < missing) return false;
  draft.entries.set(by, { ...purse, lamports: purse.lamports - missing });
  const lamports = held.lamports + missing;
  draft.entries.set(address, { kind: 'token', lamports, mint, owner, amount: 0n, isFrozen: false });
  return true;
}

function giftStep(step: Step): boolean {
  const { draft, data } = step;
  const [from, purse] = at(step, 0);
  const [to] = at(step, 1);
  const lamports = amountIn(data, 4);
  if (purse.kind !== 'wallet' || purse.lamports < lamports) return false;
  draft.entries.set(from, { ...purse, lamports: purse.lamports - lamports });
  const taker = draft.entries.get(to) ?? NOTHING;
  draft.entries.set(to, { ...taker, lamports: taker.lamports + lamports });
  return true;
}

/** Applies an instruction of another program to the draft. @returns whether it works */
export function worksBelow(program: Address, step: Step): boolean {
  if (program === ED25519_PROGRAM) {
    const { data } = step;
    return verifyEd25519(data.subarray(16, 48), data.subarray(112), data.subarray(48, 112));
  }
  if (program === TOKEN_PROGRAM) return tokenStep(step);
  return program === ASSOCIATED_TOKEN_PROGRAM ? makeStep(step) : giftStep(step);
}
