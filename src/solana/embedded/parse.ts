import {
  type Address,
  getAddressEncoder,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
  getTransactionEncoder,
  type Signature,
} from '@solana/kit';
import { type Problem, problem } from '../../kernel/problems.ts';
import { verifyEd25519 } from '../ed25519.ts';
import { MOST_TRANSACTION_BYTES } from '../transaction.ts';

export interface ParsedInstruction {
  readonly programIdIndex: number;
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
}

/** A well-formed transaction of version `legacy` or 0 without lookup tables. */
export interface ParsedTransaction {
  readonly wire: Uint8Array;
  readonly signature: Signature;
  /** 64 bytes each, in the order of the keys; zeros where one is missing. */
  readonly signatures: readonly Uint8Array[];
  readonly messageBytes: Uint8Array;
  readonly version: 'legacy' | 0;
  readonly header: {
    readonly numRequiredSignatures: number;
    readonly numReadonlySignedAccounts: number;
    readonly numReadonlyUnsignedAccounts: number;
  };
  readonly accountKeys: readonly Address[];
  readonly blockhash: string;
  readonly instructions: readonly ParsedInstruction[];
}

/**
 * Reads wire bytes strictly. LiteSVM aborts the whole process on bytes that it cannot read, so nothing that breaks
 * a rule of the format may get past this function: what is accepted must encode back to the very same bytes.
 * @throws Problem `transaction_failed` with `detail.error` `SanitizeFailure` (or `UnsupportedVersion`, …).
 */
export function parseTransaction(wire: Uint8Array): ParsedTransaction {
  if (wire.length > MOST_TRANSACTION_BYTES) {
    throw refused('SanitizeFailure', `it has ${wire.length} bytes, more than ${MOST_TRANSACTION_BYTES}`);
  }
  const { signatures, messageBytes } = readEnvelope(wire);
  const message = readMessage(messageBytes);
  const keys = message.accountKeys.length;
  const { header } = message;
  const wellFormed =
    signatures.length === header.numRequiredSignatures &&
    header.numRequiredSignatures >= 1 &&
    header.numReadonlySignedAccounts < header.numRequiredSignatures &&
    header.numRequiredSignatures + header.numReadonlyUnsignedAccounts <= keys &&
    new Set(message.accountKeys).size === keys &&
    message.instructions.every(
      ({ programIdIndex, accounts }) =>
        programIdIndex > 0 && programIdIndex < keys && accounts.every((index) => index < keys),
    );
  if (!wellFormed) throw refused('SanitizeFailure', 'its header, accounts and instructions do not agree');
  const [first] = signatures;
  if (!first) throw refused('SanitizeFailure', 'it has no signature');
  return {
    wire,
    signature: getBase58Decoder().decode(first) as Signature,
    signatures,
    messageBytes,
    ...message,
  };
}

/** Reads the bytes of a message alone, as getFeeForMessage takes them. */
export const parseMessage = (
  messageBytes: Uint8Array,
): Omit<ParsedTransaction, 'wire' | 'signature' | 'signatures'> => ({
  messageBytes,
  ...readMessage(messageBytes),
});

/** The addresses whose signature is missing or wrong; none when the transaction is signed. */
export function wrongSignatures(transaction: ParsedTransaction): Address[] {
  return transaction.accountKeys.filter((key, index) => {
    const signature = transaction.signatures[index];
    if (!signature) return false;
    return !verifyEd25519(
      new Uint8Array(getAddressEncoder().encode(key)),
      transaction.messageBytes,
      signature,
    );
  });
}

export function isWritable(transaction: ParsedTransaction, index: number): boolean {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } =
    transaction.header;
  return index < numRequiredSignatures
    ? index < numRequiredSignatures - numReadonlySignedAccounts
    : index < transaction.accountKeys.length - numReadonlyUnsignedAccounts;
}

export const refused = (error: unknown, why: string, logs: readonly string[] = []): Problem =>
  problem('transaction_failed', {
    message: `The cluster refused the transaction: ${why}.`,
    detail: { error, logs },
  });

function readEnvelope(wire: Uint8Array): { signatures: Uint8Array[]; messageBytes: Uint8Array } {
  return reading(() => {
    const transaction = getTransactionDecoder().decode(wire);
    if (!sameBytes(getTransactionEncoder().encode(transaction), wire)) throw unreadableBytes();
    const signatures = Object.values(transaction.signatures).map((one) => one ?? new Uint8Array(64));
    return { signatures, messageBytes: new Uint8Array(transaction.messageBytes) };
  });
}

function readMessage(messageBytes: Uint8Array) {
  return reading(() => {
    const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
    if (message.version !== 'legacy' && message.version !== 0) {
      throw refused('UnsupportedVersion', 'its version is neither legacy nor 0');
    }
    if ('addressTableLookups' in message && (message.addressTableLookups?.length ?? 0) > 0) {
      throw refused(
        'AddressLookupTableNotFound',
        'it uses an address lookup table, and the embedded cluster has none',
      );
    }
    if (!sameBytes(getCompiledTransactionMessageEncoder().encode(message), messageBytes)) {
      throw unreadableBytes();
    }
    return {
      version: message.version,
      header: {
        numRequiredSignatures: message.header.numSignerAccounts,
        numReadonlySignedAccounts: message.header.numReadonlySignerAccounts,
        numReadonlyUnsignedAccounts: message.header.numReadonlyNonSignerAccounts,
      },
      accountKeys: message.staticAccounts,
      blockhash: message.lifetimeToken,
      instructions: message.instructions.map((one) => ({
        programIdIndex: one.programAddressIndex,
        accounts: one.accountIndices ?? [],
        data: new Uint8Array(one.data ?? []),
      })),
    };
  });
}

const unreadableBytes = () => refused('SanitizeFailure', 'its bytes are not a transaction');

/** The decoders throw errors of their own for garbage: all of them mean that these bytes are no transaction. */
function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && error.name === 'Problem') throw error;
    throw unreadableBytes();
  }
}

const sameBytes = (a: ArrayLike<number> & { readonly length: number }, b: Uint8Array): boolean =>
  Buffer.compare(Uint8Array.from(a), b) === 0;
