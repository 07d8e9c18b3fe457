import type { Address, Signature } from '@solana/kit';
import { problem } from '../../kernel/problems.ts';
import { type OnTrouble, openSqlite, type SqliteDatabase } from '../../store/libsql/file.ts';
import type { ChainAccount } from '../cluster.ts';
import { decodeTokenAccount, TOKEN_PROGRAM } from '../token.ts';
import { memosOf, type StoredMeta } from './meta.ts';
import { type ParsedTransaction, parseTransaction } from './parse.ts';

/** Everything is in one file; it is created whole, in one transaction, or not at all. */
export const LEDGER_TABLES = [
  `create table ledger (
     id integer primary key check (id = 1),
     genesis_ms integer not null, wall_ms integer not null, ledger_ms integer not null,
     seed blob not null, faucet_seed blob not null)`,
  // Lamports are text: they are 64 bits wide, and a JavaScript number is not.
  `create table accounts (
     address text primary key, lamports text not null, owner text not null, data blob not null,
     executable integer not null, slot integer not null, mint text, token_owner text)`,
  `create table transactions (
     seq integer primary key, signature text not null unique, slot integer not null,
     block_time integer not null, err text, wire blob not null, meta text not null)`,
  `create table transaction_accounts (
     address text not null, seq integer not null, primary key (address, seq)) without rowid`,
] as const;

/** By whom accounts are found, in order of their addresses: a page of them is read without the rest. */
const LEDGER_INDEXES = [
  'create index accounts_owned on accounts (owner, address)',
  'create index accounts_of_holder on accounts (token_owner, address) where token_owner is not null',
  'create index accounts_of_mint on accounts (mint, address) where mint is not null',
] as const;

/** The indexes of ledgers before version 1. */
const OLD_INDEXES = ['accounts_by_owner', 'accounts_by_token_owner', 'accounts_by_mint'] as const;

/** The version of a ledger file's form, in its `user_version`. */
const VERSION = 1;

/** Brings a ledger up to date, a new one too. Of two processes the second finds the work done. */
export function ensureVersion({ database, write }: Pick<LedgerFile, 'database' | 'write'>): void {
  const isCurrent = () =>
    (database.prepare('pragma user_version').get() as { user_version: number }).user_version >= VERSION;
  if (isCurrent()) return;
  write(() => {
    if (isCurrent()) return;
    for (const name of OLD_INDEXES) database.exec(`drop index if exists ${name}`);
    for (const statement of LEDGER_INDEXES) database.exec(statement);
    database.exec('alter table transactions add column memo text');
    database.exec(`pragma user_version = ${VERSION}`);
  });
}

/** Which accounts: those of a program, of a token account's holder, or of a mint. */
export interface AccountsWanted {
  readonly by: 'owner' | 'token_owner' | 'mint';
  readonly is: Address;
}

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

interface AccountRow {
  address: string;
  lamports: string;
  owner: string;
  data: Uint8Array;
  executable: number;
  slot: number;
}

interface TransactionRow {
  seq: number;
  signature: string;
  slot: number;
  block_time: number;
  err: string | null;
  wire: Uint8Array;
  /** Empty without one; null in the rows of ledgers that did not keep it. */
  memo: string | null;
  meta: string;
}

type LandingRow = Omit<TransactionRow, 'meta'>;

/** The ledger's rows. Everything is synchronous: nothing else of this process runs inside a transaction. */
export interface LedgerFile {
  readonly database: SqliteDatabase;
  account(address: Address): (ChainAccount & { readonly slot: number }) | null;
  /** In which slot an account was last written, without its data. */
  slotOf(address: Address): number | null;
  /** A page of accounts in order of their addresses, those behind `after`. */
  accountsPage(wanted: AccountsWanted, after: string, limit: number): ChainAccount[];
  putAccount(account: ChainAccount, slot: number): void;
  removeAccount(address: Address): void;
  transaction(signature: string): LandedTransaction | null;
  /** The result of a transaction, without its effects. */
  landing(signature: string): Landing | null;
  addTransaction(landed: Omit<LandedTransaction, 'seq' | 'memo'>, parsed: ParsedTransaction): void;
  /** The latest transactions that name an address, newest first, without what they did. */
  transactionsNaming(address: string, range: HistoryRange): Landing[];
  transactionCount(): number;
  /** Runs `work` with the write lock, all or nothing; other processes wait for their turn. */
  write<T>(work: () => T): T;
  /** Runs `work` on one state of the ledger, whatever others write meanwhile. */
  snapshot<T>(work: () => T): T;
  close(): void;
}

/**
 * @param onTrouble called for trouble with the file
 * @throws Problem `cluster_failed`, here and from everything that reads or writes: a ledger that cannot be read or
 *   written is a cluster that does not answer, and leaves open what became of a transaction. Its cause is the trouble.
 */
export function openLedgerFile(path: string, onTrouble?: OnTrouble): LedgerFile {
  const database = openSqlite(path, {
    onTrouble,
    thrownAs: (trouble) => problem('cluster_failed', { cause: trouble }),
  });
  const prepared = new Map<string, ReturnType<SqliteDatabase['prepare']>>();
  const statement = (sql: string) => {
    const known = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, known);
    return known;
  };
  const within = <T>(begin: string, work: () => T): T => {
    database.exec(begin);
    try {
      const result = work();
      database.exec('commit');
      return result;
    } catch (error) {
      // After a full disk or an I/O error SQLite has rolled back by itself; the first error says why.
      if (database.inTransaction) database.exec('rollback');
      throw error;
    }
  };
  return {
    database,
    account(address) {
      const row = statement('select * from accounts where address = ?').get(address);
      return row ? accountFrom(row as AccountRow) : null;
    },
    slotOf: (address) => slotIn(statement('select slot from accounts where address = ?').get(address)),
    accountsPage: ({ by, is }, after, limit) =>
      (
        statement(`select * from accounts where ${by} = ? and address > ? order by address limit ?`).all(
          is,
          after,
          limit,
        ) as AccountRow[]
      ).map(accountFrom),
    putAccount(account, slot) {
      const token = account.owner === TOKEN_PROGRAM ? decodeTokenAccount(account.data) : null;
      statement(
        `insert into accounts (address, lamports, owner, data, executable, slot, mint, token_owner)
         values (?, ?, ?, ?, ?, ?, ?, ?)
         on conflict (address) do update set lamports = excluded.lamports, owner = excluded.owner,
           data = excluded.data, executable = excluded.executable, slot = excluded.slot,
           mint = excluded.mint, token_owner = excluded.token_owner`,
      ).run(
        account.address,
        String(account.lamports),
        account.owner,
        Buffer.from(account.data),
        account.executable ? 1 : 0,
        slot,
        token?.mint ?? null,
        token?.owner ?? null,
      );
    },
    removeAccount: (address) => void statement('delete from accounts where address = ?').run(address),
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
      const { lastInsertRowid } = statement(
        'insert into transactions (signature, slot, block_time, err, wire, memo, meta) values (?, ?, ?, ?, ?, ?, ?)',
      ).run(
        landed.signature,
        landed.slot,
        landed.blockTime,
        landed.err === null ? null : JSON.stringify(landed.err),
        Buffer.from(landed.wire),
        memosOf(parsed),
        JSON.stringify(landed.meta),
      );
      const name = statement('insert into transaction_accounts (address, seq) values (?, ?)');
      for (const address of parsed.accountKeys) name.run(address, lastInsertRowid);
    },
    transactionsNaming: (address, { beforeSeq, untilSeq, limit }) =>
      (
        statement(
          `select t.seq, signature, slot, block_time, err, wire, memo
           from transaction_accounts a join transactions t on t.seq = a.seq
           where a.address = ? and a.seq < ? and a.seq > ? order by a.seq desc limit ?`,
        ).all(address, beforeSeq, untilSeq, limit) as LandingRow[]
      ).map(landingFrom),
    // None is ever taken away: the last number is how many there are.
    transactionCount: () =>
      (statement('select max(seq) as n from transactions').get() as { n: number | null }).n ?? 0,
    write: (work) => within('begin immediate', work),
    snapshot: (work) => within('begin', work),
    close: () => database.close(),
  };
}

const slotIn = (row: unknown): number | null => (row as Pick<AccountRow, 'slot'> | undefined)?.slot ?? null;

const accountFrom = (row: AccountRow): ChainAccount & { readonly slot: number } => ({
  address: row.address as Address,
  lamports: BigInt(row.lamports),
  owner: row.owner as Address,
  data: new Uint8Array(row.data),
  executable: row.executable === 1,
  slot: row.slot,
});

const landingFrom = (row: LandingRow): Landing => ({
  seq: row.seq,
  signature: row.signature as Signature,
  slot: row.slot,
  blockTime: row.block_time,
  err: row.err === null ? null : (JSON.parse(row.err) as unknown),
  wire: new Uint8Array(row.wire),
  memo: (row.memo ?? memosOf(parseTransaction(row.wire))) || null,
});

const transactionFrom = (row: TransactionRow): LandedTransaction => ({
  ...landingFrom(row),
  meta: JSON.parse(row.meta) as StoredMeta,
});
