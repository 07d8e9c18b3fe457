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

/** Reads a nonce, whose `value` a transaction carries in place of a blockhash; null for any other account. */
export function decodeNonce({ owner, data }: Pick<ChainAccount, 'owner' | 'data'>) {
  if (owner !== SYSTEM_PROGRAM || data.length !== NONCE_BYTES) return null;
  const view = viewOf(data);
  if (view.getUint32(0, true) !== 1 || view.getUint32(4, true) !== 1) return null;
  const [authority, value] = [addressAt(data, AUTHORITY_AT), addressAt(data, NONCE_AT)];
  return { authority, value, lamportsPerSignature: view.getBigUint64(72, true) };
}

/** The nonce that an account gets while `blockhash` is the latest. */
const durable = (blockhash: Uint8Array): Buffer =>
  createHash('sha256').update('DURABLE_NONCE').update(blockhash).digest();

const withNonce = (account: ChainAccount, value: Uint8Array): ChainAccount => {
  const data = new Uint8Array(account.data);
  data.set(value, NONCE_AT);
  return { ...account, data };
};

/** The nonce account that a transaction's first instruction advances; undefined where it does not. */
export function advanceIn({ accountKeys, instructions: [first] }: ParsedTransaction): Address | undefined {
  if (!first || accountKeys[first.programIdIndex] !== SYSTEM_PROGRAM) return undefined;
  if (first.data.length < 4 || Buffer.from(first.data).readUInt32LE(0) !== ADVANCE) return undefined;
  return accountKeys[first.accounts[0] ?? -1];
}

/**
 * The nonce account that a transaction lives by in place of a blockhash, as it is once the nonce has been advanced in
 * the slot of `hash`. null where the transaction may not land by it: it carries another nonce, the nonce's authority
 * has not signed, or the nonce was advanced in this very slot.
 */
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

/**
 * Swaps two values of nonce accounts, on the way into the runtime and on the way out. LiteSVM takes the blockhash that a
 * transaction carries for the latest one, and makes the next nonce of that; here it is made of the slot's own. So two
 * transactions with one blockhash advance a nonce twice, and no nonce ever comes back.
 */
export function nonceSwap(hash: Uint8Array, transactionBlockhash: string) {
  return (account: ChainAccount): ChainAccount => {
    if (!decodeNonce(account)) return account;
    const [ours, theirs] = [durable(hash), durable(bs58.decode(transactionBlockhash))];
    const held = account.data.subarray(NONCE_AT, NONCE_AT + 32);
    if (ours.equals(held)) return withNonce(account, theirs);
    return theirs.equals(held) ? withNonce(account, ours) : account;
  };
}
