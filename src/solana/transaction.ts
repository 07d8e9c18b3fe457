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
  type Signature,
  type SignatureBytes,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import type { Signer } from './signer.ts';

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
  const payer = setTransactionMessageFeePayer(
    parts.feePayer.address,
    createTransactionMessage({ version: 0 }),
  );
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
