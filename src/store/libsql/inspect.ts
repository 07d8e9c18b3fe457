import { statSync } from 'node:fs';
import Sqlite from 'libsql';
import type { AppliedStep, AppliedSteps, Migration } from '../base/index.ts';
import { appliedSteps, FORMER_STEPS, STEPS } from '../base/index.ts';
import { isBusy, type SqliteDatabase } from './file.ts';
import { type FileUsers, openForReading, readRows, usersOf } from './read-only.ts';

/** The result of an inspection, which writes nothing. */
export interface FileState extends FileUsers, AppliedSteps {
  readonly kind: 'fine' | 'busy' | 'damaged' | 'unreadable';
  /** The database's own words on why it is damaged or unreadable. */
  readonly said: string | null;
  /** Only the head and steps of a large file were read. */
  readonly isReadInPart: boolean;
}

/** Larger files are read whole on request only. */
const MOST_CHECKED_BYTES = 256 * 1024 * 1024;

/** @param migrations null if it has none @param full reads every page and index, however long it takes */
export function inspectFile(path: string, migrations: readonly Migration[] | null, full: boolean): FileState {
  const { users, writer } = usersOf(path);
  const isReadInPart = !full && statSync(path).size > MOST_CHECKED_BYTES;
  const found = { said: null, applied: [], missing: [], newer: [], users, writer, isReadInPart };
  let database: SqliteDatabase | null = null;
  try {
    database = openForReading(path);
    if (!isReadInPart) {
      const damage = database
        .prepare(full ? 'pragma integrity_check(3)' : 'pragma quick_check(3)')
        .all()
        .map((row) => String(Object.values(row as object)[0]));
      if (damage.join() !== 'ok') return { ...found, kind: 'damaged', said: damage[0] ?? null };
    }
    return { ...found, kind: 'fine', ...stepsOf(database, migrations) };
  } catch (error) {
    const { message, code = '' } = error as Error & { code?: string };
    if (isBusy(error)) return { ...found, kind: 'busy' };
    const isDamaged = /NOTADB|CORRUPT/.test(code) || /not a database|malformed/.test(message);
    return { ...found, kind: isDamaged ? 'damaged' : 'unreadable', said: message };
  } finally {
    database?.close();
  }
}

function stepsOf(database: SqliteDatabase, migrations: readonly Migration[] | null): AppliedSteps {
  if (migrations === null) return { applied: [], missing: [], newer: [] };
  const lists = database
    .prepare(`select name from sqlite_master where name in ('${STEPS}', '${FORMER_STEPS}')`)
    .all()
    .map((row) => (row as { name: string }).name);
  const rows = lists.flatMap((list) =>
    database.prepare(`select name, ${list === STEPS ? 'breaks' : '1 as breaks'} from ${list}`).all(),
  );
  return appliedSteps(rows as AppliedStep[], migrations);
}

export interface TableSize {
  readonly name: string;
  readonly rows: number;
  /** With indexes; null in a large file, as every page would have to be read. */
  readonly bytes: number | null;
}

export function tablesIn(path: string): TableSize[] {
  const bytes = new Map<unknown, number>();
  if (statSync(path).size <= MOST_CHECKED_BYTES) {
    const pages = `select tbl_name as name, sum(pgsize) as bytes from dbstat
      join sqlite_master on sqlite_master.name = dbstat.name group by tbl_name`;
    for (const row of readRows(path, pages)) bytes.set(row.name, Number(row.bytes));
  }
  const names = readRows(path, `select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`);
  const counts = names.map(({ name }) => `select '${name}' as name, count(*) as rows from "${name}"`);
  const rows = counts.length === 0 ? [] : readRows(path, counts.join(' union all '));
  return rows.map((row) => ({ name: String(row.name), rows: Number(row.rows), bytes: bytes.get(row.name) ?? null }));
}

/** Selects the names of all columns, as `table.column`, and of all indexes. */
export const FILE_PARTS = `select m.name || '.' || c.name as name from sqlite_master as m, pragma_table_info(m.name) as c
    where m.type = 'table'
  union all select name from sqlite_master where type = 'index' and name not like 'sqlite_%'`;

/** Lists the parts that all migrations make, by running them in memory. */
export function partsMadeBy(migrations: readonly Migration[]): string[] {
  const model: SqliteDatabase = new Sqlite(':memory:');
  try {
    for (const { statements } of migrations) for (const statement of statements) model.exec(statement);
    return model
      .prepare(FILE_PARTS)
      .all()
      .map((row) => (row as { name: string }).name);
  } finally {
    model.close();
  }
}
