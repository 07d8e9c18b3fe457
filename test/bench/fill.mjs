// node test/bench/fill.mjs <home> [rows] [days]: the traces of much use in a home, to see what a statement costs then.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'libsql';

/** A file of statements, with its values in their places. */
const statementsOf = (file, values) =>
  Object.entries(values).reduce(
    (text, [name, value]) => text.replaceAll(`:${name}`, String(value)),
    readFileSync(join(import.meta.dirname, file), 'utf8').replace(/^--.*$/gm, ''),
  );

/** What the services' database holds after so many rows of each kind, of the last `days` before `nowMs`. */
export const serviceStatements = ({ rows, days = 20, nowMs = Date.now() }) =>
  statementsOf('fill.sql', { rows, days, now: nowMs });

/** One statement at a time: what is not committed yet is kept in memory. */
function run(path, text) {
  const database = new Sqlite(path, { timeout: 15_000 });
  database.exec('pragma synchronous = off; pragma cache_size = -500000');
  for (const statement of text.split(/;\s*$/m)) if (statement.trim()) database.exec(statement);
  database.prepare('pragma wal_checkpoint(truncate)').all();
  database.close();
}

export const fillServices = (path, given) => run(path, serviceStatements(given));

/** The tool's own journal, and the history of its wallet on the embedded cluster. */
export function fillTool(home, { rows, nowMs = Date.now(), wallet, usdcAccount }) {
  run(join(home, 'client.db'), statementsOf('fill-client.sql', { rows, now: nowMs, wallet }));
  run(join(home, 'ledger.db'), statementsOf('fill-ledger.sql', { rows, now: nowMs, account: usdcAccount }));
}

if (process.argv[1] === import.meta.filename) {
  const [home = '', rows = '100000', days = '20'] = process.argv.slice(2);
  const path = join(home, 'service.db');
  if (!existsSync(path)) throw new Error('node test/bench/fill.mjs <home> [rows] [days]');
  fillServices(path, { rows: Number(rows), days: Number(days) });
}
