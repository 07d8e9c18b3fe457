import { getBase58Decoder, getBase58Encoder } from '@solana/kit';
import type { InnerInstructions, LandedTransaction, ParsedTransaction, TokenBalance } from '../embedded/index.ts';
import { isWritable, SYSTEM_PROGRAM, transactionOf } from '../embedded/index.ts';
import { ASSOCIATED_TOKEN_PROGRAM, addressAt, MEMO_PROGRAM, TOKEN_PROGRAM, viewOf } from '../token.ts';
import { uiAmount } from './encode-account.ts';

export type TransactionEncoding = 'json' | 'jsonParsed' | 'base58' | 'base64' | 'binary';

export function encodeTransaction(landed: LandedTransaction, encoding: TransactionEncoding) {
  return { slot: landed.slot, blockTime: landed.blockTime, ...encodeInBlock(landed, encoding) };
}

export function encodeInBlock(landed: LandedTransaction, encoding: TransactionEncoding) {
  const transaction = transactionOf(landed);
  return {
    version: transaction.version,
    transaction: encodeBody(transaction, encoding),
    meta: encodeMeta(landed, transaction, encoding === 'jsonParsed'),
  };
}

export function encodeAccounts(landed: LandedTransaction) {
  const transaction = transactionOf(landed);
  const { err, status, fee, ...meta } = encodeMeta(landed, transaction, false);
  const { preBalances, postBalances, preTokenBalances, postTokenBalances } = meta;
  return {
    version: transaction.version,
    transaction: { accountKeys: shownKeys(transaction), signatures: signaturesOf(transaction) },
    meta: { err, status, fee, preBalances, postBalances, preTokenBalances, postTokenBalances },
  };
}

const signaturesOf = ({ signatures }: ParsedTransaction): string[] =>
  signatures.map((signature) => getBase58Decoder().decode(signature));

const namedCount = ({ accountKeys, loaded }: ParsedTransaction): number =>
  accountKeys.length - loaded.writable.length - loaded.readonly.length;

const shownKeys = (transaction: ParsedTransaction) =>
  transaction.accountKeys.map((pubkey, index) => ({
    pubkey,
    signer: index < transaction.header.numRequiredSignatures,
    source: index < namedCount(transaction) ? 'transaction' : 'lookupTable',
    writable: isWritable(transaction, index),
  }));

const shownLookups = ({ lookups }: Pick<ParsedTransaction, 'lookups'>) =>
  lookups.map(({ table, writable, readonly }) => ({
    accountKey: table,
    readonlyIndexes: readonly,
    writableIndexes: writable,
  }));

function encodeBody(transaction: ParsedTransaction, encoding: TransactionEncoding): unknown {
  const base58 = getBase58Decoder();
  if (encoding === 'base64') return [Buffer.from(transaction.wire).toString('base64'), encoding];
  if (encoding === 'base58') return [base58.decode(transaction.wire), encoding];
  if (encoding === 'binary') return base58.decode(transaction.wire);
  const { header, accountKeys, blockhash, instructions, version } = transaction;
  const isParsed = encoding === 'jsonParsed';
  return {
    signatures: signaturesOf(transaction),
    message: {
      accountKeys: isParsed ? shownKeys(transaction) : accountKeys.slice(0, namedCount(transaction)),
      ...(isParsed ? {} : { header }),
      ...(version === 0 ? { addressTableLookups: shownLookups(transaction) } : {}),
      recentBlockhash: blockhash,
      instructions: instructions.map((one) => {
        const { programIdIndex, accounts, data } = one;
        return isParsed
          ? parsedInstruction(transaction, one, data, 1)
          : { programIdIndex, accounts, data: base58.decode(data), stackHeight: 1 };
      }),
    },
  };
}

function encodeMeta(landed: LandedTransaction, transaction: ParsedTransaction, isParsed: boolean) {
  const { meta, err } = landed;
  return {
    err,
    status: err === null ? { Ok: null } : { Err: err },
    fee: BigInt(meta.fee),
    preBalances: meta.preBalances.map(BigInt),
    postBalances: meta.postBalances.map(BigInt),
    preTokenBalances: meta.preTokenBalances.map(encodeTokenBalance),
    postTokenBalances: meta.postTokenBalances.map(encodeTokenBalance),
    innerInstructions: encodeInner(meta.innerInstructions, transaction, isParsed),
    logMessages: meta.logs,
    rewards: [],
    loadedAddresses: transaction.loaded,
    computeUnitsConsumed: meta.unitsConsumed,
    ...(meta.returnData ? { returnData: encodeReturnData(meta.returnData) } : {}),
  };
}

export const encodeReturnData = (returned: { programId: string; data: string }) => ({
  programId: returned.programId,
  data: [returned.data, 'base64'],
});

export const encodeInner = (inner: readonly InnerInstructions[], transaction: ParsedTransaction, isParsed: boolean) =>
  inner.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map((one) =>
      isParsed
        ? parsedInstruction(transaction, one, Uint8Array.from(getBase58Encoder().encode(one.data)), one.stackHeight)
        : one,
    ),
  }));

export const encodeTokenBalance = (balance: TokenBalance) => ({
  accountIndex: balance.accountIndex,
  mint: balance.mint,
  owner: balance.owner,
  programId: balance.programId ?? TOKEN_PROGRAM,
  uiTokenAmount: uiAmount(BigInt(balance.amount), balance.decimals),
});

/** Spells out instructions that move money or make accounts; others keep base58 bytes, as the format allows. */
function parsedInstruction(
  transaction: ParsedTransaction,
  one: { readonly programIdIndex: number; readonly accounts: readonly number[] },
  data: Uint8Array,
  stackHeight: number,
): unknown {
  const at = (index: number) => transaction.accountKeys[index] ?? '';
  const [programId, accounts] = [at(one.programIdIndex), one.accounts.map(at)];
  const program = PROGRAMS[programId];
  const parsed = program?.read(accounts, data);
  if (program && parsed) return { program: program.name, programId, parsed, stackHeight };
  return { programId, accounts, data: getBase58Decoder().decode(data), stackHeight };
}

type Read = (accounts: readonly string[], data: Uint8Array) => unknown;

const PROGRAMS: Readonly<Record<string, { readonly name: string; readonly read: Read }>> = {
  [SYSTEM_PROGRAM]: { name: 'system', read: system },
  [TOKEN_PROGRAM]: { name: 'spl-token', read: token },
  [ASSOCIATED_TOKEN_PROGRAM]: { name: 'spl-associated-token-account', read: associatedToken },
  [MEMO_PROGRAM]: { name: 'spl-memo', read: (_accounts, data) => Buffer.from(data).toString('utf8') },
};

function system([first, second]: readonly string[], data: Uint8Array): unknown {
  const view = viewOf(data);
  if (data.length === 12 && view.getUint32(0, true) === 2) {
    const info = { destination: second, lamports: view.getBigUint64(4, true), source: first };
    return { type: 'transfer', info };
  }
  if (data.length === 52 && view.getUint32(0, true) === 0) {
    const info = {
      lamports: view.getBigUint64(4, true),
      newAccount: second,
      owner: addressAt(data, 20),
      source: first,
      space: view.getBigUint64(12, true),
    };
    return { type: 'createAccount', info };
  }
  return null;
}

/** Token instructions by tag: their accounts in order, and the form of the amount. */
const TOKEN_INSTRUCTIONS: Readonly<Record<number, readonly [type: string, amount: string, ...accounts: string[]]>> = {
  3: ['transfer', 'amount', 'source', 'destination', 'authority'],
  7: ['mintTo', 'amount', 'mint', 'account', 'mintAuthority'],
  8: ['burn', 'amount', 'account', 'mint', 'authority'],
  9: ['closeAccount', '', 'account', 'destination', 'owner'],
  12: ['transferChecked', 'tokenAmount', 'source', 'mint', 'destination', 'authority'],
  14: ['mintToChecked', 'tokenAmount', 'mint', 'account', 'mintAuthority'],
  18: ['initializeAccount3', '', 'account', 'mint'],
  22: ['initializeImmutableOwner', '', 'account'],
};

function token(accounts: readonly string[], data: Uint8Array): unknown {
  const known = TOKEN_INSTRUCTIONS[data[0] ?? -1];
  if (!known || (data[0] === 18 && data.length < 33)) return null;
  const [type, shownAs, ...names] = known;
  const amount = data.length >= 9 ? viewOf(data).getBigUint64(1, true) : 0n;
  const fields: [string, unknown][] = names.map((name, index) => [name, accounts[index]]);
  if (shownAs === 'amount') fields.push(['amount', `${amount}`]);
  if (shownAs === 'tokenAmount') fields.push(['tokenAmount', uiAmount(amount, data[9] ?? 0)]);
  if (data[0] === 18) fields.push(['owner', addressAt(data, 1)]);
  // Alphabetical, as in Agave.
  return { type, info: Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

function associatedToken(accounts: readonly string[], data: Uint8Array): unknown {
  const type = data.length === 0 || data[0] === 0 ? 'create' : data[0] === 1 ? 'createIdempotent' : null;
  const [source, account, wallet, mint, systemProgram, tokenProgram] = accounts;
  return type && { type, info: { account, mint, source, systemProgram, tokenProgram, wallet } };
}
