import { existsSync } from 'node:fs';
import Sqlite from 'libsql';

/**
 * Rows of a libsql file as it is: no migration, nothing written, no file made. Empty where there is no file.
 * @param sql portable SQL, without parameters
 */
export function readRows(path: string, sql: string): Record<string, unknown>[] {
  if (!existsSync(path)) return [];
  const database = new Sqlite(path, { readonly: true, timeout: 200 });
  try {
    return database.prepare(sql).all() as Record<string, unknown>[];
  } finally {
    database.close();
  }
}
