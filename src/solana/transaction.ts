import type { AccountRole, Address, Blockhash, Instruction, Signature, SignatureBytes } from '@solana/kit';
import {
  appendTransactionMessageInstructions,
  compileTransaction,
  createTransactionMessage,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  getTransactionEncoder,
  isSignature,
  isWritableRole,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { problem } from '../kernel/problems.ts';
import { type Cluster, COMPUTE_BUDGET_PROGRAM, type PriorityFee } from './cluster.ts';
import type { Signer } from './signer.ts';

const SET_LIMIT = 2;
const SET_PRICE = 3;

/** Limits compute units, and bids micro-lamports for each. */
export function computeBudget(units: number, microLamportsPerUnit: bigint): Instruction[] {
  const limit = Buffer.alloc(5);
  limit.writeUInt8(SET_LIMIT);
  limit.writeUInt32LE(units, 1);
  const price = Buffer.alloc(9);
  price.writeUInt8(SET_PRICE);
  price.writeBigUInt64LE(microLamportsPerUnit, 1);
  return [limit, price].map((data) => ({ programAddress: COMPUTE_BUDGET_PROGRAM, data }));
}

/** True if a history lists a memo: as `[length] text`, joined by semicolons. */
export const memoStands = (listed: string | null | undefined, memo: string): boolean =>
  (listed ?? '').split('; ').includes(`[${Buffer.byteLength(memo)}] ${memo}`);

/** Lamports of rent exemption: 6,960 a byte, and 128 bytes for the account itself. */
export const minimumRent = (dataLength: number): bigint => (BigInt(dataLength) + 128n) * 6960n;

/** True for 64 base58 bytes; the library's check throws at other characters. */
export function isSignatureText(value: unknown): value is Signature {
  if (typeof value !== 'string') return false;
  try {
    return isSignature(value);
  } catch {
    return false;
  }
}

export interface SignedTransaction {
  /** Stored before it is sent, and resent after a crash. */
  readonly wire: Uint8Array;
  readonly signature: Signature;
  readonly lastValidBlockHeight: bigint;
}

export const MOST_TRANSACTION_BYTES = 1232;

/** Keeps the runtime's own error in `detail.error`. */
export const refused = (error: unknown, why: string, logs: readonly string[] = []) =>
  problem('transaction_failed', { message: `The cluster rejected the transaction: ${why}.`, detail: { error, logs } });

interface Parts {
  readonly instructions: readonly Instruction[];
  readonly blockhash: { readonly blockhash: string; readonly lastValidBlockHeight: bigint };
}

function compiled(feePayer: Address, { instructions, blockhash: { blockhash, ...life } }: Parts) {
  const payer = setTransactionMessageFeePayer(feePayer, createTransactionMessage({ version: 0 }));
  const lifetime = { ...life, blockhash: blockhash as Blockhash };
  const message = setTransactionMessageLifetimeUsingBlockhash(lifetime, payer);
  return compileTransaction(appendTransactionMessageInstructions(instructions, message));
}

/** Signs with one signer, leaving the other signatures empty. */
export function signAlone(signer: Signer, feePayer: Address, parts: Parts): Uint8Array {
  const { messageBytes, signatures: missing } = compiled(feePayer, parts);
  const signatures = { ...missing, [signer.address]: signer.sign(new Uint8Array(messageBytes)) };
  return new Uint8Array(getTransactionEncoder().encode({ messageBytes, signatures }));
}

interface SignedParts extends Parts {
  readonly feePayer: Signer;
  readonly signers?: readonly Signer[];
}

/** Signs without sending: store the bytes first. @throws Error for a missing signer or a too large transaction */
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

/** Returns the first signature, the transaction's id. */
export const signatureOf = (wire: Uint8Array): Signature =>
  getBase58Decoder().decode(wire.subarray(1, 65)) as Signature;

const messageOf = (wire: Uint8Array) =>
  getCompiledTransactionMessageDecoder().decode(getTransactionDecoder().decode(wire).messageBytes);

export const blockhashOf = (wire: Uint8Array): string => messageOf(wire).lifetimeToken;

/** Returns the first signer, whose history names every transaction that it pays. */
export function feePayerOf(wire: Uint8Array): Address {
  const [feePayer] = messageOf(wire).staticAccounts;
  if (!feePayer) throw new Error('the transaction names no account');
  return feePayer;
}

/** The limit of any transaction. */
const MOST_UNITS = 1_400_000n;
const MICRO = 1_000_000n;

/** Signs with a young blockhash, the simulated units plus a fifth, and a bid. @throws Problem `cluster_failed` */
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
  // If the simulation fails, the send is refused with its reason.
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
