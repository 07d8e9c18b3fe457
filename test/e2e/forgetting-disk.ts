import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import Sqlite from 'libsql';

/** The disk of a home, which forgets what was not synced when its power fails (test/e2e/fault.c). */
export interface ForgettingDisk {
  /** For each process that writes to the home. */
  readonly env: Readonly<Record<string, string>>;
  /** Takes what is in the home now as if it had been there for long. */
  settle(): void;
  /** The power has failed, after the processes died: the home is what was synced. */
  fail(): void;
  /** Rows of a database file as a failure of the power right now would leave them. */
  rows<T>(file: string, sql: string): T[];
  close(): void;
}

export function forgettingDisk(library: string, home: string): ForgettingDisk {
  const folder = mkdtempSync(join(tmpdir(), 'farelock-disk-'));
  const kept = join(folder, 'kept');
  const isIndex = (path: string) => path.endsWith('-shm');
  const copy = (from: string, to: string) => {
    rmSync(to, { recursive: true, force: true });
    cpSync(from, to, { recursive: true, filter: (path) => !isIndex(path) });
  };
  const disk: ForgettingDisk = {
    env: { LD_PRELOAD: library, FAULT_DISK: home, FAULT_KEPT: kept },
    settle: () => copy(home, kept),
    fail: () => {
      for (const name of readdirSync(home)) rmSync(join(home, name), { recursive: true, force: true });
      cpSync(kept, home, { recursive: true, filter: (path) => !/\.part(\d+|\.lock)$/.test(basename(path)) });
    },
    rows<T>(file: string, sql: string): T[] {
      const look = mkdtempSync(join(folder, 'look-'));
      for (const name of [file, `${file}-wal`]) {
        if (existsSync(join(kept, name))) cpSync(join(kept, name), join(look, name));
      }
      const database = new Sqlite(join(look, file));
      try {
        return database.prepare(sql).all() as T[];
      } finally {
        database.close();
        rmSync(look, { recursive: true, force: true });
      }
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
  disk.settle();
  return disk;
}
