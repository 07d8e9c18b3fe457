import type { Address, Signature } from '@solana/kit';
import type { SqliteDatabase } from '../../store/libsql/index.ts';
import { memosOf, type StoredMeta } from './meta.ts';
import { advanceIn } from './nonce.ts';
import { isWritable, NONE_LOADED, type ParsedTransaction, parseTransaction, withLoaded } from './parse.ts';

/** A blob of the driver: `get` returns a Buffer, `all` an ArrayBuffer. */
export type RowBytes = Uint8Array | ArrayBuffer;

interface TransactionRow {
  seq: number;
  signature: string;
  slot: number;
  block_time: number;
  err: string | null;
  wire: RowBytes;
  /** Empty without a memo; null in rows of ledgers that did not keep it. */
  memo: string | null;
  meta: string;
}

export interface Queries {
  run(sql: string, ...values: unknown[]): ReturnType<ReturnType<SqliteDatabase['prepare']>['run']>;
  one<Row>(sql: string, ...values: unknown[]): Row | undefined;
  all<Row>(sql: string, ...values: unknown[]): Row[];
}

const LANDING = 't.seq, signature, slot, block_time, err, wire, memo';

export const transactionRows = ({ run, one, all }: Queries) => ({
  landed(signature: string): LandedTransaction | null {
    const row = one<TransactionRow>('select * from transactions where signature = ?', signature);
    return row ? transactionFrom(row) : null;
  },
  landing(signature: string): Landing | null {
    const row = one<TransactionRow>(`select ${LANDING} from transactions t where signature = ?`, signature);
    return row ? landingFrom(row) : null;
  },
  addTransaction(landed: Omit<LandedTransaction, 'seq' | 'memo'>, parsed: ParsedTransaction): LandedTransaction {
    const memo = memosOf(parsed);
    const { lastInsertRowid } = run(
      'insert into transactions (signature, slot, block_time, err, wire, memo, meta) values (?, ?, ?, ?, ?, ?, ?)',
      ...[landed.signature, landed.slot, landed.blockTime, landed.err === null ? null : JSON.stringify(landed.err)],
      ...[Buffer.from(landed.wire), memo, JSON.stringify(landed.meta)],
    );
    const seq = Number(lastInsertRowid);
    const names = parsed.accountKeys.map(() => '(?, ?)').join(', ');
    const values = parsed.accountKeys.flatMap((address) => [address, seq]);
    run(`insert into transaction_accounts (address, seq) values ${names}`, ...values);
    return { ...landed, seq, memo: memo || null };
  },
  /** The latest transactions that name an address, newest first. */
  transactionsNaming(
    address: string,
    range: { readonly beforeSeq: number; readonly untilSeq: number; readonly limit: number },
  ): Landing[] {
    const sql = `select ${LANDING} from transaction_accounts a join transactions t on t.seq = a.seq
      where a.address = ? and a.seq < ? and a.seq > ? order by a.seq desc limit ?`;
    return all<TransactionRow>(sql, address, range.beforeSeq, range.untilSeq, range.limit).map(landingFrom);
  },
  transactionsAfter: (seq: number, limit: number): LandedTransaction[] =>
    all<TransactionRow>('select * from transactions where seq > ? order by seq limit ?', seq, limit).map(
      transactionFrom,
    ),
  /** A page of a slot's transactions behind `afterSeq`. */
  transactionsOfSlot(slot: number, afterSeq: number, limit: number): LandedTransaction[] {
    const sql = 'select * from transactions where slot = ? and seq > ? order by seq limit ?';
    return all<TransactionRow>(sql, slot, afterSeq, limit).map(transactionFrom);
  },
  /** Counts landed transactions, all or up to the end of a slot; none is ever removed. */
  transactionCount(upToSlot?: number): number {
    const ofSlot = 'select seq as n from transactions where slot <= ? order by slot desc, seq desc limit 1';
    const row =
      upToSlot === undefined
        ? one<{ n: number | null }>('select max(seq) as n from transactions')
        : one<{ n: number | null }>(ofSlot, upToSlot);
    return row?.n ?? 0;
  },
});

type Landing = ReturnType<typeof landingFrom>;

export interface LandedTransaction extends Readonly<Landing> {
  readonly meta: StoredMeta;
}

function landingFrom(row: Omit<TransactionRow, 'meta'>) {
  const wire: Uint8Array = new Uint8Array(row.wire);
  return {
    seq: row.seq,
    signature: row.signature as Signature,
    slot: row.slot,
    blockTime: row.block_time,
    err: row.err === null ? null : (JSON.parse(row.err) as unknown),
    wire,
    /** `[length] text`, joined by semicolons; null without a memo. */
    memo: (row.memo ?? memosOf(parseTransaction(wire))) || null,
  };
}

const transactionFrom = (row: TransactionRow): LandedTransaction => ({
  ...landingFrom(row),
  meta: JSON.parse(row.meta) as StoredMeta,
});

/** Parses a landed transaction, with the addresses loaded from tables. */
export const transactionOf = ({ wire, meta }: Pick<LandedTransaction, 'wire' | 'meta'>): ParsedTransaction =>
  withLoaded(parseTransaction(wire), meta.loadedAddresses ?? NONE_LOADED);

/** Lists the accounts that a landed transaction named and may have changed. */
export function changedBy(landed: LandedTransaction): {
  readonly named: readonly Address[];
  readonly written: readonly Address[];
} {
  const transaction = transactionOf(landed);
  const { accountKeys } = transaction;
  const written = accountKeys.filter((_, index) => isWritable(transaction, index));
  if (landed.err === null) return { named: accountKeys, written };
  // A failure changes the fee payer and the nonce only.
  const kept = [accountKeys[0], advanceIn(transaction)];
  return { named: accountKeys, written: written.filter((address) => kept.includes(address)) };
}
