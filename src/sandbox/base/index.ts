import type { Call, Route, RouteTable } from '../../http/index.ts';
import { openSqlite } from '../../store/libsql/index.ts';

type Value = string | number | null;

/** Opens books in a file that processes share. Column `due_at_ms` becomes field `dueAtMs`. */
export function openBook(path: string, tables: string) {
  const database = openSqlite(path);
  database.exec(tables);
  /** Reads all rows: `returning` writes only then. */
  const rows = <T>(statement: string, ...values: readonly Value[]): T[] =>
    (database.prepare(statement).all(...values) as Record<string, Value>[]).map(
      (row) => Object.fromEntries(Object.entries(row).map(([column, value]) => [fieldOf(column), value])) as T,
    );
  return {
    rows,
    run: (statement: string, ...values: readonly Value[]): void => {
      database.prepare(statement).run(...values);
    },
    /** Returns the written row; undefined if `conflict` prevented it. */
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

/** A double may answer with any status. */
const ANSWERS = Object.fromEntries(
  [200, 201, 202, 204, 307, 400, 401, 403, 404, 405, 413, 415, 422, 429, 444, 500, 502, 503, 504].map((status) => [
    status,
    { description: 'As the original, or as the switches say.' },
  ]),
);

/** Takes calls by method and path: `GET /air/orders/{id}`. */
export const tableOf = <C>(calls: Readonly<Record<string, (call: Call<C>) => Promise<object>>>): RouteTable<C> => ({
  unknown: 'not_found',
  routes: Object.entries(calls).map(([place, run]) => {
    const [method, path = ''] = place.split(' ');
    return {
      method: method as Route<C>['method'],
      path,
      id: place,
      summary: place,
      answers: ANSWERS,
      codes: ['payload_too_large', 'body_incomplete', 'unsupported_media_type'],
      run,
    };
  }),
});
