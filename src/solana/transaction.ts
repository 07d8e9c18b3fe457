import {
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  getTransactionEncoder,
  type Instruction,
  isSignature,
  type Signature,
  type SignatureBytes,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import type { Signer } from './signer.ts';

const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111' as Address;
const SET_LIMIT = 2;
const SET_PRICE = 3;

/** Says how many compute units a transaction may use, and bids for each (micro-lamports). */
export function computeBudget(units: number, microLamportsPerUnit: bigint): Instruction[] {
  const limit = Buffer.alloc(5);
  limit.writeUInt8(SET_LIMIT);
  limit.writeUInt32LE(units, 1);
  const price = Buffer.alloc(9);
  price.writeUInt8(SET_PRICE);
  price.writeBigUInt64LE(microLamportsPerUnit, 1);
  return [limit, price].map((data) => ({ programAddress: COMPUTE_BUDGET_PROGRAM, data }));
}

/** Whether a memo stands among those of a transaction, as histories list them: `[length] text`, joined by semicolons. */
export const memoStands = (listed: string | null | undefined, memo: string): boolean =>
  (listed ?? '').split('; ').includes(`[${Buffer.byteLength(memo)}] ${memo}`);

/** Lamports that keep an account of `dataLength` bytes alive: 6,960 per byte, and 128 bytes for the account itself. */
export const minimumRent = (dataLength: number): bigint => (BigInt(dataLength) + 128n) * 6960n;

/** True for 64 bytes in base58. The library's own check throws where a character is none of base58. */
export function isSignatureText(value: unknown): value is Signature {
  if (typeof value !== 'string') return false;
  try {
    return isSignature(value);
  } catch {
    return false;
  }
}

export interface SignedTransaction {
  /** Stored before it is sent, and sent again after a crash. */
  readonly wire: Uint8Array;
  readonly signature: Signature;
  /** Past this block height a transaction that has not landed never will. */
  readonly lastValidBlockHeight: bigint;
}

/** The most bytes that a Solana packet carries. */
export const MOST_TRANSACTION_BYTES = 1232;

/**
 * Builds and signs a version 0 transaction, without sending it: sign, store the bytes, then `cluster.send(wire)`.
 * `blockhash` is what `cluster.latestBlockhash()` gave.
 * @throws Error when a required signer is missing or the transaction is too large: both are mistakes of the caller.
 */
export function buildTransaction(parts: {
  readonly feePayer: Signer;
  readonly signers?: readonly Signer[];
  readonly instructions: readonly Instruction[];
  readonly blockhash: { readonly blockhash: string; readonly lastValidBlockHeight: bigint };
}): SignedTransaction {
  const { lastValidBlockHeight } = parts.blockhash;
  const lifetime = { blockhash: parts.blockhash.blockhash as Blockhash, lastValidBlockHeight };
  const payer = setTransactionMessageFeePayer(parts.feePayer.address, createTransactionMessage({ version: 0 }));
  const message = appendTransactionMessageInstructions(
    parts.instructions,
    setTransactionMessageLifetimeUsingBlockhash(lifetime, payer),
  );
  const compiled = compileTransaction(message);
  const signers = new Map([parts.feePayer, ...(parts.signers ?? [])].map((one) => [one.address, one]));
  const signatures: Record<Address, SignatureBytes> = {};
  for (const address of Object.keys(compiled.signatures) as Address[]) {
    const signer = signers.get(address);
    if (!signer) throw new Error(`no signer was given for ${address}`);
    signatures[address] = signer.sign(new Uint8Array(compiled.messageBytes));
  }
  const wire = new Uint8Array(getTransactionEncoder().encode({ ...compiled, signatures }));
  if (wire.length > MOST_TRANSACTION_BYTES) {
    throw new Error(`the transaction has ${wire.length} bytes, more than ${MOST_TRANSACTION_BYTES}`);
  }
  return { wire, signature: signatureOf(wire), lastValidBlockHeight };
}

/** The signature by which a cluster knows the transaction: its first one. */
export const signatureOf = (wire: Uint8Array): Signature =>
  getBase58Decoder().decode(wire.subarray(1, 65)) as Signature;

/** The blockhash that the transaction lives by, base58. */
export function blockhashOf(wire: Uint8Array): string {
  const { messageBytes } = getTransactionDecoder().decode(wire);
  return getCompiledTransactionMessageDecoder().decode(messageBytes).lifetimeToken;
}

/** The account that pays for the transaction: its first signer, named by every transaction and by its history. */
export function feePayerOf(wire: Uint8Array): Address {
  const { messageBytes } = getTransactionDecoder().decode(wire);
  const [feePayer] = getCompiledTransactionMessageDecoder().decode(messageBytes).staticAccounts;
  if (!feePayer) throw new Error('the transaction names no account');
  return feePayer;
}
