import type { SqliteDatabase } from '../../store/libsql/index.ts';

/** Tells whether rows that were read of a file are still what it holds. */
export interface Changes {
  /** Counts what others have changed, and what was rolled back here: what was read at the same count is still right. */
  seen(): number;
  /** The same inside `within`, where it costs nothing; null outside. */
  seenWithin(): number | null;
  /** Looks once, and runs `work` at that count: inside a transaction nothing of others is seen before its end. */
  within<T>(work: () => T): T;
  rolledBack(): void;
}

export function watchChanges(database: Pick<SqliteDatabase, 'prepare'>): Changes {
  // Differs from the last one when another connection, of whatever process, has committed in between.
  const asked = database.prepare('pragma data_version');
  let count = 0;
  let version: number | null = null;
  let isWithin = false;
  const look = () => {
    const { data_version } = asked.get() as { data_version: number };
    if (data_version !== version) count += 1;
    version = data_version;
  };
  return {
    seen() {
      if (!isWithin) look();
      return count;
    },
    seenWithin: () => (isWithin ? count : null),
    within(work) {
      look();
      isWithin = true;
      try {
        return work();
      } finally {
        isWithin = false;
      }
    },
    rolledBack: () => {
      count += 1;
    },
  };
}
