import { getBase58Decoder, getBase58Encoder } from '@solana/kit';
import { transactionOf } from '../embedded/landed.ts';
import type { LandedTransaction } from '../embedded/ledger-transactions.ts';
import type { InnerInstructions, TokenBalance } from '../embedded/meta.ts';
import { isWritable, type ParsedTransaction } from '../embedded/parse.ts';
import { TOKEN_PROGRAM } from '../token.ts';
import { parsedInstruction } from './parsed-instructions.ts';
import { uiAmount } from './ui-amount.ts';

export type TransactionEncoding = 'json' | 'jsonParsed' | 'base58' | 'base64' | 'binary';

/** A landed transaction as getTransaction shows it. */
export function encodeTransaction(landed: LandedTransaction, encoding: TransactionEncoding) {
  return { slot: landed.slot, blockTime: landed.blockTime, ...encodeInBlock(landed, encoding) };
}

/** A landed transaction as getBlock shows it among others. */
export function encodeInBlock(landed: LandedTransaction, encoding: TransactionEncoding) {
  const transaction = transactionOf(landed);
  return {
    version: transaction.version,
    transaction: encodeBody(transaction, encoding),
    meta: encodeMeta(landed, transaction, encoding === 'jsonParsed'),
  };
}

/** A landed transaction as getBlock shows it to whoever asks for accounts alone. */
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

/** Tables as a message lists them. */
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
          ? parsedInstruction({ ...named(transaction, programIdIndex, accounts), data, stackHeight: 1 })
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

export const encodeInner = (
  inner: readonly InnerInstructions[],
  transaction: ParsedTransaction,
  isParsed: boolean,
) =>
  inner.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map((one) =>
      isParsed
        ? parsedInstruction({
            ...named(transaction, one.programIdIndex, one.accounts),
            data: new Uint8Array(getBase58Encoder().encode(one.data)),
            stackHeight: one.stackHeight,
          })
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

function named(transaction: ParsedTransaction, program: number, accounts: readonly number[]) {
  const at = (index: number) => transaction.accountKeys[index] ?? '';
  return { programId: at(program), accounts: accounts.map(at) };
}
