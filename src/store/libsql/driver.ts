import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import { monotonicMs } from '../../kernel/clock.ts';
import { REGAINED } from '../base/index.ts';
import { BUSY_TIMEOUT_MS, type FileOptions, isBusy, type SqliteDatabase, troubleWith } from './file.ts';
import { type JournalDisk, journalDisk } from './journal-disk.ts';

/** A file's one connection, and the writes waiting for its next commit. */
interface Line {
  readonly database: SqliteDatabase;
  readonly disk: JournalDisk;
  readonly statements: ReturnType<typeof keepStatements>;
  /** Waits for the connection. @returns a function that ends the turn, once */
  readonly takeTurn: () => Promise<() => void>;
  /** Retries while another process writes. */
  readonly patiently: <T>(work: () => T) => Promise<T>;
  waiting: Waiting[];
  open: Group | null;
  isPlanned: boolean;
}

/**
 * Kysely's driver over one shared libsql connection. Transactions take the write lock at their start, which avoids
 * races and deadlocks; waiting for it leaves the thread free, since the holder may be in this process. The same busy
 * statement is retried: libsql leaves it half-run, which would pin an old snapshot.
 */
export function libsqlDriver(
  database: SqliteDatabase,
  path: string,
  telling: Pick<FileOptions, 'onTrouble'> = {},
): Driver {
  const patiently = async <T>(work: () => T): Promise<T> => {
    const untilMs = monotonicMs() + BUSY_TIMEOUT_MS;
    while (true) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error)) throw error;
        if (monotonicMs() >= untilMs) throw troubleWith(path, error, telling);
        await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 8));
      }
    }
  };
  // Commits wait for the disk off this thread (journal-disk.ts).
  database.exec('pragma synchronous = normal');
  const disk = journalDisk(database, path, (error) => troubleWith(path, error, telling));
  const line: Line = {
    ...{ database, disk, patiently, statements: keepStatements(database), takeTurn: createTurns() },
    ...{ waiting: [], open: null, isPlanned: false },
  };
  return {
    init: async () => undefined,
    acquireConnection: async () => new Caller(line, await line.takeTurn()),
    beginTransaction: (connection) => (connection as Caller).begin(),
    commitTransaction: (connection) => (connection as Caller).commit(),
    rollbackTransaction: (connection) => (connection as Caller).rollBack(),
    releaseConnection: async (connection) => (connection as Caller).release(),
    async destroy() {
      await disk.close();
      database.close();
    },
  };
}

/** A caller, from acquiring the connection to releasing it. */
class Caller implements DatabaseConnection {
  private member: Member | null = null;

  constructor(
    private readonly line: Line,
    private turn: (() => void) | null,
  ) {}

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, changes, lastInsertRowid } = await this.carriedOut(sql, parameters);
    if (changes === null) return { rows: rows as R[] };
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  async *streamQuery<R>(query: CompiledQuery) {
    yield await this.executeQuery<R>(query);
  }

  private async carriedOut(sql: string, parameters: readonly unknown[]): Promise<Ran> {
    const { line } = this;
    try {
      await this.takeTurn();
      // Preparing reads the schema, which may be locked too.
      const statement = await line.patiently(() => line.statements.of(sql));
      const { member } = this;
      if (member) return await line.patiently(() => member.run(statement, parameters));
      if (statement.isRead) {
        await this.untilCommitted();
        const ran = await line.patiently(() => statement.run(parameters));
        // Waits until the rows are on disk, so that a power cut cannot take back what was shown.
        const onDisk = line.disk.ofWhatWasRead();
        this.release();
        await onDisk;
        return ran;
      }
      const written = write(line, statement, parameters);
      this.release();
      return await written;
    } catch (error) {
      line.statements.drop(sql);
      this.member?.failed(error);
      throw error;
    }
  }

  private async takeTurn(): Promise<void> {
    this.turn ??= await this.line.takeTurn();
  }

  /** Readers wait for open writes, which may still be undone. */
  private async untilCommitted(): Promise<void> {
    for (let { open } = this.line; open !== null; open = this.line.open) {
      this.release();
      await open.ended;
      await this.takeTurn();
    }
  }

  async begin(): Promise<void> {
    await this.takeTurn();
    this.member = await begin(this.line);
  }

  async commit(): Promise<void> {
    await this.member?.commit(() => this.release());
  }

  async rollBack(): Promise<void> {
    await this.member?.rollBack();
  }

  release(): void {
    this.turn?.();
    this.turn = null;
  }
}

const SLICE_MS = 8;

/** Gives turns in order. After a time slice, sockets and timers come first, so that a sweep stops no request. */
function createTurns(): Line['takeTurn'] {
  let last: Promise<void> = Promise.resolve();
  let beganMs: number | null = null;
  const nextTurn = () => {
    beganMs = null;
  };
  const breathe = (): Promise<void> | undefined => {
    const nowMs = monotonicMs();
    if (beganMs !== null)
      return nowMs - beganMs > SLICE_MS ? new Promise((resolve) => setImmediate(resolve)) : undefined;
    beganMs = nowMs;
    setImmediate(nextTurn);
    return undefined;
  };
  return async () => {
    const before = last;
    const { done, end } = ending();
    last = done;
    await before;
    await breathe();
    return end;
  };
}

function ending() {
  let end: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { done, end };
}

/** More than the services have; lists of values vary the text by length. */
const MOST_KEPT = 400;

/** Prepares each statement once, and keeps the last used ones. */
function keepStatements(database: Pick<SqliteDatabase, 'prepare'>) {
  const kept = new Map<string, KeptStatement>();
  return {
    of(sql: string): KeptStatement {
      const known = kept.get(sql);
      if (known && kept.size < MOST_KEPT) return known;
      const statement = known ?? prepared(database, sql);
      kept.delete(sql);
      kept.set(sql, statement);
      if (kept.size > MOST_KEPT) for (const oldest of [...kept.keys()].slice(0, MOST_KEPT / 4)) kept.delete(oldest);
      return statement;
    },
    /** Drops a failed statement, which libsql may have left half-run. */
    drop: (sql: string) => void kept.delete(sql),
  };
}

type KeptStatement = ReturnType<typeof prepared>;

interface Ran {
  readonly rows: unknown[];
  /** Null if the statement returns rows. */
  readonly changes: number | null;
  readonly lastInsertRowid: number | bigint;
}

function prepared(database: Pick<SqliteDatabase, 'prepare'>, sql: string) {
  const statement = database.prepare(sql);
  const { reader } = statement;
  return {
    isRead: /^\s*(?:select|pragma|explain)\b/i.test(sql),
    isRegained: sql.endsWith(REGAINED),
    run(parameters: readonly unknown[]): Ran {
      if (reader) return { rows: statement.all(...parameters), changes: null, lastInsertRowid: 0 };
      return { rows: [], ...statement.run(...parameters) };
    },
  };
}

interface Told {
  resolve(): void;
  reject(error: unknown): void;
}

interface Waiting {
  readonly statement: KeptStatement;
  readonly parameters: readonly unknown[];
  resolve(ran: Ran): void;
  reject(error: unknown): void;
}

/** Transactions of one commit. */
interface Group {
  readonly ended: Promise<void>;
  end(): void;
  readonly done: Told[];
  /** True once a write has to reach the disk. */
  isDirty: boolean;
}

// Commits writes of one moment together, so that they wait for the disk once. Lone statements wait for the end of this
// turn of the event loop; transactions run at once, as savepoints of an open one. Only `REGAINED` writes are answered
// before they are on disk; a failed commit fails all its writers, and a rollback undoes only its own.

/** Runs a statement outside of a transaction. */
const write = (line: Line, statement: KeptStatement, parameters: readonly unknown[]): Promise<Ran> =>
  new Promise((resolve, reject) => {
    line.waiting.push({ statement, parameters, resolve, reject });
    plan(line);
  });

async function begin(line: Line): Promise<Member> {
  if (line.open) {
    line.database.exec('savepoint member');
    return memberOf(line, line.open, false);
  }
  await undo(line);
  await line.patiently(() => void line.database.exec('begin immediate'));
  const { done: ended, end } = ending();
  line.open = { ended, end, done: [], isDirty: false };
  return memberOf(line, line.open, true);
}

type Member = ReturnType<typeof memberOf>;

function memberOf(line: Line, group: Group, isFirst: boolean) {
  const { database } = line;
  return {
    run(statement: KeptStatement, parameters: readonly unknown[]): Ran {
      const ran = statement.run(parameters);
      group.isDirty ||= mustLast(statement, ran);
      return ran;
    },
    /** Passes the turn on, and waits until the commit is on disk. */
    async commit(pass: () => void): Promise<void> {
      if (line.open !== group) throw new Error('the transaction was rolled back');
      if (!isFirst) database.exec('release member');
      const committed = new Promise<void>((resolve, reject) => group.done.push({ resolve, reject }));
      plan(line);
      pass();
      await committed;
    },
    async rollBack(): Promise<void> {
      if (!database.inTransaction || line.open !== group) return;
      if (!isFirst) return void database.exec('rollback to member; release member');
      await undo(line);
      end(line, group);
    },
    /** SQLite rolls everyone's writes back after a full disk or an I/O error. */
    failed(error: unknown): void {
      if (line.open !== group || database.inTransaction) return;
      end(line, group);
      for (const { reject } of group.done) reject(error);
    },
  };
}

/** Commits at the end of this turn of the event loop. */
function plan(line: Line): void {
  if (line.isPlanned) return;
  line.isPlanned = true;
  setImmediate(() => {
    line.isPlanned = false;
    void carryOut(line);
  });
}

async function carryOut(line: Line): Promise<void> {
  const pass = await line.takeTurn();
  try {
    const due = line.waiting;
    line.waiting = [];
    const [first] = due;
    if (!line.open && first && due.length === 1) await alone(line, first);
    else if (line.open || first) await together(line, due);
  } finally {
    pass();
  }
}

async function alone(line: Line, { statement, parameters, resolve, reject }: Waiting): Promise<void> {
  try {
    const ran = await line.patiently(() => statement.run(parameters));
    if (mustLast(statement, ran)) line.disk.sync().then(() => resolve(ran), reject);
    else resolve(ran);
  } catch (error) {
    reject(error);
  }
}

async function together(line: Line, due: readonly Waiting[]): Promise<void> {
  const { database, patiently, disk, open: group } = line;
  const told: Told[] = [...(group?.done ?? [])];
  let isDirty = group?.isDirty === true;
  try {
    if (!group) await patiently(() => void database.exec('begin immediate'));
    for (const { statement, parameters, resolve, reject } of due) {
      try {
        const ran = statement.run(parameters);
        isDirty ||= mustLast(statement, ran);
        told.push({ resolve: () => resolve(ran), reject });
      } catch (error) {
        if (!database.inTransaction) throw error;
        reject(error);
      }
    }
    await patiently(() => void database.exec('commit'));
  } catch (error) {
    // The first error says why.
    await undo(line).catch(() => undefined);
    if (group) end(line, group);
    for (const { reject } of [...told, ...due]) reject(error);
    return;
  }
  if (group) end(line, group);
  const onDisk = (isDirty ? disk.sync() : disk.ofWhatWasRead()) ?? Promise.resolve();
  onDisk.then(
    () => {
      for (const { resolve } of told) resolve();
    },
    (error) => {
      for (const { reject } of told) reject(error);
    },
  );
}

async function undo({ database, patiently }: Line): Promise<void> {
  if (database.inTransaction) await patiently(() => void database.exec('rollback'));
}

function end(line: Line, group: Group): void {
  line.open = null;
  group.end();
}

/** True for a change that a power cut must not take. */
const mustLast = ({ isRead, isRegained }: KeptStatement, { rows, changes }: Ran): boolean =>
  !isRead && !isRegained && (changes === null ? rows.length > 0 : changes > 0);
