import { statSync } from 'node:fs';
import Sqlite from 'libsql';
import { onFile, removeQuietly } from '../../kernel/storage.ts';
import { isBusy, type SqliteDatabase } from './file.ts';

/**
 * Locks a path for one holder at a time, by a transaction in an empty file beside it: the system ends it with its
 * process, however that dies. @returns a function that releases it; null while another holds it
 * @throws Problem of storage
 */
export function lockBeside(path: string): (() => void) | null {
  const file = `${path}.locked`;
  const seen = identityOf(file);
  const database: SqliteDatabase = onFile(file, () => new Sqlite(file, { timeout: 0 }));
  try {
    // A journal on the disk would be a second file that a kill leaves.
    onFile(file, () => database.exec('pragma journal_mode = memory; begin exclusive'));
  } catch (error) {
    database.close();
    if (isBusy(error)) return null;
    throw error;
  }
  // A lock of a removed file locks nothing: its holder may have removed it before it was opened or locked here.
  if (seen !== null && seen === identityOf(file)) {
    return () => {
      removeQuietly(file);
      database.close();
    };
  }
  database.close();
  return lockBeside(path);
}

/** The number of an inode is used again, but at another time. */
function identityOf(file: string): string | null {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found ? `${found.ino} ${found.ctimeNs}` : null;
}
