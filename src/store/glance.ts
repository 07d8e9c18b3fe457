import { join } from 'node:path';
import { readRows } from './libsql/index.ts';

/** An id with a few impersonal words. */
export interface Glanced {
  readonly id: string;
  readonly words: string;
}

export const MOST_GLANCED = 50;

/** Reads a home's `service.db`, if any, without writing. `sql` selects `id` and the words `a` and `b`. */
export const glance = (home: string, sql: string): Glanced[] =>
  readRows(join(home, 'service.db'), `${sql} limit ${MOST_GLANCED}`).map((row) => ({
    id: String(row.id),
    words: [row.a, row.b]
      .filter((one) => one !== null && one !== undefined && one !== '')
      .map(String)
      .join(', '),
  }));
