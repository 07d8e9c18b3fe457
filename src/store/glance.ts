import { join } from 'node:path';
import { readRows } from './libsql/index.ts';

/** An id, and what it is about in a few words without anything personal. */
export interface Glanced {
  readonly id: string;
  readonly words: string;
}

export const MOST_GLANCED = 50;

/**
 * A glance into a home's own `service.db`: nothing is opened for writing or begun. Empty without one.
 * @param sql selects `id`, and of what it is about `a` and `b`
 */
export const glance = (home: string, sql: string): Glanced[] =>
  readRows(join(home, 'service.db'), `${sql} limit ${MOST_GLANCED}`).map((row) => ({
    id: String(row.id),
    words: [row.a, row.b]
      .filter((one) => one !== null && one !== undefined && one !== '')
      .map(String)
      .join(', '),
  }));
