import type { Address, Instruction } from '@solana/kit';
import { ESCROW_PROGRAM_ID } from '../../../src/escrow/address.ts';
import { INSTRUCTIONS_SYSVAR } from '../../../src/escrow/consent.ts';
import { worksBelow } from './below.ts';
import type { Cast } from './cast.ts';
import { type Broken, type Named, ruled } from './rules.ts';
import {
  capturable,
  capturedOf,
  draftOf,
  type Entry,
  type Escrow,
  entryAt,
  NOTHING,
  rawOf,
  type State,
} from './state.ts';

/** What the model says of a transaction: done whole, or not at all. */
export interface Expected {
  /** Empty where it must be done. `elsewhere`: another program refuses; `rent`: the runtime does, at the end. */
  readonly broken: readonly (Broken | 'elsewhere' | 'rent')[];
  readonly after: State;
  /** The state before each instruction, and after the last: what is promised holds from one to the next. */
  readonly steps: readonly State[];
}

/** The rights of an account are those of the whole transaction, whichever instruction asked for them. */
function rightsOf(cast: Cast, instructions: readonly Instruction[]): Map<Address, number> {
  const rights = new Map<Address, number>([[cast.bank, 3]]);
  for (const { accounts = [] } of instructions) {
    for (const { address, role } of accounts) rights.set(address, (rights.get(address) ?? 0) | role);
  }
  for (const { programAddress } of instructions) {
    rights.set(programAddress, (rights.get(programAddress) ?? 0) & 2);
  }
  // The runtime lets nobody write to a sysvar, whatever a transaction asks for.
  rights.set(INSTRUCTIONS_SYSVAR, (rights.get(INSTRUCTIONS_SYSVAR) ?? 0) & 2);
  return rights;
}

export function expected(cast: Cast, before: State, instructions: readonly Instruction[]): Expected {
  const rights = rightsOf(cast, instructions);
  const refused = (broken: Expected['broken']): Expected => ({ broken, after: before, steps: [before] });
  let draft = draftOf(before);
  const steps: State[] = [before];
  for (const [index, { programAddress, accounts = [], data }] of instructions.entries()) {
    const named = accounts.map(({ address }): Named => {
      const role = rights.get(address) ?? 0;
      return { address, isSigner: (role & 2) !== 0, isWritable: (role & 1) !== 0 };
    });
    const bytes = new Uint8Array(data ?? []);
    if (programAddress === ESCROW_PROGRAM_ID) {
      const broken = ruled({ cast, draft, accounts: named, data: bytes, before: instructions[index - 1] });
      if (broken.length > 0) return refused(broken);
    } else if (!worksBelow(programAddress, { cast, draft, accounts: named, data: bytes })) {
      return refused(['elsewhere']);
    }
    steps.push(draft);
    draft = draftOf(draft);
  }
  const isKept = [...rights.keys()].every((address) => keepsItsRent(entryAt(before, address), entryAt(draft, address)));
  return isKept ? { broken: [], after: draft, steps } : refused(['rent']);
}

/** An account that changed is gone, or holds what lets it stay: 128 bytes more than its data, for two years. */
function keepsItsRent(before: Entry, after: Entry): boolean {
  if (before === after || after.lamports === 0n) return true;
  return after.lamports >= BigInt(128 + rawOf(after).data.length) * 6960n;
}

/**
 * The promises to those who pay, read from two states of the real accounts, whatever the rules say: no unit and no
 * lamport is made or lost; an end is for good, and no term changes; only a vault pays, only to the treasury and the
 * refund owner that were frozen, and to the treasury exactly what is recorded as captured; what is left to capture is in
 * the vault; nothing is captured or refunded after its deadline. So what was funded is always captured, released or held.
 * @returns the first one that is broken, in words
 */
export function brokenPromise(cast: Cast, instruction: Instruction, before: State, after: State): string | null {
  const touched = [...rightsOf(cast, [instruction]).keys()];
  const lamports = (state: State) => touched.reduce((sum, each) => sum + entryAt(state, each).lamports, 0n);
  if (lamports(before) !== lamports(after)) return 'lamports were made or lost';
  for (const mint of [cast.usdc, cast.other]) {
    const units = (state: State) =>
      touched.reduce((sum, each) => {
        const held = entryAt(state, each);
        return held.kind === 'token' && held.mint === mint ? sum + held.amount : sum;
      }, 0n);
    if (units(before) !== units(after)) return 'units were made or lost';
  }
  for (const each of touched) {
    const [was, is] = [entryAt(before, each), entryAt(after, each)];
    const broken = was.kind === 'escrow' ? brokenTerm(was, is, after.now) : null;
    if (broken) return broken;
    if (!isCovered(is, after)) return 'what can be captured is not in the vault';
  }
  return instruction.programAddress === ESCROW_PROGRAM_ID ? brokenPayment(cast, instruction, before, after) : null;
}

/** All that must stay; lamports may come as a gift, and amounts are looked at by themselves. */
function termsOf(escrow: Escrow, isEnded: boolean): string {
  const { lamports: _gifts, state, endedAt, neverFunded, part, authorization, ...frozen } = escrow;
  const captured = capturedOf(escrow);
  const kept = { ...frozen, receiver: authorization?.receiverAuthorizer, due: authorization?.refundDeadline };
  const terms = isEnded ? { ...kept, state, endedAt, neverFunded, part, captured } : kept;
  return JSON.stringify(terms, (_key, value) => (typeof value === 'bigint' ? `${value}` : value));
}

function brokenTerm(was: Escrow, is: Entry, now: bigint): string | null {
  if (was === is) return null;
  const isEnded = was.state !== 'open';
  if (is.kind !== 'escrow') return isEnded ? null : 'an open escrow is gone';
  if (termsOf(was, isEnded) !== termsOf(is, isEnded)) return 'a term of an escrow changed';
  const [before, after] = [was, is].map((one) => ({
    captured: capturedOf(one),
    refunded: one.authorization?.refunded ?? 0n,
  }));
  if (!before || !after) return null;
  if (after.captured < before.captured || after.refunded < before.refunded) return 'an amount went down';
  if (after.captured > is.amount || after.refunded > after.captured) return 'an amount went too far';
  const isBounded = is.authorization !== null || is.part !== null;
  if (after.captured > before.captured && isBounded && now >= is.refundAfter) return 'a capture was late';
  const due = is.authorization?.refundDeadline ?? 0n;
  return after.refunded > before.refunded && now >= due ? 'a refund was late' : null;
}

/** Adds up by owner what the program's own instructions moved: who gains is a treasury, or may be refunded. */
function brokenPayment(cast: Cast, instruction: Instruction, before: State, after: State): string | null {
  const gained = new Map<Address, bigint>();
  const due = new Map<Address, bigint>();
  const refunded = new Set<Address>();
  const add = (to: Map<Address, bigint>, owner: Address, amount: bigint) =>
    to.set(owner, (to.get(owner) ?? 0n) + amount);
  for (const { escrow, committed } of cast.places)
    if (committed && entryAt(before, escrow).kind !== 'escrow') refunded.add(committed);
  const vaults = new Map<Address, bigint>(cast.places.map(({ escrow }) => [escrow, 0n]));
  for (const each of rightsOf(cast, [instruction]).keys()) {
    const [was, is] = [entryAt(before, each), entryAt(after, each)];
    if (was.kind === 'token') add(gained, was.owner, (is.kind === 'token' ? is.amount : 0n) - was.amount);
    if (was.kind !== 'escrow') {
      if (is.kind !== 'escrow' || !is.authorization) continue;
      // Funded by its payer, whom it refunds.
      add(due, is.refundOwner, -is.amount);
      vaults.set(each, is.amount);
      refunded.delete(is.refundOwner);
      continue;
    }
    const more = is.kind === 'escrow' ? (is.authorization?.refunded ?? 0n) - (was.authorization?.refunded ?? 0n) : 0n;
    if (more > 0n) {
      add(due, was.refundOwner, more);
      add(due, instruction.accounts?.[3]?.address ?? each, -more);
    } else refunded.add(was.refundOwner);
    add(due, was.treasury, is.kind === 'escrow' ? capturedOf(is) - capturedOf(was) : 0n);
  }
  for (const owner of new Set([...gained.keys(), ...due.keys()])) {
    const [got, owed, most] = [gained.get(owner) ?? 0n, due.get(owner) ?? 0n, vaults.get(owner)];
    const isRight = refunded.has(owner) ? got >= owed : most === undefined ? got === owed : got <= 0n || got === most;
    if (!isRight) return `${owner} gained ${got} where ${owed} was due`;
  }
  return null;
}

/** What an authorization may still pay is in its vault. */
function isCovered(escrow: Entry, state: State): boolean {
  if (escrow.kind !== 'escrow' || !escrow.authorization) return true;
  const vault = entryAt(state, escrow.vault);
  return capturable(escrow) <= (vault.kind === 'token' ? vault.amount : 0n);
}

/** What an address held before, and holds now, for a message. */
export const shown = (entry: Entry): string =>
  entry === NOTHING
    ? 'nothing'
    : JSON.stringify(entry, (_key, value) => (typeof value === 'bigint' ? `${value}` : value));
