import { existsSync } from 'node:fs';
import type { Address } from '@solana/kit';
import type { Clock } from '../../kernel/clock.ts';
import { openForReading } from '../../store/libsql/index.ts';
import { tokenBalanceIn } from '../token.ts';
import { type LedgerTime, ledgerIdOf, openSlotClock, watchChanges } from './slot-clock.ts';

/** A ledger file, opened for reading only. */
export interface LedgerReading {
  readonly time: LedgerTime;
  readonly genesisMs: number;
  readonly id: string;
  landed(signature: string): boolean;
  readonly transactions: number;
  /** null: no such account. */
  lamports(address: string): bigint | null;
  /** Atomic units; null: no such token account. */
  tokens(tokenAccount: string): bigint | null;
}

/** Reads the ledger at `path`; null where there is none yet. @throws SQLite's own error for a bad file */
export function readLedger<T>(path: string, clock: Clock, read: (ledger: LedgerReading) => T): T | null {
  if (!existsSync(path)) return null;
  const database = openForReading(path);
  try {
    const tables = database.prepare(`select 1 from sqlite_master where name = 'ledger'`).all();
    if (tables.length === 0) return null;
    const row = database.prepare('select genesis_ms, seed from ledger').get() as
      | { genesis_ms: number; seed: Uint8Array }
      | undefined;
    if (!row) return null;
    const account = (address: string) =>
      database.prepare('select lamports, owner, data from accounts where address = ?').get(address) as
        | { lamports: string; owner: Address; data: Uint8Array }
        | undefined;
    const counted = database.prepare('select coalesce(max(seq), 0) as n from transactions').get() as { n: number };
    return read({
      time: openSlotClock({ database, changes: watchChanges(database) }, row.seed, clock).peek(),
      genesisMs: row.genesis_ms,
      transactions: counted.n,
      id: ledgerIdOf(row.seed),
      landed: (signature) =>
        database.prepare('select 1 from transactions where signature = ?').get(signature) !== undefined,
      lamports: (address) => {
        const found = account(address);
        return found === undefined ? null : BigInt(found.lamports);
      },
      tokens: (address) => tokenBalanceIn(account(address)),
    });
  } finally {
    database.close();
  }
}
