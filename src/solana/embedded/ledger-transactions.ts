import type { Address, Signature } from '@solana/kit';
import type { SqliteDatabase } from '../../store/libsql/index.ts';
import { memosOf, type StoredMeta } from './meta.ts';
import { advanceIn } from './nonce.ts';
import { isWritable, NONE_LOADED, type ParsedTransaction, parseTransaction, withLoaded } from './parse.ts';

/** Prepares a statement, once. */
export type Statement = (sql: string) => ReturnType<SqliteDatabase['prepare']>;

/** A place in the history of an address. */
interface HistoryRange {
  readonly beforeSeq: number;
  readonly untilSeq: number;
  readonly limit: number;
}

/** A transaction that landed, without what it did. */
interface Landing {
  readonly seq: number;
  readonly signature: Signature;
  readonly slot: number;
  /** Seconds since the epoch. */
  readonly blockTime: number;
  readonly err: unknown;
  readonly wire: Uint8Array;
  /** Its memos: `[length] text`, joined by semicolons; null without one. */
  readonly memo: string | null;
}

export interface LandedTransaction extends Landing {
  readonly meta: StoredMeta;
}

/** A blob as the driver hands it out: `get` makes a Buffer of it, `all` an ArrayBuffer. */
export type RowBytes = Uint8Array | ArrayBuffer;

interface TransactionRow {
  seq: number;
  signature: string;
  slot: number;
  block_time: number;
  err: string | null;
  wire: RowBytes;
  /** Empty without one; null in the rows of ledgers that did not keep it. */
  memo: string | null;
  meta: string;
}

type LandingRow = Omit<TransactionRow, 'meta'>;

/** The transactions of a ledger. */
export interface TransactionRows {
  transaction(signature: string): LandedTransaction | null;
  /** The result of a transaction, without its effects. */
  landing(signature: string): Landing | null;
  addTransaction(landed: Omit<LandedTransaction, 'seq' | 'memo'>, parsed: ParsedTransaction): LandedTransaction;
  /** The latest transactions that name an address, newest first, without what they did. */
  transactionsNaming(address: string, range: HistoryRange): Landing[];
  /** Transactions that landed behind a place in the order, oldest first. */
  transactionsAfter(seq: number, limit: number): LandedTransaction[];
  /** A page of the transactions of a slot, in their order, those behind `afterSeq`. */
  transactionsOfSlot(slot: number, afterSeq: number, limit: number): LandedTransaction[];
  /** Transactions that have landed: all of them, or those up to the end of a slot. */
  transactionCount(upToSlot?: number): number;
}

export const transactionRows = (statement: Statement): TransactionRows => ({
  transaction(signature) {
    const row = statement('select * from transactions where signature = ?').get(signature);
    return row ? transactionFrom(row as TransactionRow) : null;
  },
  landing(signature) {
    const row = statement(
      'select seq, signature, slot, block_time, err, wire, memo from transactions where signature = ?',
    ).get(signature);
    return row ? landingFrom(row as LandingRow) : null;
  },
  addTransaction(landed, parsed) {
    const memo = memosOf(parsed);
    const { lastInsertRowid } = statement(
      'insert into transactions (signature, slot, block_time, err, wire, memo, meta) values (?, ?, ?, ?, ?, ?, ?)',
    ).run(
      landed.signature,
      landed.slot,
      landed.blockTime,
      landed.err === null ? null : JSON.stringify(landed.err),
      Buffer.from(landed.wire),
      memo,
      JSON.stringify(landed.meta),
    );
    const seq = Number(lastInsertRowid);
    const names = parsed.accountKeys.map(() => '(?, ?)').join(', ');
    statement(`insert into transaction_accounts (address, seq) values ${names}`).run(
      ...parsed.accountKeys.flatMap((address) => [address, seq]),
    );
    return { ...landed, seq, memo: memo || null };
  },
  transactionsNaming: (address, { beforeSeq, untilSeq, limit }) =>
    (
      statement(
        `select t.seq, signature, slot, block_time, err, wire, memo
         from transaction_accounts a join transactions t on t.seq = a.seq
         where a.address = ? and a.seq < ? and a.seq > ? order by a.seq desc limit ?`,
      ).all(address, beforeSeq, untilSeq, limit) as LandingRow[]
    ).map(landingFrom),
  transactionsAfter: (seq, limit) =>
    (
      statement('select * from transactions where seq > ? order by seq limit ?').all(seq, limit) as TransactionRow[]
    ).map(transactionFrom),
  transactionsOfSlot: (slot, afterSeq, limit) =>
    (
      statement('select * from transactions where slot = ? and seq > ? order by seq limit ?').all(
        slot,
        afterSeq,
        limit,
      ) as TransactionRow[]
    ).map(transactionFrom),
  // None is ever taken away: the last number is how many there are.
  transactionCount(upToSlot) {
    const row =
      upToSlot === undefined
        ? statement('select max(seq) as n from transactions').get()
        : statement('select seq as n from transactions where slot <= ? order by slot desc, seq desc limit 1').get(
            upToSlot,
          );
    return (row as { n: number | null } | undefined)?.n ?? 0;
  },
});

function landingFrom(row: LandingRow): Landing {
  const wire = new Uint8Array(row.wire);
  return {
    seq: row.seq,
    signature: row.signature as Signature,
    slot: row.slot,
    blockTime: row.block_time,
    err: row.err === null ? null : (JSON.parse(row.err) as unknown),
    wire,
    memo: (row.memo ?? memosOf(parseTransaction(wire))) || null,
  };
}

const transactionFrom = (row: TransactionRow): LandedTransaction => ({
  ...landingFrom(row),
  meta: JSON.parse(row.meta) as StoredMeta,
});

/** A landed transaction, read again from its bytes, with the addresses that it had loaded from tables. */
export const transactionOf = ({ wire, meta }: Pick<LandedTransaction, 'wire' | 'meta'>): ParsedTransaction =>
  withLoaded(parseTransaction(wire), meta.loadedAddresses ?? NONE_LOADED);

/** The accounts that a landed transaction named, and those among them that it may have changed. */
export function changedBy(landed: LandedTransaction): {
  readonly named: readonly Address[];
  readonly written: readonly Address[];
} {
  const transaction = transactionOf(landed);
  const { accountKeys } = transaction;
  const written = accountKeys.filter((_, index) => isWritable(transaction, index));
  if (landed.err === null) return { named: accountKeys, written };
  // A failure changes what pays for it, and the nonce that it lived by.
  const kept = [accountKeys[0], advanceIn(transaction)];
  return { named: accountKeys, written: written.filter((address) => kept.includes(address)) };
}
