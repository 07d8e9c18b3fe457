import {
  type AccountRole,
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
  isWritableRole,
  type Signature,
  type SignatureBytes,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { type Cluster, COMPUTE_BUDGET_PROGRAM, type PriorityFee } from './cluster.ts';
import type { Signer } from './signer.ts';

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

/** True for a memo among those of a transaction, as histories list them: `[length] text`, joined by semicolons. */
export const memoStands = (listed: string | null | undefined, memo: string): boolean =>
  (listed ?? '').split('; ').includes(`[${Buffer.byteLength(memo)}] ${memo}`);

/** Lamports that keep an account of `dataLength` bytes alive: 6,960 per byte, and 128 bytes for the account itself. */
export const minimumRent = (dataLength: number): bigint => (BigInt(dataLength) + 128n) * 6960n;

/** True for 64 bytes in base58. The library's own check throws at other characters. */
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

interface Parts {
  readonly instructions: readonly Instruction[];
  /** As `cluster.latestBlockhash()` gave it. */
  readonly blockhash: { readonly blockhash: string; readonly lastValidBlockHeight: bigint };
}

/** Compiles a version 0 transaction. */
function compiled(feePayer: Address, { instructions, blockhash: { blockhash, ...life } }: Parts) {
  const payer = setTransactionMessageFeePayer(feePayer, createTransactionMessage({ version: 0 }));
  const lifetime = { ...life, blockhash: blockhash as Blockhash };
  const message = setTransactionMessageLifetimeUsingBlockhash(lifetime, payer);
  return compileTransaction(appendTransactionMessageInstructions(instructions, message));
}

/** The wire bytes of a transaction that one of its signers signs: the signatures of the others are missing. */
export function signAlone(signer: Signer, feePayer: Address, parts: Parts): Uint8Array {
  const { messageBytes, signatures: missing } = compiled(feePayer, parts);
  const signatures = { ...missing, [signer.address]: signer.sign(new Uint8Array(messageBytes)) };
  return new Uint8Array(getTransactionEncoder().encode({ messageBytes, signatures }));
}

interface SignedParts extends Parts {
  readonly feePayer: Signer;
  readonly signers?: readonly Signer[];
}

/**
 * Builds and signs a transaction, without sending it: sign, store the bytes, then `cluster.send(wire)`.
 * @throws Error when a required signer is missing or the transaction is too large: both are mistakes of the caller.
 */
export function buildTransaction(parts: SignedParts): SignedTransaction {
  const { feePayer, signers = [], blockhash } = parts;
  const { messageBytes, signatures: missing } = compiled(feePayer.address, parts);
  const known = new Map([feePayer, ...signers].map((one) => [one.address, one]));
  const signatures: Record<Address, SignatureBytes> = {};
  for (const address of Object.keys(missing) as Address[]) {
    const signer = known.get(address);
    if (!signer) throw new Error(`no signer was given for ${address}`);
    signatures[address] = signer.sign(new Uint8Array(messageBytes));
  }
  const wire = new Uint8Array(getTransactionEncoder().encode({ messageBytes, signatures }));
  if (wire.length > MOST_TRANSACTION_BYTES) {
    throw new Error(`the transaction has ${wire.length} bytes, more than ${MOST_TRANSACTION_BYTES}`);
  }
  return { wire, signature: signatureOf(wire), lastValidBlockHeight: blockhash.lastValidBlockHeight };
}

/** The signature by which a cluster knows the transaction: its first one. */
export const signatureOf = (wire: Uint8Array): Signature =>
  getBase58Decoder().decode(wire.subarray(1, 65)) as Signature;

const messageOf = (wire: Uint8Array) =>
  getCompiledTransactionMessageDecoder().decode(getTransactionDecoder().decode(wire).messageBytes);

/** The blockhash that the transaction lives by, base58. */
export const blockhashOf = (wire: Uint8Array): string => messageOf(wire).lifetimeToken;

/** The account that pays for the transaction: its first signer, named by every transaction and by its history. */
export function feePayerOf(wire: Uint8Array): Address {
  const [feePayer] = messageOf(wire).staticAccounts;
  if (!feePayer) throw new Error('the transaction names no account');
  return feePayer;
}

/** The most that any transaction may use. */
const MOST_UNITS = 1_400_000n;
const MICRO = 1_000_000n;

/**
 * Signs a transaction of ours with a young blockhash, without sending it. Where the cluster takes bids, it says what it
 * needs, a fifth above what it used when it was tried out, and bids for that: leaders pack by price for each unit.
 * @throws Problem `cluster_failed`
 */
export async function signPriced(
  cluster: Pick<Cluster, 'latestBlockhash' | 'priorityFee' | 'simulate'>,
  parts: Omit<SignedParts, 'blockhash'>,
): Promise<SignedTransaction> {
  if (!cluster.priorityFee) return buildTransaction({ ...parts, blockhash: await cluster.latestBlockhash() });
  const [fee, blockhash] = await Promise.all([cluster.priorityFee(writableOf(parts)), cluster.latestBlockhash()]);
  const bidding = (units: bigint, price: bigint) => {
    const instructions = [...computeBudget(Number(units), price), ...parts.instructions];
    return buildTransaction({ ...parts, instructions, blockhash });
  };
  const { err, unitsConsumed } = await cluster.simulate(bidding(MOST_UNITS, 1n).wire);
  // A transaction that fails when it is tried out is refused when it is sent, with its reason.
  const units = err === null ? withReserve(unitsConsumed) : MOST_UNITS;
  return bidding(units, priceOf(fee, units));
}

const withReserve = (used: bigint): bigint => {
  const needed = (used * 12n + 9n) / 10n;
  return needed < MOST_UNITS ? needed : MOST_UNITS;
};

function priceOf({ microLamportsPerUnit, mostLamports }: PriorityFee, units: bigint): bigint {
  const most = (mostLamports * MICRO) / (units > 0n ? units : 1n);
  return microLamportsPerUnit < most ? microLamportsPerUnit : most;
}

function writableOf({ feePayer, instructions }: Omit<SignedParts, 'blockhash'>): Address[] {
  const named = instructions.flatMap(({ accounts = [] }) =>
    accounts.filter(({ role }) => isWritableRole(role as AccountRole)).map(({ address }) => address),
  );
  return [...new Set([feePayer.address, ...named])];
}
