// node test/bench/fill.mjs <service.db> [rows]: the traces of much use, to see what a statement costs then.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'libsql';

/** The statements, for this many rows of each kind before `nowMs`. */
export const fillStatements = (rows, nowMs) =>
  readFileSync(join(import.meta.dirname, 'fill.sql'), 'utf8')
    .replace(/^--.*$/gm, '')
    .replaceAll(':rows', String(rows))
    .replaceAll(':now', String(nowMs));

export function fill(path, rows, nowMs = Date.now()) {
  const database = new Sqlite(path, { timeout: 15_000 });
  database.exec(`begin immediate; ${fillStatements(rows, nowMs)} commit;`);
  database.prepare('pragma wal_checkpoint(truncate)').all();
  database.close();
}

if (process.argv[1] === import.meta.filename) {
  const [path, rows = '100000'] = process.argv.slice(2);
  if (!path) throw new Error('node test/bench/fill.mjs <service.db> [rows]');
  fill(path, Number(rows));
}
