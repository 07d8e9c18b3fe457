import { createHash } from 'node:crypto';
import type { Address } from '@solana/kit';
import { ESCROW_PROGRAM_ID, escrowAddress, refundCommitment } from '../../../src/escrow/address.ts';
import { type AuthorizationTerms, authorizationPlace } from '../../../src/escrow/authorization.ts';
import { CROCKFORD } from '../../../src/kernel/ids.ts';
import { signerFromSeed } from '../../../src/solana/signer.ts';
import { associatedTokenAddress, TOKEN_PROGRAM } from '../../../src/solana/token.ts';
import { DAY, mintData, person, START, SYSTEM_PROGRAM, TOKEN_RENT, tokenData } from '../program-world.ts';
import { type Entry, ESCROW_BYTES, type State } from './state.ts';

/** Who there is, where everything lies, and what everybody has in the beginning. */

export const U64_MAX = 2n ** 64n - 1n;
export const I64_MAX = 2n ** 63n - 1n;
const SOL = 1_000_000_000n;

/** `pauper` has too little SOL for any rent; `authorizer` consents for the treasury. */
export const NAMES = ['authority', 'traveller', 'stranger', 'treasury', 'pauper', 'authorizer'] as const;
export type Name = (typeof NAMES)[number];

export interface Place {
  readonly intentId: string;
  readonly escrow: Address;
  readonly bump: number;
  readonly hash: Uint8Array;
  /** Whom the intent id or the terms name; null for an id as 0.1.0 made them. */
  readonly committed: Address | null;
  /** Of an authorization; null for an intent. */
  readonly terms: AuthorizationTerms | null;
}

/** The places of intents come first, those of authorizations after them. */
export const INTENTS = 3;
/** Of which the first can be made. */
export const SOUND = 4;
export const AMOUNT = 1_000n;

function termsIn(named: Record<Name, Address>, usdc: Address, other: Address): AuthorizationTerms[] {
  const usual: AuthorizationTerms = {
    genesis: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
    nonce: new Uint8Array(32),
    payer: named.traveller,
    mint: usdc,
    amount: AMOUNT,
    captureDeadline: START + DAY,
    refundDeadline: START + 3n * DAY,
    operator: named.authority,
    payTo: named.treasury,
    receiverAuthorizer: named.authorizer,
  };
  const theirs = { payer: named.stranger, payTo: named.traveller, operator: named.stranger };
  const changes: Partial<AuthorizationTerms>[] = [
    {},
    // A thief who is everybody but the receiver, without a time for refunds.
    { ...theirs, receiverAuthorizer: named.stranger, refundDeadline: START + DAY },
    { mint: other, operator: named.treasury, receiverAuthorizer: named.treasury },
    { ...theirs, amount: U64_MAX - 1_000_000n, captureDeadline: I64_MAX, refundDeadline: I64_MAX },
    { amount: 0n },
    { captureDeadline: START },
    { refundDeadline: START + DAY - 1n },
    { payTo: named.traveller },
    { operator: SYSTEM_PROGRAM },
    { payTo: SYSTEM_PROGRAM },
    { receiverAuthorizer: SYSTEM_PROGRAM },
  ];
  return changes.map((change) => ({ ...usual, ...change }));
}

/** An id that names its refund owner, always the same one. */
export function committedId(start: string, owner: Address): string {
  const hash = refundCommitment(start, owner);
  const bitAt = (at: number): number => ((hash[at >> 3] ?? 0) >> (7 - (at & 7))) & 1;
  const digits = Array.from({ length: 16 }, (_, digit) =>
    Array.from({ length: 5 }, (_bit, bit) => bitAt(5 * digit + bit)).reduce((sum, bit) => 2 * sum + bit, 0),
  );
  return start + digits.map((value) => CROCKFORD[value]?.toLowerCase()).join('');
}

export async function createCast() {
  const place = async (name: string): Promise<Address> => (await person(name)).address;
  const [authority, traveller, stranger, treasury, pauper, authorizer] = await Promise.all(NAMES.map(place));
  const named = { authority, traveller, stranger, treasury, pauper, authorizer } as Record<Name, Address>;
  const keys = new Map(NAMES.map((name) => [name, signerFromSeed(createHash('sha256').update(name).digest())]));
  const sign = (name: Name, message: Uint8Array): Uint8Array => keys.get(name)?.sign(message) ?? new Uint8Array(64);
  const bank = await place('bank');
  const usdc = await place('usdc');
  const other = await place('other');
  const fakeProgram = await place('fake program');
  const second = await place('second account of the traveller');
  const ids = [
    { id: committedId('int_0000000001', named.traveller), committed: named.traveller },
    { id: committedId('int_0000000002', named.traveller), committed: named.traveller },
    { id: `int_${'0'.repeat(26)}`, committed: null },
  ];
  const intents = ids.map(async ({ id, committed }): Promise<Place> => {
    const found = await escrowAddress(id, { mint: usdc, programId: ESCROW_PROGRAM_ID });
    const { address: escrow, bump, intentHash: hash } = found;
    return { intentId: id, escrow, bump, hash, committed, terms: null };
  });
  const authorizations = termsIn(named, usdc, other).map(async (terms): Promise<Place> => {
    const { escrow, bump, salt: hash } = await authorizationPlace(terms, ESCROW_PROGRAM_ID);
    return { intentId: '', escrow, bump, hash, committed: terms.payer, terms };
  });
  const places = await Promise.all([...intents, ...authorizations]);

  /** Associated token accounts, by owner and mint. */
  const associated = new Map<string, Address>();
  for (const owner of [...Object.values(named), ...places.map(({ escrow }) => escrow)]) {
    for (const mint of [usdc, other]) associated.set(`${owner} ${mint}`, await associatedTokenAddress(owner, mint));
  }
  const accountOf = (owner: Address, mint: Address): Address | undefined => associated.get(`${owner} ${mint}`);

  const decoys = {
    uninitialised: await place('uninitialised'),
    fakeToken: await place('fake token account'),
    zeroState: await place('zero state'),
  };
  const initial = initially({ named, usdc, other, bank, fakeProgram, second, decoys, accountOf });
  const changing = new Set([...Object.values(named), ...places.map(({ escrow }) => escrow), second]);
  for (const each of associated.values()) changing.add(each);
  /** False for programs, mints and the bank, which stay as they are. */
  const mayChange = (address: Address): boolean => changing.has(address);
  return { named, sign, bank, usdc, other, second, places, accountOf, mayChange, decoys, initial };
}

export type Cast = Awaited<ReturnType<typeof createCast>>;

interface Begin extends Pick<Cast, 'named' | 'usdc' | 'other' | 'bank' | 'second' | 'decoys' | 'accountOf'> {
  readonly fakeProgram: Address;
}

function initially({ named, usdc, other, bank, fakeProgram, second, decoys, accountOf }: Begin): State {
  const entries = new Map<Address, Entry>();
  const rich = [named.authority, named.traveller, named.stranger];
  for (const each of rich) entries.set(each, { kind: 'wallet', lamports: 10n * SOL });
  entries.set(named.pauper, { kind: 'wallet', lamports: 1_000_000n });

  const token = (at: Address | undefined, owner: Address, mint: Address, amount: bigint) => {
    if (at) entries.set(at, { kind: 'token', lamports: TOKEN_RENT, mint, owner, amount, isFrozen: false });
  };
  const wallet = (owner: Address, mint: Address, amount: bigint) => token(accountOf(owner, mint), owner, mint, amount);
  const purse = 1_000_000n;
  wallet(named.traveller, usdc, purse);
  wallet(named.treasury, usdc, 0n);
  // All that a u64 can count: no sum can overflow, and a vault can hold almost as much.
  wallet(named.stranger, usdc, U64_MAX - purse);
  token(second, named.traveller, usdc, 0n);
  for (const owner of [named.traveller, named.treasury, named.stranger]) wallet(owner, other, purse);
  wallet(named.authority, usdc, 0n);

  const fixed = (at: Address, owner: Address, data: Uint8Array, isMint = false) =>
    entries.set(at, { kind: 'fixed', lamports: 10_000_000n, owner, data, isMint });
  for (const mint of [usdc, other]) fixed(mint, TOKEN_PROGRAM, mintData(bank), true);
  const looks = tokenData(usdc, named.traveller, 0n);
  fixed(decoys.fakeToken, fakeProgram, looks);
  fixed(decoys.uninitialised, TOKEN_PROGRAM, new Uint8Array(looks.length));
  fixed(decoys.zeroState, ESCROW_PROGRAM_ID, new Uint8Array(ESCROW_BYTES));
  return { now: START, entries, used: new Set() };
}

export const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash('sha256').update(bytes).digest());
