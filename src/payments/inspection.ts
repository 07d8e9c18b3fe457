import {
  type Address,
  getAddressEncoder,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
} from '@solana/kit';
import { associatedTokenAddress, MEMO_PROGRAM, TOKEN_PROGRAM, verifyEd25519 } from '../solana/index.ts';

/** A parsed transaction, of which nothing has been verified. */
export type SentTransaction = Exclude<ReturnType<typeof readTransaction>, string>;
type SentInstruction = SentTransaction['instructions'][number];

const MOST_TRANSACTION_BYTES = 1232;

/** Parses a transaction in base64. @returns the reason as text if it is not one */
export function readTransaction(transaction: string) {
  const wire = Buffer.from(transaction, 'base64');
  if (wire.length === 0 || wire.length > MOST_TRANSACTION_BYTES || wire.toString('base64') !== transaction) {
    return 'payload.transaction is not a Solana transaction in base64';
  }
  try {
    const { messageBytes, signatures } = getTransactionDecoder().decode(wire);
    const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
    if (message.version !== 'legacy' && message.version !== 0) return 'the version of its transaction is not supported';
    const accounts = message.staticAccounts;
    const signers = accounts.slice(0, message.header.numSignerAccounts);
    const [, payer] = signers;
    const payerSignature = payer ? (signatures[payer] ?? null) : null;
    return {
      transaction,
      messageBytes: new Uint8Array(messageBytes),
      signatures: signatures as Readonly<Record<string, Uint8Array | null>>,
      usesLookupTables: 'addressTableLookups' in message && (message.addressTableLookups?.length ?? 0) > 0,
      /** The accounts that must sign, in order: the fee payer first. */
      signers,
      accounts,
      instructions: message.instructions.map((one) => ({
        program: accounts[one.programAddressIndex],
        accounts: one.accountIndices ?? [],
        data: new Uint8Array(one.data ?? []),
      })),
      payerSignature: payerSignature && new Uint8Array(payerSignature),
      key: payerSignature && getBase58Decoder().decode(payerSignature),
    };
  } catch {
    return 'payload.transaction is not a Solana transaction';
  }
}

const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';
/** Its assertions, which wallets such as Phantom add, move nothing. */
export const LIGHTHOUSE_PROGRAM = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95';
/** The fee payer pays 100,000 units at 0.1 lamport at most. Our own check only limits the product, 10,000 lamports. */
export const MOST_COMPUTE_UNITS = 100_000;
export const MOST_PRICE_MICROLAMPORTS = 100_000;
const MOST_PRIORITY_MICROLAMPORTS = BigInt(MOST_COMPUTE_UNITS) * BigInt(MOST_PRICE_MICROLAMPORTS);
/** The fee payer and the payer; each further signature would cost the fee payer 5,000 lamports. */
export const MOST_SIGNATURES = 2;
const SET_UNIT_LIMIT = 2;
const SET_UNIT_PRICE = 3;
const TRANSFER_CHECKED = 12;

interface Expected {
  readonly feePayer: string;
  readonly asset: string;
  /** Absent if the package verifies too: it also derives the payee's account, which takes milliseconds. */
  readonly payTo?: string;
  readonly amount: bigint;
  readonly memo: string;
}

/** The text of the only memo instruction; null if there is none or several. */
export function memoOf(sent: SentTransaction): string | null {
  const memos = sent.instructions.filter((one) => one.program === MEMO_PROGRAM);
  const [memo] = memos;
  return memo && memos.length === 1 ? Buffer.from(memo.data).toString('utf8') : null;
}

/**
 * Finds why a signed transaction is not the expected payment. The package does not suffice: a simulation checks no
 * signatures. No instruction may name the fee payer, because our signature for the fee would authorise that, too.
 */
export async function whyNotPayable(sent: SentTransaction, expected: Expected): Promise<string | null> {
  const [feePayer, payer] = sent.signers;
  if (sent.usesLookupTables) return 'address lookup tables are not accepted';
  if (feePayer !== expected.feePayer) return 'the fee payer is not the one of the challenge';
  if (!payer || sent.signers.length !== MOST_SIGNATURES) return 'exactly the payer and the fee payer must sign';
  if (!sent.payerSignature) return 'the payer has not signed';
  const publicKey = new Uint8Array(getAddressEncoder().encode(payer));
  if (!verifyEd25519(publicKey, sent.messageBytes, sent.payerSignature)) {
    return "the payer's signature is not valid";
  }
  if (sent.instructions.some((one) => one.accounts.includes(0) || one.program === feePayer)) {
    return 'an instruction touches the fee payer';
  }
  const [first, second, transfer, ...rest] = sent.instructions;
  return (
    computeFault(first, second) ??
    (await transferFault(sent, transfer, payer, expected)) ??
    restFault(rest) ??
    (memoOf(sent) === expected.memo ? null : 'the memo is not the one of the challenge')
  );
}

/** Checks unit limit and unit price, in either order: the fee payer pays their product on top of the signatures. */
export function computeFault(...pair: readonly (SentInstruction | undefined)[]): string | null {
  const settingOf = (kind: number, bytes: number) =>
    pair.find((one) => one?.program === COMPUTE_BUDGET_PROGRAM && one.data[0] === kind && one.data.length === bytes);
  const limit = settingOf(SET_UNIT_LIMIT, 5);
  const price = settingOf(SET_UNIT_PRICE, 9);
  if (!limit || !price) return 'the first two instructions must set the compute limit and the compute price';
  const units = BigInt(Buffer.from(limit.data).readUInt32LE(1));
  return units * Buffer.from(price.data).readBigUInt64LE(1) > MOST_PRIORITY_MICROLAMPORTS
    ? 'the priority fee is too high: compute limit times price is more than 10,000 lamports'
    : null;
}

async function transferFault(
  sent: SentTransaction,
  transfer: SentInstruction | undefined,
  payer: Address,
  expected: Expected,
): Promise<string | null> {
  if (
    transfer?.program !== TOKEN_PROGRAM ||
    transfer.data[0] !== TRANSFER_CHECKED ||
    transfer.data.length !== 10 ||
    transfer.accounts.length !== 4
  ) {
    return 'the third instruction must be the transfer';
  }
  const [, mint, destination, authority] = transfer.accounts.map((index) => sent.accounts[index]);
  if (authority !== payer) return 'the transfer is not authorised by the payer';
  if (mint !== expected.asset) return 'the transfer is of another asset';
  if (Buffer.from(transfer.data).readBigUInt64LE(1) !== expected.amount) {
    return 'the transfer is of another amount';
  }
  if (expected.payTo === undefined) return null;
  const vault = await associatedTokenAddress(expected.payTo as Address, expected.asset as Address);
  return destination === vault ? null : 'the transfer goes to another account';
}

function restFault(rest: readonly SentInstruction[]): string | null {
  const expected = rest.every((one) => one.program === MEMO_PROGRAM || one.program === LIGHTHOUSE_PROGRAM);
  return expected ? null : 'there is an instruction that does not belong to a payment';
}
