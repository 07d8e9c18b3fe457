import { type Address, getAddressEncoder } from '@solana/kit';
import { TOKEN_PROGRAM } from '../../../src/solana/token.ts';
import { SYSTEM_PROGRAM } from '../program-world.ts';

/** The accounts of a cluster as the model keeps them: what an account is, rather than its bytes. */

/** A wallet, or an address that holds nothing at all. */
interface Wallet {
  readonly kind: 'wallet';
  readonly lamports: bigint;
}

export interface TokenAccount {
  readonly kind: 'token';
  readonly lamports: bigint;
  readonly mint: Address;
  readonly owner: Address;
  readonly amount: bigint;
  readonly isFrozen: boolean;
}

export interface Escrow {
  readonly kind: 'escrow';
  readonly lamports: bigint;
  readonly programId: Address;
  readonly state: 'open' | 'captured' | 'refunded';
  readonly neverFunded: boolean;
  readonly bump: number;
  /** Of the intent id, or of the terms. */
  readonly hash: Uint8Array;
  readonly authority: Address;
  readonly mint: Address;
  readonly treasury: Address;
  readonly refundOwner: Address;
  readonly rentPayer: Address;
  readonly vault: Address;
  readonly amount: bigint;
  readonly refundAfter: bigint;
  readonly openedAt: bigint;
  readonly endedAt: bigint;
  /** What was captured of an intent in part, else null. */
  readonly part: bigint | null;
  /** Null for an intent. */
  readonly authorization: Authorization | null;
}

export interface Authorization {
  readonly receiverAuthorizer: Address;
  readonly captured: bigint;
  readonly refunded: bigint;
  readonly refundDeadline: bigint;
}

export function capturable({ state, amount, authorization }: Escrow): bigint {
  return state === 'open' ? amount - (authorization?.captured ?? 0n) : 0n;
}

export const refundable = ({ authorization: found }: Escrow): bigint => (found ? found.captured - found.refunded : 0n);

/** All that the treasury got. */
export const capturedOf = ({ state, amount, part, authorization }: Escrow): bigint =>
  authorization?.captured ?? part ?? (state === 'captured' ? amount : 0n);

/** Never changes: a mint, a program, something that only looks like an account of ours. */
interface Fixed {
  readonly kind: 'fixed';
  readonly lamports: bigint;
  readonly owner: Address;
  readonly data: Uint8Array;
  readonly isMint: boolean;
}

/** Never changed in place, so that two states share what is the same in both. */
export type Entry = Wallet | TokenAccount | Escrow | Fixed;

export interface State {
  /** The cluster's clock, seconds since the epoch. */
  readonly now: bigint;
  readonly entries: ReadonlyMap<Address, Entry>;
  /** The consents that have served: none may serve twice. */
  readonly used: ReadonlySet<string>;
}

export const NOTHING: Entry = { kind: 'wallet', lamports: 0n };

export const entryAt = (state: State, address: Address): Entry => state.entries.get(address) ?? NOTHING;

/** A state that is written to, entry by entry. */
export interface Draft {
  readonly now: bigint;
  readonly entries: Map<Address, Entry>;
  used: ReadonlySet<string>;
}

export const draftOf = (state: State): Draft => ({ ...state, entries: new Map(state.entries) });

/** The bytes of an account. */
export interface Raw {
  readonly lamports: bigint;
  readonly owner: Uint8Array;
  readonly data: Uint8Array;
}

const addresses = new Map<Address, Uint8Array>();

/** The 32 bytes of an address; the same array each time. */
export function bytesOf(address: Address): Uint8Array {
  const known = addresses.get(address);
  if (known) return known;
  const bytes = new Uint8Array(getAddressEncoder().encode(address));
  addresses.set(address, bytes);
  return bytes;
}

const STATES = { open: 1, captured: 2, refunded: 3 } as const;

const TOKEN_BYTES = 165;
export const ESCROW_BYTES = 272;
export const AUTHORIZATION_BYTES = 336;

function tokenBytes(token: TokenAccount): Uint8Array {
  const data = new Uint8Array(TOKEN_BYTES);
  data.set(bytesOf(token.mint), 0);
  data.set(bytesOf(token.owner), 32);
  new DataView(data.buffer).setBigUint64(64, token.amount, true);
  data[108] = token.isFrozen ? 2 : 1;
  return data;
}

/** The layout of docs/escrow.md, State account, written down a second time. */
function escrowBytes(escrow: Escrow): Uint8Array {
  const { authorization, part } = escrow;
  const data = new Uint8Array(authorization ? AUTHORIZATION_BYTES : ESCROW_BYTES);
  const view = new DataView(data.buffer);
  data.set(new TextEncoder().encode('FARELOCK'), 0);
  data.set([authorization ? 2 : 1, STATES[escrow.state], escrow.bump, escrow.neverFunded ? 1 : 0], 8);
  data[12] = part === null ? 0 : 1;
  data.set(escrow.hash, 16);
  const parties = [escrow.authority, escrow.mint, escrow.treasury, escrow.refundOwner, escrow.rentPayer];
  for (const [index, each] of [...parties, escrow.vault].entries()) data.set(bytesOf(each), 48 + 32 * index);
  view.setBigUint64(240, escrow.amount, true);
  view.setBigInt64(248, escrow.refundAfter, true);
  view.setBigInt64(256, part ?? escrow.openedAt, true);
  view.setBigInt64(264, escrow.endedAt, true);
  if (!authorization) return data;
  data.set(bytesOf(authorization.receiverAuthorizer), 272);
  view.setBigUint64(304, authorization.captured, true);
  view.setBigUint64(312, authorization.refunded, true);
  view.setBigInt64(320, authorization.refundDeadline, true);
  return data;
}

const NO_DATA = new Uint8Array();

function encode(entry: Entry): Raw {
  const { lamports } = entry;
  switch (entry.kind) {
    case 'wallet':
      return { lamports, owner: bytesOf(SYSTEM_PROGRAM), data: NO_DATA };
    case 'token':
      return { lamports, owner: bytesOf(TOKEN_PROGRAM), data: tokenBytes(entry) };
    case 'escrow':
      return { lamports, owner: bytesOf(entry.programId), data: escrowBytes(entry) };
    case 'fixed':
      return { lamports, owner: bytesOf(entry.owner), data: entry.data };
  }
}

const encoded = new WeakMap<Entry, Raw>();

/** The account that an entry stands for, byte by byte. */
export function rawOf(entry: Entry): Raw {
  const known = encoded.get(entry) ?? encode(entry);
  encoded.set(entry, known);
  return known;
}

const keys = new WeakMap<Entry, string>();

function keyOf(entry: Entry): string {
  const known = keys.get(entry);
  if (known !== undefined) return known;
  const { lamports, data } = rawOf(entry);
  const key = `${entry.kind[0]}${lamports} ${Buffer.from(data).toString('base64')}`;
  keys.set(entry, key);
  return key;
}

/** The same text for the same accounts and the same clock, and for no other. */
export function fingerprint(state: State, initial: State): string {
  const changed: string[] = [];
  for (const [address, entry] of state.entries) {
    if (entry !== initial.entries.get(address)) changed.push(`${address} ${keyOf(entry)}`);
  }
  return `${state.now}\n${changed.sort().join('\n')}`;
}
