import type { Address } from '@solana/kit';
import { type Problem, problem } from '../../kernel/problems.ts';
import {
  type JournalDisk,
  journalDisk,
  type OnTrouble,
  openSqlite,
  type SqliteDatabase,
  troubleWith,
} from '../../store/libsql/index.ts';
import type { ChainAccount } from '../cluster.ts';
import { tokenAccountOf } from '../token.ts';
import { type Changes, watchChanges } from './changes.ts';
import {
  type LandedTransaction,
  type RowBytes,
  type Statement,
  type TransactionRows,
  transactionRows,
} from './ledger-transactions.ts';

/** Every transaction names the same few accounts, of which the programs are large. */
const MOST_BYTES = 32 * 1024 * 1024;
const MOST_ACCOUNTS = 5_000;

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

/** What makes a ledger of each version of the one before; the file's `user_version` says where it is. */
const VERSIONS: readonly (readonly string[])[] = [
  [
    ...OLD_INDEXES.map((name) => `drop index if exists ${name}`),
    ...LEDGER_INDEXES,
    'alter table transactions add column memo text',
  ],
  // Slots never go back, so the transactions of a slot lie together, and those up to it are counted by the last one.
  ['create index transactions_of_slot on transactions (slot)'],
];

/** Brings a ledger up to date, a new one too. Of two processes the second finds the work done. */
export function ensureVersion({ database, write }: Pick<LedgerFile, 'database' | 'write'>): void {
  const version = () => (database.prepare('pragma user_version').get() as { user_version: number }).user_version;
  if (version() >= VERSIONS.length) return;
  write(() => {
    for (const statement of VERSIONS.slice(version()).flat()) database.exec(statement);
    database.exec(`pragma user_version = ${Math.max(version(), VERSIONS.length)}`);
  });
}

/** Which accounts: those of a program, of a token account's holder, or of a mint. */
export interface AccountsWanted {
  readonly by: 'owner' | 'token_owner' | 'mint';
  readonly is: Address;
}

interface AccountRow {
  address: string;
  lamports: string;
  owner: string;
  data: RowBytes;
  executable: number;
  slot: number;
}

/** The ledger's rows. Everything is synchronous: nothing else of this process runs inside a transaction. */
export interface LedgerFile extends TransactionRows {
  readonly database: SqliteDatabase;
  readonly changes: Changes;
  account(address: Address): (ChainAccount & { readonly slot: number }) | null;
  /** In which slot an account was last written, without its data. */
  slotOf(address: Address): number | null;
  /** A page of accounts in order of their addresses, those behind `after`. */
  accountsPage(wanted: AccountsWanted, after: string, limit: number): ChainAccount[];
  putAccounts(accounts: readonly ChainAccount[], slot: number): void;
  removeAccount(address: Address): void;
  /** A page of what every account holds, in order of their addresses. */
  lamportsPage(after: string, limit: number): { readonly address: Address; readonly lamports: bigint }[];
  /** Runs `work` with the write lock, all or nothing; other processes wait for their turn. */
  write<T>(work: () => T): T;
  /**
   * Runs `work`, which only reads, on one state of the ledger, whatever others write meanwhile. It may be run twice:
   * without a transaction first, which is enough where every account is at hand.
   */
  snapshot<T>(work: () => T): T;
  /** From now on, writes wait for the disk beside this thread. */
  readonly disk: JournalDisk;
  /** From now on a write comes back before it is on the disk. */
  waitBeside(): void;
  close(): Promise<void>;
}

/**
 * @param onTrouble called for trouble with the file
 * @throws Problem `cluster_failed`, here and from everything that reads or writes: a ledger that cannot be read or
 *   written is a cluster that does not answer, and leaves open what became of a transaction. Its cause is the trouble.
 */
export function openLedgerFile(path: string, onTrouble?: OnTrouble): LedgerFile {
  const telling = { onTrouble, thrownAs: (trouble: Problem) => problem('cluster_failed', { cause: trouble }) };
  const database = openSqlite(path, telling);
  const disk = journalDisk(database, path, (error) => troubleWith(path, error, telling));
  const changes = watchChanges(database);
  const prepared = new Map<string, ReturnType<SqliteDatabase['prepare']>>();
  const statement: Statement = (sql) => {
    const known = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, known);
    return known;
  };
  const within = <T>(begin: string, work: () => T): T => {
    database.exec(begin);
    try {
      const result = changes.within(work);
      database.exec('commit');
      return result;
    } catch (error) {
      changes.rolledBack();
      // After a full disk or an I/O error SQLite has rolled back by itself; the first error says why.
      if (database.inTransaction) database.exec('rollback');
      throw error;
    }
  };
  const accounts = createAccountCache(changes, (address) => {
    const row = statement('select * from accounts where address = ?').get(address);
    return row ? accountFrom(row as AccountRow) : null;
  });
  const transactions = transactionRows(statement);
  const absences = rememberAbsences(changes, transactions.transaction);
  return {
    database,
    changes,
    account: accounts.get,
    slotOf: (address) => accounts.get(address)?.slot ?? null,
    accountsPage: ({ by, is }, after, limit) =>
      (
        statement(`select * from accounts where ${by} = ? and address > ? order by address limit ?`).all(
          is,
          after,
          limit,
        ) as AccountRow[]
      ).map(accountFrom),
    putAccounts(changed, slot) {
      if (changed.length === 0) return;
      statement(
        `insert into accounts (address, lamports, owner, data, executable, slot, mint, token_owner)
         values ${changed.map(() => '(?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}
         on conflict (address) do update set lamports = excluded.lamports, owner = excluded.owner,
           data = excluded.data, executable = excluded.executable, slot = excluded.slot,
           mint = excluded.mint, token_owner = excluded.token_owner`,
      ).run(...changed.flatMap((account) => columnsOf(account, slot)));
      for (const account of changed) accounts.put(account.address, { ...account, slot });
    },
    removeAccount(address) {
      statement('delete from accounts where address = ?').run(address);
      accounts.put(address, null);
    },
    ...transactions,
    // Whoever tries a transaction out lands it next: that it is not there is asked once.
    transaction: absences.of,
    addTransaction(landed, parsed) {
      absences.end(landed.signature);
      return transactions.addTransaction(landed, parsed);
    },
    lamportsPage: (after, limit) =>
      (
        statement('select address, lamports from accounts where address > ? order by address limit ?').all(
          after,
          limit,
        ) as Pick<AccountRow, 'address' | 'lamports'>[]
      ).map(({ address, lamports }) => ({ address: address as Address, lamports: BigInt(lamports) })),
    write: (work) => within('begin immediate', work),
    snapshot(work) {
      const before = accounts.misses();
      const result = changes.within(work);
      return accounts.misses() === before ? result : within('begin', work);
    },
    disk,
    waitBeside: () => void database.exec('pragma synchronous = normal'),
    async close() {
      await disk.close();
      database.close();
    },
  };
}

const MOST_ABSENT = 1_000;

/** Remembers that a transaction is not there, for as long as nobody else changes the file. */
function rememberAbsences(changes: Pick<Changes, 'seenWithin'>, read: TransactionRows['transaction']) {
  const absent = new Map<string, number>();
  return {
    of(signature: string): LandedTransaction | null {
      const seen = changes.seenWithin();
      if (seen !== null && absent.get(signature) === seen) return null;
      const found = read(signature);
      if (found || seen === null) return found;
      if (absent.size >= MOST_ABSENT) absent.clear();
      absent.set(signature, seen);
      return null;
    },
    end: (signature: string) => void absent.delete(signature),
  };
}

function columnsOf(account: ChainAccount, slot: number): unknown[] {
  const token = tokenAccountOf(account);
  return [
    account.address,
    String(account.lamports),
    account.owner,
    Buffer.from(account.data),
    account.executable ? 1 : 0,
    slot,
    token?.mint ?? null,
    token?.owner ?? null,
  ];
}

const accountFrom = (row: AccountRow): ChainAccount & { readonly slot: number } => ({
  address: row.address as Address,
  lamports: BigInt(row.lamports),
  owner: row.owner as Address,
  data: new Uint8Array(row.data),
  executable: row.executable === 1,
  slot: row.slot,
});

type StoredAccount = ChainAccount & { readonly slot: number };

/** Accounts as they were read or written last, for as long as nobody else changes the file. */
function createAccountCache(changes: Pick<Changes, 'seen'>, read: (address: Address) => StoredAccount | null) {
  const known = new Map<Address, StoredAccount | null>();
  let bytes = 0;
  let seen = -1;
  let misses = 0;
  const clear = () => {
    known.clear();
    bytes = 0;
  };
  const put = (address: Address, account: StoredAccount | null) => {
    const size = account?.data.length ?? 0;
    if (bytes + size > MOST_BYTES || known.size >= MOST_ACCOUNTS) clear();
    bytes += size;
    known.set(address, account);
  };
  return {
    get(address: Address): StoredAccount | null {
      const now = changes.seen();
      if (now !== seen) clear();
      seen = now;
      const account = known.get(address);
      if (account !== undefined) return account;
      misses += 1;
      const found = read(address);
      put(address, found);
      return found;
    },
    /** How often an account had to be read. */
    misses: () => misses,
    /** After a write of our own. */
    put,
  };
}
