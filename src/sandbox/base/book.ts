import { openSqlite } from '../../store/libsql/index.ts';

export type Value = string | number | null;

/**
 * Opens a double's own book: rows in a file that several processes share. A column `due_at_ms` of the file is the field
 * `dueAtMs` of a row.
 */
export function openBook(path: string, tables: string) {
  const database = openSqlite(path);
  database.exec(tables);
  /** Runs a statement and reads every row of its answer: only then has one with `returning` written. */
  const rows = <T>(statement: string, ...values: readonly Value[]): T[] =>
    (database.prepare(statement).all(...values) as Record<string, Value>[]).map(
      (row) => Object.fromEntries(Object.entries(row).map(([column, value]) => [fieldOf(column), value])) as T,
    );
  return {
    rows,
    run: (statement: string, ...values: readonly Value[]): void => {
      database.prepare(statement).run(...values);
    },
    /** Inserts a row, and answers with it as it was written; undefined where `conflict` kept it out. */
    insert<T extends object>(table: string, row: Partial<T>, conflict = ''): T | undefined {
      const columns = Object.keys(row).map(columnOf);
      const places = columns.map(() => '?');
      const statement = `insert into ${table} (${columns.join(', ')}) values (${places.join(', ')}) ${conflict} returning *`;
      return rows<T>(statement, ...(Object.values(row) as Value[]))[0];
    },
    close: () => database.close(),
  };
}

export type Book = ReturnType<typeof openBook>;

const fieldOf = (column: string): string => column.replaceAll(/_[a-z]/g, ([, letter = '']) => letter.toUpperCase());
const columnOf = (field: string): string => field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
