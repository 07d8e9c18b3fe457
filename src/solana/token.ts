import { type Address, getAddressEncoder } from '@solana/kit';
import bs58 from 'bs58';
import type { ChainAccount } from './cluster.ts';
import { derivedAddress } from './derived-address.ts';

export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address;
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' as Address;
export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL' as Address;
export const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr' as Address;

export async function associatedTokenAddress(owner: Address, mint: Address): Promise<Address> {
  const bytes = getAddressEncoder();
  const [address] = await derivedAddress(ASSOCIATED_TOKEN_PROGRAM, `${owner} ${mint}`, () => [
    bytes.encode(owner),
    bytes.encode(TOKEN_PROGRAM),
    bytes.encode(mint),
  ]);
  return address;
}

const TOKEN_ACCOUNT_SIZE = 165;
export const MINT_SIZE = 82;

/** Returns null unless the bytes are an initialised account of the SPL token program. */
export function decodeTokenAccount(data: Uint8Array) {
  const state = data[108];
  if (data.length !== TOKEN_ACCOUNT_SIZE || (state !== 1 && state !== 2)) return null;
  const view = viewOf(data);
  return {
    mint: addressAt(data, 0),
    owner: addressAt(data, 32),
    amount: view.getBigUint64(64, true),
    delegate: view.getUint32(72, true) === 1 ? addressAt(data, 76) : null,
    state: state === 1 ? 'initialized' : 'frozen',
    /** Rent of a wrapped-SOL account, else null. */
    nativeReserve: view.getUint32(109, true) === 1 ? view.getBigUint64(113, true) : null,
    delegatedAmount: view.getBigUint64(121, true),
    closeAuthority: view.getUint32(129, true) === 1 ? addressAt(data, 133) : null,
  };
}

export const tokenAmountOf = (data: Uint8Array): bigint => viewOf(data).getBigUint64(64, true);

/** An account of the SPL token program itself, else null. */
export const tokenIn = (account: Owned | null | undefined) =>
  account?.owner === TOKEN_PROGRAM ? decodeTokenAccount(account.data) : null;

export const tokenBalanceIn = (account: Owned | null | undefined): bigint | null => tokenIn(account)?.amount ?? null;

/** Returns null unless the bytes are an initialised mint of the SPL token program. */
export function decodeMint(data: Uint8Array) {
  if (data.length !== MINT_SIZE || data[45] !== 1) return null;
  const view = viewOf(data);
  return {
    mintAuthority: view.getUint32(0, true) === 1 ? addressAt(data, 4) : null,
    supply: view.getBigUint64(36, true),
    decimals: data[44] ?? 0,
    freezeAuthority: view.getUint32(46, true) === 1 ? addressAt(data, 50) : null,
  };
}

/** Token-2022's byte for the kind of account, after the fields of a token account. */
const [MINT_KIND, ACCOUNT_KIND] = [1, 2];

type Owned = Pick<ChainAccount, 'owner' | 'data'>;

/** An account of either token program, else null. */
export function tokenAccountOf({ owner, data }: Owned) {
  if (owner === TOKEN_PROGRAM) return decodeTokenAccount(data);
  const isOne = data.length === TOKEN_ACCOUNT_SIZE || data[TOKEN_ACCOUNT_SIZE] === ACCOUNT_KIND;
  if (owner !== TOKEN_2022_PROGRAM || !isOne) return null;
  return decodeTokenAccount(data.subarray(0, TOKEN_ACCOUNT_SIZE));
}

/** A mint of either token program, else null. */
export function mintOf({ owner, data }: Owned) {
  if (owner === TOKEN_PROGRAM) return decodeMint(data);
  const isOne = data.length === MINT_SIZE || data[TOKEN_ACCOUNT_SIZE] === MINT_KIND;
  return owner === TOKEN_2022_PROGRAM && isOne ? decodeMint(data.subarray(0, MINT_SIZE)) : null;
}

/** Encodes a mint without a freeze authority. */
export function encodeMint(mint: { authority: Address; decimals: number; supply: bigint }): Uint8Array {
  const data = new Uint8Array(MINT_SIZE);
  const view = new DataView(data.buffer);
  view.setUint32(0, 1, true);
  data.set(getAddressEncoder().encode(mint.authority), 4);
  view.setBigUint64(36, mint.supply, true);
  data[44] = mint.decimals;
  data[45] = 1;
  return data;
}

export const viewOf = (data: Uint8Array): DataView => new DataView(data.buffer, data.byteOffset, data.byteLength);

export const addressAt = (data: Uint8Array, offset: number): Address =>
  bs58.encode(data.subarray(offset, offset + 32)) as Address;
