import { type Address, getAddressDecoder, type Instruction } from '@solana/kit';
import { ESCROW_PROGRAM_ID } from '../../../src/escrow/address.ts';
import { ED25519_PROGRAM, INSTRUCTIONS_SYSVAR } from '../../../src/escrow/consent.ts';
import { TOKEN_PROGRAM } from '../../../src/solana/token.ts';
import { AUTHORIZATION_RENT, DAY, STATE_RENT, SYSTEM_PROGRAM } from '../program-world.ts';
import type { EscrowRefusalName } from '../refusals.ts';
import { type Cast, sha256 } from './cast.ts';
import { bytesOf, capturable, type Draft, type Entry, type Escrow, NOTHING, refundable } from './state.ts';

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
  /** The instruction before it in the transaction. */
  readonly before: Instruction | undefined;
  readonly broken: Broken[];
  /** The consent that it spends. */
  served: string | null;
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

type Shape = readonly [accounts: number, bytes: number];

/** A longer form, which is another's: a void, Recover of an authorization, CapturePart with a consent. */
const SHAPES: Record<number, readonly [Shape, Shape?]> = {
  0: [[6, 113]],
  1: [[7, 1]],
  2: [
    [6, 1],
    [7, 25],
  ],
  3: [[5, 1]],
  4: [[4, 1]],
  5: [
    [5, 31],
    [5, 217],
  ],
  6: [[8, 185]],
  7: [[7, 34]],
  8: [[7, 33]],
};

function hasItsShape(call: Call): boolean {
  const [tag] = call.data;
  // A list that is longer than any instruction takes is not read at all.
  if (call.accounts.length > 8) return !call.broken.push('too_many_accounts');
  if (tag === undefined) return !call.broken.push('wrong_data_length');
  const [usual, longer] = SHAPES[tag] ?? [];
  if (!usual) return !call.broken.push('unknown_instruction');
  const isLonger = call.data.length === longer?.[1];
  const shape = tag === 7 && call.accounts.length === 8 ? [8, 34] : isLonger && longer ? longer : usual;
  require(call, call.data.length === shape[1], 'wrong_data_length');
  const [count = 0] = shape;
  require(call, call.accounts.length >= count, 'too_few_accounts');
  require(call, call.accounts.length <= count, 'too_many_accounts');
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
  const place = cast.places.find((each) => !each.terms && Buffer.compare(each.hash, intentHash) === 0);
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
    hash: intentHash,
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
    part: null,
    authorization: null,
  });
}

function capture(call: Call): void {
  const [authority, state, vault, treasury, refund, rentPayer, token] = listed(call);
  const escrow = load(call, state);
  if (!escrow) return;
  require(call, escrow.authorization === null, 'wrong_layout');
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
  if (call.data.length > 1) {
    require(call, escrow.authorization !== null, 'wrong_layout');
    require(call, authority.isSigner, 'missing_signature');
    checkExpected(call, escrow);
    if (escrow.authorization) checkConsent(call, listed(call)[6], escrow, state.address);
  } else {
    const byOperator = authority.isSigner && escrow.authorization === null;
    require(call, byOperator || call.draft.now >= escrow.refundAfter, 'refund_not_due');
  }
  require(call, token.address === TOKEN_PROGRAM, 'wrong_token_program');
  const held = checkVault(call, vault, escrow, state.address);
  checkRentPayer(call, rentPayer, escrow);
  if (held > 0n) checkDestination(call, to, { ...escrow, owner: escrow.refundOwner });
  if (held > 0n) checkThawed(call, vault.address, to.address);
  if (call.broken.length > 0) return;

  end(call, state.address, escrow, { state: 'refunded', neverFunded: held < capturable(escrow) });
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
  const kept = capturable(escrow);
  require(call, escrow.state !== 'open' || held > kept, 'nothing_to_sweep');
  if (held > kept) checkDestination(call, to, { ...escrow, owner: escrow.refundOwner });
  if (held > kept) checkThawed(call, vault.address, to.address);
  if (call.broken.length > 0) return;

  if (held > kept) move(call, escrow.vault, to.address, held - kept);
  if (escrow.state !== 'open') closeInto(call, escrow.vault, escrow.rentPayer);
}

function mayClose({ authorization, neverFunded, openedAt, endedAt }: Escrow, now: bigint): boolean {
  if (!authorization) return neverFunded || now - endedAt >= CLOSE_AFTER;
  return authorization.captured === 0n ? now > openedAt : now >= authorization.refundDeadline;
}

function close(call: Call): void {
  const [authority, state, vault, rentPayer] = listed(call);
  const escrow = load(call, state);
  if (!escrow) return;
  require(call, state.isWritable, 'not_writable');
  if (escrow.authorization && authority.address === escrow.rentPayer)
    require(call, authority.isSigner, 'missing_signature');
  else checkAuthority(call, authority, escrow);
  require(call, escrow.state !== 'open', 'not_ended');
  require(call, mayClose(escrow, call.draft.now), 'close_too_early');
  checkRentPayer(call, rentPayer, escrow);
  require(call, vault.address === escrow.vault, 'wrong_vault');
  require(call, !isOfTokenProgram(entry(call, vault.address)), 'vault_still_there');
  if (call.broken.length === 0) closeInto(call, state.address, escrow.rentPayer);
}

function recover(call: Call): void {
  const [state, vault, to, owner, token] = listed(call);
  const isAuthorization = call.data.length > 31;
  const named = call.data.slice(1);
  const hash = sha256(isAuthorization ? Buffer.concat([bytesOf(owner.address), named]) : named);
  const place = call.cast.places.find(
    (each) => (each.terms !== null) === isAuthorization && Buffer.compare(each.hash, hash) === 0,
  );
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

function checkSource(call: Call, source: Named, owner: Address, mint: Address): bigint {
  const held = entry(call, source.address);
  const isUsable = held.kind === 'token' && held.owner === owner && held.mint === mint;
  require(call, isUsable, 'source_unusable');
  require(call, source.isWritable, 'not_writable');
  return held.kind === 'token' ? held.amount : 0n;
}

const numbersIn = (data: Uint8Array) => new DataView(data.buffer, data.byteOffset, data.byteLength);

function authorize(call: Call): void {
  const { cast, data, draft } = call;
  const [payer, rentPayer, state, vault, source, mint, token, system] = listed(call);
  const view = numbersIn(data);
  const hash = sha256(Buffer.concat([bytesOf(payer.address), bytesOf(mint.address), data.slice(1)]));
  const place = cast.places.find(({ terms, hash: of }) => terms !== null && Buffer.compare(of, hash) === 0);
  const [amount, captureDeadline, refundDeadline] = [
    view.getBigUint64(65, true),
    view.getBigInt64(73, true),
    view.getBigInt64(81, true),
  ];
  const [operator, payTo, receiverAuthorizer] = [89, 121, 153].map((at) => decoder.decode(data, at)) as [
    Address,
    Address,
    Address,
  ];
  require(call, payer.isSigner && rentPayer.isSigner, 'missing_signature');
  require(call, rentPayer.isWritable && state.isWritable && vault.isWritable, 'not_writable');
  require(call, system.address === SYSTEM_PROGRAM, 'wrong_system_program');
  require(call, token.address === TOKEN_PROGRAM, 'wrong_token_program');
  require(call, place?.escrow === state.address, 'wrong_state_address');
  const before = entry(call, state.address);
  require(call, before.kind === 'wallet', 'already_open');
  require(call, amount > 0n, 'amount_zero');
  require(call, captureDeadline > draft.now, 'deadline_not_ahead');
  require(call, refundDeadline >= captureDeadline, 'deadlines_reversed');
  for (const party of [operator, payTo, receiverAuthorizer]) {
    const isNobody = party === SYSTEM_PROGRAM || party === state.address || party === vault.address;
    require(call, !isNobody, 'party_invalid');
  }
  require(call, payTo !== payer.address, 'parties_equal');
  const coin = entry(call, mint.address);
  require(call, coin.kind === 'fixed' && coin.isMint, 'wrong_mint');
  require(call, cast.accountOf(state.address, mint.address) === vault.address, 'wrong_vault');
  const held = entry(call, vault.address);
  const isPlain = held.kind === 'token' && held.owner === state.address && held.mint === mint.address;
  require(call, isPlain && !held.isFrozen, 'vault_unusable');
  const missing = before.lamports < AUTHORIZATION_RENT ? AUTHORIZATION_RENT - before.lamports : 0n;
  const purse = entry(call, rentPayer.address);
  require(call, missing === 0n || purse.lamports >= missing, 'insufficient');
  const has = checkSource(call, source, payer.address, mint.address);
  require(call, has >= amount, 'insufficient');
  checkThawed(call, source.address);
  if (call.broken.length > 0 || !place) return;

  draft.entries.set(rentPayer.address, { ...purse, lamports: purse.lamports - missing });
  draft.entries.set(state.address, {
    kind: 'escrow',
    lamports: before.lamports + missing,
    programId: ESCROW_PROGRAM_ID,
    state: 'open',
    neverFunded: false,
    bump: place.bump,
    hash,
    authority: operator,
    mint: mint.address,
    treasury: payTo,
    refundOwner: payer.address,
    rentPayer: rentPayer.address,
    vault: vault.address,
    amount,
    refundAfter: captureDeadline,
    openedAt: draft.now,
    endedAt: 0n,
    part: null,
    authorization: { receiverAuthorizer, captured: 0n, refunded: 0n, refundDeadline },
  });
  move(call, source.address, vault.address, amount);
}

/** The end of the data: the pair, and the last second. */
function checkExpected(call: Call, escrow: Escrow): void {
  const view = numbersIn(call.data.slice(-24));
  const isSo = view.getBigUint64(0, true) === capturable(escrow) && view.getBigUint64(8, true) === refundable(escrow);
  require(call, isSo, 'balances_differ');
  require(call, call.draft.now <= view.getBigInt64(16, true), 'consent_expired');
}

/** A consent is the authorizer's own signature, or his under the very words, in the instruction just before. */
function checkConsent(call: Call, consent: Named, escrow: Escrow, at: Address): void {
  const authorizer = escrow.authorization?.receiverAuthorizer;
  const { before, data } = call;
  const openedAt = new Uint8Array(8);
  numbersIn(openedAt).setBigInt64(0, escrow.openedAt, true);
  const words = Buffer.concat([Buffer.from('x402-ac-svm-v1'), bytesOf(ESCROW_PROGRAM_ID), bytesOf(at), openedAt, data]);
  const said = Buffer.from(before?.data ?? []);
  const isSigned =
    before?.programAddress === ED25519_PROGRAM &&
    authorizer !== undefined &&
    said.subarray(16, 48).equals(bytesOf(authorizer)) &&
    said.subarray(112).equals(words);
  const isHis = consent.address === authorizer && consent.isSigner;
  const isServed = consent.address === INSTRUCTIONS_SYSVAR && isSigned;
  require(call, isHis || isServed, 'not_consented');
  // The draft of an instruction that is refused is thrown away.
  if (isServed && !isHis) call.served = words.toString('hex');
}

function part(call: Call): void {
  const [authority, state, vault, treasury, refund, rentPayer, token, consent] = listed(call);
  const escrow = load(call, state);
  if (!escrow) return;
  const amount = numbersIn(call.data).getBigUint64(1, true);
  const releases = call.data[9] !== 0;
  const { authorization } = escrow;
  require(call, (authorization !== null) === (call.accounts.length === 8), 'wrong_layout');
  require(call, state.isWritable, 'not_writable');
  checkAuthority(call, authority, escrow);
  require(call, escrow.state === 'open', 'not_open');
  require(call, call.draft.now < escrow.refundAfter, 'deadline_passed');
  checkExpected(call, escrow);
  require(call, token.address === TOKEN_PROGRAM, 'wrong_token_program');
  const held = checkVault(call, vault, escrow, state.address);
  checkRentPayer(call, rentPayer, escrow);
  checkDestination(call, treasury, { ...escrow, owner: escrow.treasury });
  require(call, amount > 0n, 'amount_zero');
  const most = capturable(escrow);
  require(call, amount <= most, 'amount_exceeds');
  require(call, held >= most, 'underfunded');
  if (authorization) checkConsent(call, consent, escrow, state.address);
  else require(call, amount < most && releases, 'part_invalid');
  const ends = releases || amount === most;
  const left = held - amount;
  const isLeft = left > 0n && refund.address === ESCROW_PROGRAM_ID;
  const goesBack = ends && left > 0n && !isLeft;
  if (goesBack) checkDestination(call, refund, { ...escrow, owner: escrow.refundOwner });
  checkThawed(call, vault.address, treasury.address, ...(goesBack ? [refund.address] : []));
  if (call.broken.length > 0) return;

  const counted: Escrow = authorization
    ? { ...escrow, authorization: { ...authorization, captured: authorization.captured + amount } }
    : { ...escrow, part: amount };
  if (ends) end(call, state.address, counted, { state: 'captured' });
  else call.draft.entries.set(state.address, counted);
  move(call, escrow.vault, treasury.address, amount);
  if (!ends || isLeft) return;
  if (left > 0n) move(call, escrow.vault, refund.address, left);
  closeInto(call, escrow.vault, escrow.rentPayer);
}

function refundCaptured(call: Call): void {
  const [authority, state, source, funder, to, token, consent] = listed(call);
  const escrow = load(call, state);
  if (!escrow) return;
  const amount = numbersIn(call.data).getBigUint64(1, true);
  const { authorization } = escrow;
  require(call, authorization !== null, 'wrong_layout');
  if (!authorization) return;
  require(call, state.isWritable, 'not_writable');
  checkAuthority(call, authority, escrow);
  require(call, call.draft.now < authorization.refundDeadline, 'deadline_passed');
  checkExpected(call, escrow);
  require(call, token.address === TOKEN_PROGRAM, 'wrong_token_program');
  require(call, funder.isSigner, 'missing_signature');
  require(call, funder.address !== escrow.refundOwner, 'source_unusable');
  const has = checkSource(call, source, funder.address, escrow.mint);
  checkDestination(call, to, { ...escrow, owner: escrow.refundOwner });
  require(call, amount > 0n, 'amount_zero');
  require(call, amount <= refundable(escrow), 'amount_exceeds');
  checkConsent(call, consent, escrow, state.address);
  require(call, has >= amount, 'insufficient');
  checkThawed(call, source.address, to.address);
  if (call.broken.length > 0) return;

  const refunded = authorization.refunded + amount;
  call.draft.entries.set(state.address, { ...escrow, authorization: { ...authorization, refunded } });
  move(call, source.address, to.address, amount);
}

const INSTRUCTIONS = [open, capture, refund, sweep, close, recover, authorize, part, refundCaptured] as const;

/** Applies an instruction of the escrow program to the draft. @returns the conditions that it breaks */
export function ruled(given: Omit<Call, 'broken' | 'served'>): Broken[] {
  const call: Call = { ...given, broken: [], served: null };
  if (hasItsShape(call)) INSTRUCTIONS[given.data[0] ?? 0]?.(call);
  if (call.served !== null && call.broken.length === 0) {
    if (given.draft.used.has(call.served)) throw new Error('a consent has served twice');
    given.draft.used = new Set([...given.draft.used, call.served]);
  }
  return call.broken;
}
