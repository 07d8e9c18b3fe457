import type { Address, Signature } from '@solana/kit';
import { type Problem, problem } from '../../kernel/problems.ts';
import { journalDisk, type OnTrouble, openSqlite, type SqliteDatabase, troubleWith } from '../../store/libsql/index.ts';
import type { ChainAccount } from '../cluster.ts';
import { tokenAccountOf } from '../token.ts';
import { memosOf, type StoredMeta } from './meta.ts';
import { advanceIn } from './nonce.ts';
import { isWritable, NONE_LOADED, type ParsedTransaction, parseTransaction, withLoaded } from './parse.ts';
import { type Changes, watchChanges } from './slot-clock.ts';

/** The most bytes of cached accounts: every transaction names the same few, and programs are large. */
const MOST_BYTES = 32 * 1024 * 1024;
const MOST_ACCOUNTS = 5_000;

export const LEDGER_TABLES = [
  `create table ledger (
     id integer primary key check (id = 1),
     genesis_ms integer not null, wall_ms integer not null, ledger_ms integer not null,
     seed blob not null, faucet_seed blob not null)`,
  // Lamports are text because 64 bits do not fit a JavaScript number.
  `create table accounts (
     address text primary key, lamports text not null, owner text not null, data blob not null,
     executable integer not null, slot integer not null, mint text, token_owner text)`,
  `create table transactions (
     seq integer primary key, signature text not null unique, slot integer not null,
     block_time integer not null, err text, wire blob not null, meta text not null)`,
  `create table transaction_accounts (
     address text not null, seq integer not null, primary key (address, seq)) without rowid`,
] as const;

/** Indexes in address order let a page be read without the rest. */
const LEDGER_INDEXES = [
  'create index accounts_owned on accounts (owner, address)',
  'create index accounts_of_holder on accounts (token_owner, address) where token_owner is not null',
  'create index accounts_of_mint on accounts (mint, address) where mint is not null',
] as const;

const OLD_INDEXES = ['accounts_by_owner', 'accounts_by_token_owner', 'accounts_by_mint'] as const;

/** Statements that bring a ledger to each next `user_version`. */
const VERSIONS: readonly (readonly string[])[] = [
  [
    ...OLD_INDEXES.map((name) => `drop index if exists ${name}`),
    ...LEDGER_INDEXES,
    'alter table transactions add column memo text',
  ],
  // Slots never go back, so the number of a slot's last transaction counts all up to it.
  ['create index transactions_of_slot on transactions (slot)'],
];

/** Brings a ledger up to date; the second of two processes finds the work done. */
export function ensureVersion({ database, write }: Pick<LedgerFile, 'database' | 'write'>): void {
  const version = () => (database.prepare('pragma user_version').get() as { user_version: number }).user_version;
  if (version() >= VERSIONS.length) return;
  write(() => {
    for (const statement of VERSIONS.slice(version()).flat()) database.exec(statement);
    database.exec(`pragma user_version = ${Math.max(version(), VERSIONS.length)}`);
  });
}

export interface AccountsWanted {
  readonly by: 'owner' | 'token_owner' | 'mint';
  readonly is: Address;
}

type StoredAccount = ChainAccount & { readonly slot: number };

interface AccountRow {
  address: string;
  lamports: string;
  owner: string;
  data: RowBytes;
  executable: number;
  slot: number;
}

/** The ledger's rows, read and written synchronously, so nothing else runs inside a transaction. */
export type LedgerFile = ReturnType<typeof openLedgerFile>;

/** Opens the rows. @throws Problem `cluster_failed`, as do reads and writes: a transaction's fate is then unknown. */
export function openLedgerFile(path: string, onTrouble?: OnTrouble) {
  const telling = { onTrouble, thrownAs: (trouble: Problem) => problem('cluster_failed', { cause: trouble }) };
  const database = openSqlite(path, telling);
  const disk = journalDisk(database, path, (error) => troubleWith(path, error, telling));
  const changes = watchChanges(database);
  const queries = queriesOf(database);
  const { run, one, all } = queries;
  const within = <T>(begin: string, work: () => T): T => {
    database.exec(begin);
    try {
      const result = changes.within(work);
      database.exec('commit');
      return result;
    } catch (error) {
      changes.rolledBack();
      // SQLite has rolled back by itself after a full disk or an I/O error; the first error says why.
      if (database.inTransaction) database.exec('rollback');
      throw error;
    }
  };
  const accounts = createAccountCache(changes, (address) => {
    const row = one<AccountRow>('select * from accounts where address = ?', address);
    return row ? accountFrom(row) : null;
  });
  const { addTransaction, ...transactions } = transactionRows(queries);
  const absences = rememberAbsences(changes, transactions.landed);
  return {
    database,
    changes,
    account: accounts.get,
    slotOf: (address: Address): number | null => accounts.get(address)?.slot ?? null,
    putAccounts(changed: readonly ChainAccount[], slot: number): void {
      if (changed.length === 0) return;
      run(
        `insert into accounts (address, lamports, owner, data, executable, slot, mint, token_owner)
         values ${changed.map(() => '(?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}
         on conflict (address) do update set lamports = excluded.lamports, owner = excluded.owner,
           data = excluded.data, executable = excluded.executable, slot = excluded.slot,
           mint = excluded.mint, token_owner = excluded.token_owner`,
        ...changed.flatMap((account) => columnsOf(account, slot)),
      );
      for (const account of changed) accounts.put(account.address, { ...account, slot });
    },
    removeAccount(address: Address): void {
      run('delete from accounts where address = ?', address);
      accounts.put(address, null);
    },
    addTransaction(...[landed, parsed]: Parameters<typeof addTransaction>): LandedTransaction {
      absences.end(landed.signature);
      return addTransaction(landed, parsed);
    },
    reads: {
      ...transactions,
      // A transaction is often sent just after its simulation, so its absence is read once.
      landed: absences.of,
      /** A page of accounts in address order, from past `after`. */
      accountsPage({ by, is }: AccountsWanted, after: string, limit: number): ChainAccount[] {
        const sql = `select * from accounts where ${by} = ? and address > ? order by address limit ?`;
        return all<AccountRow>(sql, is, after, limit).map(accountFrom);
      },
      /** A page of all accounts' lamports in address order. */
      lamportsPage(after: string, limit: number): Pick<ChainAccount, 'address' | 'lamports'>[] {
        const sql = 'select address, lamports from accounts where address > ? order by address limit ?';
        const rows = all<Pick<AccountRow, 'address' | 'lamports'>>(sql, after, limit);
        return rows.map(({ address, lamports }) => ({ address: address as Address, lamports: BigInt(lamports) }));
      },
    },
    /** Runs `work` with the write lock, all or nothing. */
    write: <T>(work: () => T): T => within('begin immediate', work),
    /** Runs reading `work` on one state of the ledger, and again in a transaction if an account was not cached. */
    snapshot<T>(work: () => T): T {
      const before = accounts.misses();
      const result = changes.within(work);
      return accounts.misses() === before ? result : within('begin', work);
    },
    /** Waits for the disk off this thread, after `waitBeside`. */
    disk,
    /** Lets writes return before they are on the disk. */
    waitBeside: () => void database.exec('pragma synchronous = normal'),
    async close(): Promise<void> {
      await disk.close();
      database.close();
    },
  };
}

function queriesOf(database: SqliteDatabase): Queries {
  const prepared = new Map<string, ReturnType<SqliteDatabase['prepare']>>();
  const statement = (sql: string) => {
    const known = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, known);
    return known;
  };
  return {
    run: (sql, ...values) => statement(sql).run(...values),
    one: <Row>(sql: string, ...values: unknown[]) => statement(sql).get(...values) as Row | undefined,
    all: <Row>(sql: string, ...values: unknown[]) => statement(sql).all(...values) as Row[],
  };
}

const MOST_ABSENT = 1_000;

/** Remembers a transaction's absence until others change the file. */
function rememberAbsences(changes: Pick<Changes, 'seenWithin'>, read: (signature: string) => LandedTransaction | null) {
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
  const { address, lamports, owner, data, executable } = account;
  const token = tokenAccountOf(account);
  const columns = [address, String(lamports), owner, Buffer.from(data), executable ? 1 : 0, slot];
  return [...columns, token?.mint ?? null, token?.owner ?? null];
}

const accountFrom = (row: AccountRow): StoredAccount => ({
  address: row.address as Address,
  lamports: BigInt(row.lamports),
  owner: row.owner as Address,
  data: new Uint8Array(row.data),
  executable: row.executable === 1,
  slot: row.slot,
});

/** Caches accounts until others change the file. */
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
    misses: () => misses,
    put,
  };
}

/** A blob of the driver: `get` returns a Buffer, `all` an ArrayBuffer. */
type RowBytes = Uint8Array | ArrayBuffer;

interface TransactionRow {
  seq: number;
  signature: string;
  slot: number;
  block_time: number;
  err: string | null;
  wire: RowBytes;
  /** Empty without a memo; null in rows from before memos were kept. */
  memo: string | null;
  meta: string;
}

interface Queries {
  run(sql: string, ...values: unknown[]): ReturnType<ReturnType<SqliteDatabase['prepare']>['run']>;
  one<Row>(sql: string, ...values: unknown[]): Row | undefined;
  all<Row>(sql: string, ...values: unknown[]): Row[];
}

const LANDING = 't.seq, signature, slot, block_time, err, wire, memo';

const transactionRows = ({ run, one, all }: Queries) => ({
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
  /** Transactions that name an address, newest first. */
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
  /** A page of a slot's transactions, from past `afterSeq`. */
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
