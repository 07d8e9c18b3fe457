import { createHash } from 'node:crypto';
import type { Address } from '@solana/kit';
import bs58 from 'bs58';
import { type ChainAccount, SYSTEM_PROGRAM } from '../cluster.ts';
import { addressAt, viewOf } from '../token.ts';
import { isWritable, type ParsedTransaction } from './parse.ts';

const NONCE_BYTES = 80;
const AUTHORITY_AT = 8;
const NONCE_AT = 40;
const ADVANCE = 4;

type ReadAccount = (address: Address) => ChainAccount | null;

/** Reads a nonce account; null for any other account. */
export function decodeNonce({ owner, data }: Pick<ChainAccount, 'owner' | 'data'>) {
  if (owner !== SYSTEM_PROGRAM || data.length !== NONCE_BYTES) return null;
  const view = viewOf(data);
  if (view.getUint32(0, true) !== 1 || view.getUint32(4, true) !== 1) return null;
  const [authority, value] = [addressAt(data, AUTHORITY_AT), addressAt(data, NONCE_AT)];
  return { authority, value, lamportsPerSignature: view.getBigUint64(72, true) };
}

/** Derives the nonce that an account gets while `blockhash` is the latest. */
const durable = (blockhash: Uint8Array): Buffer =>
  createHash('sha256').update('DURABLE_NONCE').update(blockhash).digest();

const withNonce = (account: ChainAccount, value: Uint8Array): ChainAccount => {
  const data = new Uint8Array(account.data);
  data.set(value, NONCE_AT);
  return { ...account, data };
};

/** The nonce account that the first instruction advances. */
export function advanceIn({ accountKeys, instructions: [first] }: ParsedTransaction): Address | undefined {
  if (!first || accountKeys[first.programIdIndex] !== SYSTEM_PROGRAM) return undefined;
  if (first.data.length < 4 || Buffer.from(first.data).readUInt32LE(0) !== ADVANCE) return undefined;
  return accountKeys[first.accounts[0] ?? -1];
}

/** Advances the nonce account that a transaction relies on; null for a wrong, unsigned or just advanced nonce. */
export function advanced(transaction: ParsedTransaction, read: ReadAccount, hash: Uint8Array): ChainAccount | null {
  const address = advanceIn(transaction);
  const account = address === undefined ? null : read(address);
  const nonce = account && decodeNonce(account);
  if (!address || !account || nonce?.value !== transaction.blockhash) return null;
  const { accountKeys, header, instructions } = transaction;
  const isSigned = instructions[0]?.accounts.some(
    (index) => index < header.numRequiredSignatures && accountKeys[index] === nonce.authority,
  );
  const next = durable(hash);
  if (!isSigned || !isWritable(transaction, accountKeys.indexOf(address))) return null;
  return bs58.encode(next) === nonce.value ? null : withNonce(account, next);
}

/** Swaps nonces for LiteSVM's and back: it derives the next one from the transaction's blockhash, so it could recur. */
export function nonceSwap(hash: Uint8Array, transactionBlockhash: string) {
  return (account: ChainAccount): ChainAccount => {
    if (!decodeNonce(account)) return account;
    const [ours, theirs] = [durable(hash), durable(bs58.decode(transactionBlockhash))];
    const held = account.data.subarray(NONCE_AT, NONCE_AT + 32);
    if (ours.equals(held)) return withNonce(account, theirs);
    return theirs.equals(held) ? withNonce(account, ours) : account;
  };
}
