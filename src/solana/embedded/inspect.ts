import { existsSync } from 'node:fs';
import type { Address } from '@solana/kit';
import type { Clock } from '../../kernel/clock.ts';
import { openForReading, type SqliteDatabase } from '../../store/libsql/index.ts';
import { tokenBalanceIn } from '../token.ts';
import { ledgerIdOf, openSlotClock, watchChanges } from './slot-clock.ts';

/** A ledger file, opened for reading only. */
export type LedgerReading = ReturnType<typeof readingOf>;

/** Reads the ledger at `path`; null where there is none yet. @throws SQLite's own error for a bad file */
export function readLedger<T>(path: string, clock: Clock, read: (ledger: LedgerReading) => T): T | null {
  if (!existsSync(path)) return null;
  const database = openForReading(path);
  try {
    const tables = database.prepare(`select 1 from sqlite_master where name = 'ledger'`).all();
    const row =
      tables.length > 0 && (database.prepare('select genesis_ms, seed from ledger').get() as LedgerRow | undefined);
    return row ? read(readingOf(database, row, clock)) : null;
  } finally {
    database.close();
  }
}

interface LedgerRow {
  readonly genesis_ms: number;
  readonly seed: Uint8Array;
}

function readingOf(database: SqliteDatabase, { genesis_ms, seed }: LedgerRow, clock: Clock) {
  const account = (address: string) =>
    database.prepare('select lamports, owner, data from accounts where address = ?').get(address) as
      | { lamports: string; owner: Address; data: Uint8Array }
      | undefined;
  const counted = database.prepare('select coalesce(max(seq), 0) as n from transactions').get() as { n: number };
  return {
    time: openSlotClock({ database, changes: watchChanges(database) }, seed, clock).peek(),
    genesisMs: genesis_ms,
    transactions: counted.n,
    id: ledgerIdOf(seed),
    landed: (signature: string): boolean =>
      database.prepare('select 1 from transactions where signature = ?').get(signature) !== undefined,
    /** Null without an account. */
    lamports(address: string): bigint | null {
      const found = account(address);
      return found === undefined ? null : BigInt(found.lamports);
    },
    /** Atomic units; null without a token account. */
    tokens: (address: string): bigint | null => tokenBalanceIn(account(address)),
  };
}
