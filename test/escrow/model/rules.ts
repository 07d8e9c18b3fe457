import { type Address, getAddressDecoder } from '@solana/kit';
import { ESCROW_PROGRAM_ID } from '../../../src/escrow/address.ts';
import { TOKEN_PROGRAM } from '../../../src/solana/token.ts';
import { DAY, STATE_RENT, SYSTEM_PROGRAM } from '../program-world.ts';
import type { EscrowRefusalName } from '../refusals.ts';
import { type Cast, sha256 } from './cast.ts';
import { type Draft, type Entry, type Escrow, NOTHING } from './state.ts';

/**
 * The promises of docs/escrow.md as rules: for each instruction every condition that it breaks, in no order, and what
 * it does when it breaks none. The program must refuse exactly when there is one, and must name one of them.
 */

/** `insufficient` and `frozen` are passed up from the programs below. */
export type Broken = EscrowRefusalName | 'insufficient' | 'frozen';

export interface Named {
  readonly address: Address;
  readonly isSigner: boolean;
  readonly isWritable: boolean;
}

interface Call {
  readonly cast: Cast;
  readonly draft: Draft;
  readonly accounts: readonly Named[];
  readonly data: Uint8Array;
  readonly broken: Broken[];
}

const decoder = getAddressDecoder();
const CLOSE_AFTER = 30n * DAY;
const NAMED_NOBODY: Named = { address: SYSTEM_PROGRAM, isSigner: false, isWritable: false };

type Eight = [Named, Named, Named, Named, Named, Named, Named, Named];

/** The accounts of a call, in their order; as many as a list may have. */
const listed = ({ accounts }: Call): Eight => {
  const at = (index: number): Named => accounts[index] ?? NAMED_NOBODY;
  return [at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)];
};
const entry = (call: Call, address: Address): Entry => call.draft.entries.get(address) ?? NOTHING;
const require = (call: Call, isSo: boolean, otherwise: Broken): void => {
  if (!isSo) call.broken.push(otherwise);
};

function isOfTokenProgram(held: Entry): boolean {
  return held.kind === 'token' || (held.kind === 'fixed' && held.owner === TOKEN_PROGRAM);
}

/** What is frozen neither gives nor takes. */
function checkThawed(call: Call, ...accounts: readonly Address[]): void {
  for (const each of accounts) {
    const held = entry(call, each);
    require(call, held.kind !== 'token' || !held.isFrozen, 'frozen');
  }
}

function move(call: Call, from: Address, to: Address, amount: bigint): void {
  const [source, target] = [entry(call, from), entry(call, to)];
  if (source.kind !== 'token' || target.kind !== 'token') return;
  call.draft.entries.set(from, { ...source, amount: source.amount - amount });
  call.draft.entries.set(to, { ...target, amount: target.amount + amount });
}

function closeInto(call: Call, closed: Address, rentTo: Address): void {
  const { lamports } = entry(call, closed);
  call.draft.entries.set(closed, NOTHING);
  const target = entry(call, rentTo);
  call.draft.entries.set(rentTo, { ...target, lamports: target.lamports + lamports });
}

function checkDestination(call: Call, to: Named, rule: { owner: Address; mint: Address; vault: Address }): void {
  const held = entry(call, to.address);
  require(call, to.address !== rule.vault, 'destination_is_vault');
  require(call, to.isWritable, 'not_writable');
  require(call, held.kind === 'token', 'destination_not_token_account');
  if (held.kind !== 'token') return;
  require(call, held.mint === rule.mint, 'destination_wrong_mint');
  require(call, held.owner === rule.owner, 'destination_wrong_owner');
}

/** How much is in the vault, once it is the vault. */
function checkVault(call: Call, vault: Named, escrow: Escrow, state: Address): bigint {
  require(call, vault.address === escrow.vault, 'wrong_vault');
  require(call, vault.isWritable, 'not_writable');
  const held = entry(call, vault.address);
  const isUsable = held.kind === 'token' && held.owner === state && held.mint === escrow.mint;
  require(call, isUsable, 'vault_unusable');
  return held.kind === 'token' ? held.amount : 0n;
}

/** The escrow at an account; null, with the reason, when there is none. */
function load(call: Call, { address }: Named): Escrow | null {
  const held = entry(call, address);
  if (held.kind === 'escrow') return held;
  const isOurs = held.kind === 'fixed' && held.owner === ESCROW_PROGRAM_ID;
  require(call, false, isOurs ? 'state_unreadable' : 'state_not_ours');
  return null;
}

const counts: Record<number, readonly [accounts: number, bytes: number]> = {
  0: [6, 113],
  1: [7, 1],
  2: [6, 1],
  3: [5, 1],
  4: [4, 1],
  5: [5, 31],
};

function hasItsShape(call: Call): boolean {
  const [tag] = call.data;
  // A list that is longer than any instruction takes is not read at all.
  if (call.accounts.length > 8) return !call.broken.push('too_many_accounts');
  if (tag === undefined) return !call.broken.push('wrong_data_length');
  const shape = counts[tag];
  if (!shape) return !call.broken.push('unknown_instruction');
  require(call, call.data.length === shape[1], 'wrong_data_length');
  require(call, call.accounts.length >= shape[0], 'too_few_accounts');
  require(call, call.accounts.length <= shape[0], 'too_many_accounts');
  return call.broken.length === 0;
}

function open(call: Call): void {
  const { cast, data, draft } = call;
  const [authority, payer, state, vault, mint, system] = listed(call);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const intentHash = data.slice(1, 33);
  const amount = view.getBigUint64(33, true);
  const refundAfter = view.getBigInt64(41, true);
  const treasury = decoder.decode(data, 49);
  const refundOwner = decoder.decode(data, 81);
  const place = cast.places.find((each) => Buffer.compare(each.intentHash, intentHash) === 0);
  require(call, authority.isSigner && payer.isSigner, 'missing_signature');
  require(call, payer.isWritable && state.isWritable, 'not_writable');
  require(call, system.address === SYSTEM_PROGRAM, 'wrong_system_program');
  require(call, place?.escrow === state.address, 'wrong_state_address');
  const before = entry(call, state.address);
  require(call, before.kind === 'wallet', 'already_open');
  require(call, amount > 0n, 'amount_zero');
  require(call, refundAfter > draft.now, 'deadline_not_ahead');
  for (const party of [treasury, refundOwner]) {
    const isNobody = party === SYSTEM_PROGRAM || party === state.address || party === vault.address;
    require(call, !isNobody, 'party_invalid');
  }
  require(call, treasury !== refundOwner, 'parties_equal');
  const coin = entry(call, mint.address);
  require(call, coin.kind === 'fixed' && coin.isMint, 'wrong_mint');
  require(call, cast.accountOf(state.address, mint.address) === vault.address, 'wrong_vault');
  const held = entry(call, vault.address);
  const isPlain = held.kind === 'token' && held.owner === state.address && held.mint === mint.address;
  require(call, isPlain && !held.isFrozen, 'vault_unusable');
  require(call, held.kind !== 'token' || held.amount === 0n, 'vault_not_empty');
  const missing = before.lamports < STATE_RENT ? STATE_RENT - before.lamports : 0n;
  const purse = entry(call, payer.address);
  require(call, missing === 0n || purse.lamports >= missing, 'insufficient');
  if (call.broken.length > 0 || !place) return;

  draft.entries.set(payer.address, { ...purse, lamports: purse.lamports - missing });
  draft.entries.set(state.address, {
    kind: 'escrow',
    lamports: before.lamports + missing,
    programId: ESCROW_PROGRAM_ID,
    state: 'open',
    neverFunded: false,
    bump: place.bump,
    intentHash,
    authority: authority.address,
    mint: mint.address,
    treasury,
    refundOwner,
    rentPayer: payer.address,
    vault: vault.address,
    amount,
    refundAfter,
    openedAt: draft.now,
    endedAt: 0n,
  });
}

function capture(call: Call): void {
  const [authority, state, vault, treasury, refund, rentPayer, token] = listed(call);
  const escrow = load(call, state);
  if (!escrow) return;
  require(call, state.isWritable, 'not_writable');
  checkAuthority(call, authority, escrow);
  require(call, escrow.state === 'open', 'not_open');
  require(call, token.address === TOKEN_PROGRAM, 'wrong_token_program');
  const held = checkVault(call, vault, escrow, state.address);
  checkRentPayer(call, rentPayer, escrow);
  checkDestination(call, treasury, { ...escrow, owner: escrow.treasury });
  require(call, held >= escrow.amount, 'underfunded');
  const excess = held - escrow.amount;
  const isLeft = excess > 0n && refund.address === ESCROW_PROGRAM_ID;
  if (excess > 0n && !isLeft) checkDestination(call, refund, { ...escrow, owner: escrow.refundOwner });
  checkThawed(call, vault.address, treasury.address, ...(excess > 0n ? [refund.address] : []));
  if (call.broken.length > 0) return;

  end(call, state.address, escrow, { state: 'captured' });
  move(call, escrow.vault, treasury.address, escrow.amount);
  if (isLeft) return;
  if (excess > 0n) move(call, escrow.vault, refund.address, excess);
  closeInto(call, escrow.vault, escrow.rentPayer);
}

function end(call: Call, at: Address, escrow: Escrow, how: Partial<Escrow>): void {
  call.draft.entries.set(at, { ...escrow, ...how, endedAt: call.draft.now });
}

function checkAuthority(call: Call, authority: Named, escrow: Escrow): void {
  require(call, authority.address === escrow.authority, 'wrong_authority');
  require(call, authority.isSigner, 'missing_signature');
}

function checkRentPayer(call: Call, rentPayer: Named, escrow: Escrow): void {
  require(call, rentPayer.address === escrow.rentPayer, 'wrong_rent_payer');
  require(call, rentPayer.isWritable, 'not_writable');
}

function refund(call: Call): void {
  const [authority, state, vault, to, rentPayer, token] = listed(call);
  const escrow = load(call, state);
  if (!escrow) return;
  require(call, state.isWritable, 'not_writable');
  require(call, authority.address === escrow.authority, 'wrong_authority');
  require(call, escrow.state === 'open', 'not_open');
  require(call, authority.isSigner || call.draft.now >= escrow.refundAfter, 'refund_not_due');
  require(call, token.address === TOKEN_PROGRAM, 'wrong_token_program');
  const held = checkVault(call, vault, escrow, state.address);
  checkRentPayer(call, rentPayer, escrow);
  if (held > 0n) checkDestination(call, to, { ...escrow, owner: escrow.refundOwner });
  if (held > 0n) checkThawed(call, vault.address, to.address);
  if (call.broken.length > 0) return;

  end(call, state.address, escrow, { state: 'refunded', neverFunded: held < escrow.amount });
  if (held > 0n) move(call, escrow.vault, to.address, held);
  closeInto(call, escrow.vault, escrow.rentPayer);
}

function sweep(call: Call): void {
  const [state, vault, to, rentPayer, token] = listed(call);
  const escrow = load(call, state);
  if (!escrow) return;
  require(call, token.address === TOKEN_PROGRAM, 'wrong_token_program');
  if (!isOfTokenProgram(entry(call, vault.address))) require(call, false, 'nothing_to_sweep');
  const held = checkVault(call, vault, escrow, state.address);
  checkRentPayer(call, rentPayer, escrow);
  const kept = escrow.state === 'open' ? escrow.amount : 0n;
  require(call, escrow.state !== 'open' || held > kept, 'nothing_to_sweep');
  if (held > kept) checkDestination(call, to, { ...escrow, owner: escrow.refundOwner });
  if (held > kept) checkThawed(call, vault.address, to.address);
  if (call.broken.length > 0) return;

  if (held > kept) move(call, escrow.vault, to.address, held - kept);
  if (escrow.state !== 'open') closeInto(call, escrow.vault, escrow.rentPayer);
}

function close(call: Call): void {
  const [authority, state, vault, rentPayer] = listed(call);
  const escrow = load(call, state);
  if (!escrow) return;
  require(call, state.isWritable, 'not_writable');
  checkAuthority(call, authority, escrow);
  require(call, escrow.state !== 'open', 'not_ended');
  const isLongAgo = call.draft.now - escrow.endedAt >= CLOSE_AFTER;
  require(call, escrow.neverFunded || isLongAgo, 'close_too_early');
  checkRentPayer(call, rentPayer, escrow);
  require(call, vault.address === escrow.vault, 'wrong_vault');
  require(call, !isOfTokenProgram(entry(call, vault.address)), 'vault_still_there');
  if (call.broken.length === 0) closeInto(call, state.address, escrow.rentPayer);
}

function recover(call: Call): void {
  const [state, vault, to, owner, token] = listed(call);
  const intentHash = sha256(call.data.slice(1));
  const place = call.cast.places.find((each) => Buffer.compare(each.intentHash, intentHash) === 0);
  require(call, place?.escrow === state.address, 'wrong_state_address');
  require(call, entry(call, state.address).kind !== 'escrow', 'escrow_still_there');
  require(call, token.address === TOKEN_PROGRAM, 'wrong_token_program');
  require(call, vault.isWritable && owner.isWritable, 'not_writable');
  const held = entry(call, vault.address);
  require(call, held.kind === 'token' && held.owner === state.address, 'wrong_vault');
  if (held.kind === 'token') {
    checkDestination(call, to, { owner: owner.address, mint: held.mint, vault: vault.address });
    if (held.amount > 0n) checkThawed(call, vault.address, to.address);
  }
  require(call, place?.committed === owner.address, 'owner_not_committed');
  if (call.broken.length > 0 || held.kind !== 'token') return;
  if (held.amount > 0n) move(call, vault.address, to.address, held.amount);
  closeInto(call, vault.address, owner.address);
}

const INSTRUCTIONS = [open, capture, refund, sweep, close, recover] as const;

/** Applies an instruction of the escrow program to the draft. @returns the conditions that it breaks */
export function ruled(cast: Cast, draft: Draft, accounts: readonly Named[], data: Uint8Array): Broken[] {
  const call: Call = { cast, draft, accounts, data, broken: [] };
  if (hasItsShape(call)) INSTRUCTIONS[data[0] ?? 0]?.(call);
  return call.broken;
}
