import type { Address, Instruction } from '@solana/kit';
import { Account, Clock, FailedTransactionMetadata, FeatureSet, LiteSvm } from 'litesvm/dist/internal.js';
import { ESCROW_PROGRAM_ID } from '../../../src/escrow/address.ts';
import { ED25519_PROGRAM } from '../../../src/escrow/consent.ts';
import { escrowElf } from '../../../src/escrow/elf.ts';
import { START, SYSTEM_PROGRAM } from '../program-world.ts';
import type { Cast } from './cast.ts';
import { bytesOf, entryAt, NOTHING, type Raw, rawOf, type State } from './state.ts';

/**
 * The real program in LiteSVM, made quick: one machine for all sequences, accounts put back rather than made anew,
 * transactions written by hand. Who signs is in a message's header; the signatures themselves are not looked at, which
 * is the runtime's business and not the program's.
 */

/** Enough for a few billion transactions. */
const BANK = 10n ** 17n;
const FEE = 5_000n;

export interface Machine {
  /** @returns `ok`, the number of a custom error, or the runtime's words */
  send(instructions: readonly Instruction[]): 'ok' | number | string;
  /** Makes the accounts and the clock those of a state, and forgets the fees. */
  become(state: State): void;
  /** Takes a state for the one that is there now: `differing` has found it to be so. */
  follow(state: State): void;
  /** The addresses at which the machine does not hold what a state says, byte by byte; among all, or some. */
  differing(state: State, among?: Iterable<Address>): Address[];
  /** Lamports that fees have cost the bank since the last time. */
  feesPaid(): bigint;
}

export function openMachine(cast: Cast): Machine {
  const svm = LiteSvm.default();
  svm.setFeatureSet(FeatureSet.allEnabled());
  svm.setBuiltins();
  svm.setSysvars();
  svm.setPrecompiles();
  svm.setDefaultPrograms();
  svm.setSigverify(false);
  svm.setBlockhashCheck(false);
  svm.setTransactionHistory(0n);
  svm.setLogBytesLimit(0n);
  svm.addProgram(bytesOf(ESCROW_PROGRAM_ID), escrowElf());
  const put = (address: Address, { lamports, data, owner }: Raw) =>
    svm.setAccount(bytesOf(address), new Account(lamports, data, owner, false, 0n));
  put(cast.bank, { lamports: BANK, data: new Uint8Array(), owner: bytesOf(SYSTEM_PROGRAM) });
  let bank = BANK;
  let there: State = { now: 0n, entries: new Map(), used: new Set() };
  /** Addresses that a transaction named, which nobody has looked at since. */
  const unsure = new Set<Address>();

  const become = (state: State) => {
    if (state.now !== there.now) svm.setClock(new Clock(1n, START, 0n, 0n, state.now));
    for (const address of there.entries.keys()) if (!state.entries.has(address)) put(address, rawOf(NOTHING));
    for (const [address, entry] of state.entries) if (entry !== entryAt(there, address)) put(address, rawOf(entry));
    there = state;
    bank = svm.getBalance(bytesOf(cast.bank)) ?? 0n;
  };
  const isThere = (address: Address, { lamports, data, owner }: Raw): boolean => {
    const found = svm.getAccount(bytesOf(address));
    if (found === null || found.lamports() === 0n) return lamports === 0n;
    return (
      found.lamports() === lamports &&
      Buffer.compare(found.data(), data) === 0 &&
      Buffer.compare(found.owner(), owner) === 0
    );
  };
  return {
    become,
    follow(state) {
      there = state;
      unsure.clear();
    },
    send(instructions) {
      for (const { accounts = [] } of instructions)
        for (const { address } of accounts) if (cast.mayChange(address)) unsure.add(address);
      const sent = svm.sendLegacyTransaction(transactionOf(cast.bank, instructions));
      return sent instanceof FailedTransactionMetadata ? reasonOf(sent) : 'ok';
    },
    differing: (state, among = state.entries.keys()) =>
      [...among].filter((each) => each !== cast.bank && !isThere(each, rawOf(entryAt(state, each)))),
    feesPaid() {
      const now = svm.getBalance(bytesOf(cast.bank)) ?? 0n;
      const paid = bank - now;
      bank = now;
      return paid;
    },
  };
}

/** The fee of a transaction: 5,000 lamports for the bank's signature and for each other one, of a consent, too. */
export const feeOf = (bank: Address, instructions: readonly Instruction[]): bigint => {
  const signers = new Set([bank]);
  for (const { accounts = [] } of instructions)
    for (const { address, role } of accounts) if (role & 2) signers.add(address);
  const consents = instructions.filter(({ programAddress }) => programAddress === ED25519_PROGRAM);
  return FEE * BigInt(signers.size + consents.length);
};

/** A legacy transaction, with signatures that nobody checks. */
function transactionOf(feePayer: Address, instructions: readonly Instruction[]): Uint8Array {
  const roles = new Map<Address, number>([[feePayer, 3]]);
  for (const { programAddress, accounts = [] } of instructions) {
    for (const { address, role } of accounts) roles.set(address, (roles.get(address) ?? 0) | role);
    roles.set(programAddress, roles.get(programAddress) ?? 0);
  }
  const keys = [...roles].sort(([, left], [, right]) => right - left);
  const having = (role: number) => keys.filter(([, each]) => each === role).length;
  const signers = having(3) + having(2);
  const bytes = new Uint8Array(2048);
  let at = 0;
  const put = (...values: number[]) => {
    for (const value of values) bytes[at++] = value;
  };
  const append = (values: ArrayLike<number>) => {
    bytes.set(values, at);
    at += values.length;
  };
  put(signers);
  bytes.fill(1, at, at + 64 * signers);
  at += 64 * signers;
  put(signers, having(2), having(0), keys.length);
  const places = new Map<Address, number>();
  for (const [key] of keys) {
    places.set(key, places.size);
    append(bytesOf(key));
  }
  at += 32; // The blockhash, which nobody checks either.
  put(instructions.length);
  for (const { programAddress, accounts = [], data = new Uint8Array() } of instructions) {
    put(places.get(programAddress) ?? 0, accounts.length);
    for (const { address } of accounts) put(places.get(address) ?? 0);
    // No list of accounts is longer than 127, the data of an Open that is too long is.
    if (data.length < 128) put(data.length);
    else put((data.length & 127) | 128, data.length >> 7);
    append(data);
  }
  return bytes.slice(0, at);
}

/** The native classes say what they are by name only; the custom code hides two calls deep. */
function reasonOf(failed: FailedTransactionMetadata): number | string {
  const error = failed.err();
  const inner = typeof error === 'object' && 'err' in error ? error.err() : error;
  return typeof inner === 'object' && 'code' in inner ? Number(inner.code) : failed.toString();
}
