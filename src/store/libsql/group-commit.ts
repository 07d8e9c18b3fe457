import { REGAINED } from '../base/index.ts';
import type { SqliteDatabase } from './file.ts';
import type { JournalDisk } from './journal-disk.ts';

/**
 * Turns at one connection, in the order in which they were asked for.
 *
 * A statement runs on the thread that everything runs on, and awaiting it gives nobody else a turn. So whoever takes
 * the connection once a slice of time is used up lets sockets and timers come first: a sweep of many rows stops no
 * request.
 */
export interface Turns {
  /** @returns passes the turn on; further calls do nothing */
  take(): Promise<() => void>;
}

const SLICE_MS = 8;

export function createTurns(): Turns {
  let last: Promise<void> = Promise.resolve();
  const breathe = slices();
  return {
    async take() {
      const before = last;
      let pass: () => void = () => undefined;
      last = new Promise((resolve) => {
        pass = resolve;
      });
      await before;
      await breathe();
      return pass;
    },
  };
}

/** @returns what is called between two pieces of work: it comes back at once, or in the next turn of the event loop */
function slices(): () => Promise<void> | undefined {
  let beganMs: number | null = null;
  const nextTurn = () => {
    beganMs = null;
  };
  return () => {
    const nowMs = performance.now();
    if (beganMs === null) {
      beganMs = nowMs;
      setImmediate(nextTurn);
    } else if (nowMs - beganMs > SLICE_MS) {
      return new Promise((resolve) => setImmediate(resolve));
    }
    return undefined;
  };
}

/** A statement that was prepared, and what its text says about it. */
interface KeptStatement {
  readonly run: (parameters: readonly unknown[]) => Ran;
  /** It changes nothing. */
  readonly isRead: boolean;
  /** A power failure may take what it wrote (`REGAINED`). */
  readonly isRegained: boolean;
}

export interface Ran {
  readonly rows: unknown[];
  /** null for a statement that gives rows. */
  readonly changes: number | null;
  readonly lastInsertRowid: number | bigint;
}

export interface KeptStatements {
  of(sql: string): KeptStatement;
  /** Forgets a statement that failed: libsql may have left it half-run. */
  drop(sql: string): void;
}

/** More than the services have; lists of values make texts that differ by their lengths. */
const MOST_KEPT = 400;

/** Prepares each statement once, and keeps those that were used last. */
export function keepStatements(database: Pick<SqliteDatabase, 'prepare'>): KeptStatements {
  const kept = new Map<string, KeptStatement>();
  return {
    of(sql) {
      const known = kept.get(sql);
      if (known && kept.size < MOST_KEPT) return known;
      const statement = known ?? prepared(database, sql);
      kept.delete(sql);
      kept.set(sql, statement);
      if (kept.size > MOST_KEPT) for (const oldest of [...kept.keys()].slice(0, MOST_KEPT / 4)) kept.delete(oldest);
      return statement;
    },
    drop: (sql) => void kept.delete(sql),
  };
}

function prepared(database: Pick<SqliteDatabase, 'prepare'>, sql: string): KeptStatement {
  const statement = database.prepare(sql);
  const { reader } = statement;
  return {
    isRead: /^\s*(?:select|pragma|explain)\b/i.test(sql),
    isRegained: sql.endsWith(REGAINED),
    run(parameters) {
      if (reader) return { rows: statement.all(...parameters), changes: null, lastInsertRowid: 0 };
      return { rows: [], ...statement.run(...parameters) };
    },
  };
}

/**
 * Commits what several callers write at the same moment together: they wait for the disk once.
 *
 * A statement on its own waits for the end of this turn of the event loop, and is carried out with the others that came
 * by then. A transaction runs at once, as a savepoint of the one that is open where there is one. Nobody is told of
 * anything before it is on the disk; a commit that fails fails all who were in it. What one of them undoes undoes
 * nothing of the others. Who only reads waits until nothing uncommitted is to be seen.
 */
export interface GroupCommit {
  /** Carries out a statement that is no part of a transaction. */
  write(statement: KeptStatement, parameters: readonly unknown[]): Promise<Ran>;
  /** The commit that readers have to wait for; null when there is none. */
  underWay(): Promise<void> | null;
  /** Begins a transaction, for whoever has the turn. */
  begin(): Promise<Member>;
}

/** A transaction of one caller. */
export interface Member {
  /** Carries out a statement of it. */
  run(statement: KeptStatement, parameters: readonly unknown[]): Ran;
  /** Ends it, and passes the turn. Comes back when it is committed, and on the disk. */
  commit(pass: () => void): Promise<void>;
  rollBack(): Promise<void>;
  /** An error of a statement of it: it may have cost everybody everything. */
  failed(error: unknown): void;
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

/** Transactions that are committed together. */
interface Group {
  readonly ended: Promise<void>;
  end(): void;
  /** Those that have come to their ends. */
  readonly done: Told[];
  /** Something was written that has to reach the disk. */
  isDirty: boolean;
}

interface Ports {
  readonly database: Pick<SqliteDatabase, 'exec' | 'inTransaction'>;
  readonly disk: Pick<JournalDisk, 'sync' | 'ofWhatWasRead'>;
  readonly turns: Turns;
  /** Tries again for as long as another process writes. */
  readonly patiently: <T>(work: () => T) => Promise<T>;
}

/** What waits for the next commit. */
interface Desk extends Ports {
  waiting: Waiting[];
  open: Group | null;
  isPlanned: boolean;
}

export function createGroupCommit(ports: Ports): GroupCommit {
  const desk: Desk = { ...ports, waiting: [], open: null, isPlanned: false };
  return {
    write: (statement, parameters) =>
      new Promise((resolve, reject) => {
        desk.waiting.push({ statement, parameters, resolve, reject });
        plan(desk);
      }),
    underWay: () => desk.open?.ended ?? null,
    async begin() {
      if (desk.open) {
        desk.database.exec('savepoint member');
        return memberOf(desk, desk.open, false);
      }
      await undo(desk);
      await desk.patiently(() => void desk.database.exec('begin immediate'));
      desk.open = newGroup();
      return memberOf(desk, desk.open, true);
    },
  };
}

function memberOf(desk: Desk, group: Group, isFirst: boolean): Member {
  const { database } = desk;
  return {
    run(statement, parameters) {
      const ran = statement.run(parameters);
      group.isDirty ||= mustLast(statement, ran);
      return ran;
    },
    async commit(pass) {
      if (desk.open !== group) throw new Error('the transaction was rolled back');
      if (!isFirst) database.exec('release member');
      const committed = new Promise<void>((resolve, reject) => group.done.push({ resolve, reject }));
      plan(desk);
      pass();
      await committed;
    },
    async rollBack() {
      if (!database.inTransaction || desk.open !== group) return;
      if (!isFirst) return void database.exec('rollback to member; release member');
      await undo(desk);
      end(desk, group);
    },
    failed(error) {
      // After a full disk or an I/O error SQLite has rolled back by itself, whoever it was of.
      if (desk.open !== group || database.inTransaction) return;
      end(desk, group);
      for (const { reject } of group.done) reject(error);
    },
  };
}

/** Commits at the end of this turn of the event loop. */
function plan(desk: Desk): void {
  if (desk.isPlanned) return;
  desk.isPlanned = true;
  setImmediate(() => {
    desk.isPlanned = false;
    void carryOut(desk);
  });
}

async function carryOut(desk: Desk): Promise<void> {
  const pass = await desk.turns.take();
  try {
    const due = desk.waiting;
    desk.waiting = [];
    const [first] = due;
    if (!desk.open && first && due.length === 1) await alone(desk, first);
    else if (desk.open || first) await together(desk, due);
  } finally {
    pass();
  }
}

/** One statement is a transaction by itself. */
async function alone(desk: Desk, { statement, parameters, resolve, reject }: Waiting): Promise<void> {
  try {
    const ran = await desk.patiently(() => statement.run(parameters));
    if (mustLast(statement, ran)) desk.disk.sync().then(() => resolve(ran), reject);
    else resolve(ran);
  } catch (error) {
    reject(error);
  }
}

/** Several, and the transactions that are open. */
async function together(desk: Desk, due: readonly Waiting[]): Promise<void> {
  const { database, patiently, disk, open: group } = desk;
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
    // The first error is the one that says why.
    await undo(desk).catch(() => undefined);
    if (group) end(desk, group);
    for (const { reject } of [...told, ...due]) reject(error);
    return;
  }
  if (group) end(desk, group);
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

async function undo({ database, patiently }: Desk): Promise<void> {
  if (database.inTransaction) await patiently(() => void database.exec('rollback'));
}

function end(desk: Desk, group: Group): void {
  desk.open = null;
  group.end();
}

/** It changed something, and a failure of the power must not take it. */
const mustLast = ({ isRead, isRegained }: KeptStatement, { rows, changes }: Ran): boolean =>
  !isRead && !isRegained && (changes === null ? rows.length > 0 : changes > 0);

function newGroup(): Group {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { ended, end: () => end(), done: [], isDirty: false };
}
