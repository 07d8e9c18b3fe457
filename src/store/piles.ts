import { type QueryExecutorProvider, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { QueueTerms } from './queue.ts';

/** Unfinished rows of one kind, which are counted through their partial index. */
export interface Pile {
  readonly kind: string;
  readonly table: string;
  readonly open: RawBuilder<SqlBool>;
  /** The indexed column. */
  readonly by: string;
  /** The column with the time that a row began or was due (epoch ms). */
  readonly since: string;
  /** Counts each `state` by itself. */
  readonly isByState?: boolean;
}

export interface Counted {
  readonly kind: string;
  readonly state: string;
  readonly count: number;
  readonly oldestMs: number;
}

/** Where counting stops: more rows count as this many. */
export const MOST_COUNTED = 1_000;

export const pileOf = (kind: string, { table, due, open }: Pick<QueueTerms, 'table' | 'due' | 'open'>): Pile => ({
  ...{ kind, table, open, by: due, since: due },
});

/** Counts all piles with one statement; empty ones are left out. */
export async function countPiles(store: QueryExecutorProvider, piles: readonly Pile[]): Promise<readonly Counted[]> {
  const parts = piles.map(({ kind, table, open, by, since, isByState }) => {
    const state = isByState ? sql.ref('state') : sql`''`;
    return sql`select ${sql.lit(kind)} as kind, state, count(*) as n, min(since) as since from
      (select ${state} as state, ${sql.ref(since)} as since from ${sql.table(table)}
        where ${open} and ${sql.ref(by)} > 0 order by ${sql.ref(by)} limit ${sql.lit(MOST_COUNTED)}) as ${sql.ref(kind)}
      group by state`;
  });
  const { rows } = await sql<{
    kind: string;
    state: string;
    n: number | string;
    since: number | string;
  }>`${sql.join(parts, sql` union all `)}`.execute(store);
  return rows.map(({ kind, state, n, since }) => ({ kind, state, count: Number(n), oldestMs: Number(since) }));
}
