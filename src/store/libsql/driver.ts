import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import { BUSY_TIMEOUT_MS, type FileOptions, isBusy, type SqliteDatabase, troubleWith } from './file.ts';
import {
  createGroupCommit,
  createTurns,
  type GroupCommit,
  type KeptStatements,
  keepStatements,
  type Member,
  type Ran,
  type Turns,
} from './group-commit.ts';
import { type JournalDisk, journalDisk } from './journal-disk.ts';

/** The one connection of a file. */
interface Line {
  readonly turns: Turns;
  readonly statements: KeptStatements;
  readonly commits: GroupCommit;
  readonly disk: JournalDisk;
  readonly patiently: <T>(work: () => T) => Promise<T>;
}

/**
 * Kysely's driver over one libsql connection, which its users take in turns.
 *
 * A transaction takes the write lock when it begins: read-then-write is then free of races and of deadlock. Who finds
 * the lock taken waits without holding the thread, since the holder may be another connection of this very process.
 * The same statement is tried again rather than a new one: libsql leaves a statement that found the database busy
 * half-run, and a half-run statement pins an old snapshot of the whole connection.
 */
export function libsqlDriver(
  database: SqliteDatabase,
  path: string,
  telling: Pick<FileOptions, 'onTrouble'> = {},
): Driver {
  const patiently = async <T>(work: () => T): Promise<T> => {
    const untilMs = performance.now() + BUSY_TIMEOUT_MS;
    while (true) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error)) throw error;
        if (performance.now() >= untilMs) throw troubleWith(path, error, telling);
        await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 8));
      }
    }
  };
  // Who has to wait for the disk does so beside this thread (journal-disk.ts).
  database.exec('pragma synchronous = normal');
  const disk = journalDisk(database, path, (error) => troubleWith(path, error, telling));
  const turns = createTurns();
  const commits = createGroupCommit({ database, disk, turns, patiently });
  const line: Line = { turns, statements: keepStatements(database), commits, disk, patiently };
  return {
    init: async () => undefined,
    acquireConnection: async () => new Caller(line, await turns.take()),
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

/** One caller at the connection, from acquiring it to releasing it. */
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
    const { statements, commits, disk, patiently } = this.line;
    try {
      await this.takeTurn();
      // To read a statement SQLite reads the schema, which may be locked too.
      const statement = await patiently(() => statements.of(sql));
      const { member } = this;
      if (member) return await patiently(() => member.run(statement, parameters));
      if (statement.isRead) {
        await this.untilCommitted();
        const ran = await patiently(() => statement.run(parameters));
        // Nobody is shown what a failure of the power could still take.
        const onDisk = disk.ofWhatWasRead();
        this.release();
        await onDisk;
        return ran;
      }
      const written = commits.write(statement, parameters);
      this.release();
      return await written;
    } catch (error) {
      statements.drop(sql);
      this.member?.failed(error);
      throw error;
    }
  }

  private async takeTurn(): Promise<void> {
    this.turn ??= await this.line.turns.take();
  }

  /** Nobody acts on what may still be undone. */
  private async untilCommitted(): Promise<void> {
    const { commits } = this.line;
    for (let underWay = commits.underWay(); underWay !== null; underWay = commits.underWay()) {
      this.release();
      await underWay;
      await this.takeTurn();
    }
  }

  async begin(): Promise<void> {
    await this.takeTurn();
    this.member = await this.line.commits.begin();
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
