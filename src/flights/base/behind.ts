import { type QueryExecutorProvider, sql } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import { readMark } from '../../store/index.ts';

/** Key of the mark of a restored database, and the refund reason of intents whose booking it lost. */
export const DATABASE_BEHIND = 'database_behind';

/** `restored`: by `db restore`. `chain`: the chain shows acts of ours without rows. `by_hand`: set by an operator. */
export type Why = 'restored' | 'chain' | 'by_hand';

export interface Behind {
  readonly why: Why;
  readonly at_ms: number;
  /** The time from which the database may lack rows. */
  readonly since_ms: number;
}

export const behindMark = (behind: Behind): string => JSON.stringify(behind);

export async function readBehind(on: QueryExecutorProvider): Promise<Behind | null> {
  const text = await readMark(on, DATABASE_BEHIND);
  if (text === null) return null;
  const kept = JSON.parse(text) as Behind | number;
  // A number is the mark of an earlier release.
  return typeof kept === 'number' ? { why: 'chain', at_ms: kept, since_ms: kept } : kept;
}

/** Margin for acts whose rows were written before a backup, and which landed after it. */
export const SLACK_MS = 30 * 60_000;

/** The time of the newest row, less the slack. */
export async function knownUntilMs(on: QueryExecutorProvider): Promise<number> {
  const { rows } = await sql<{ at: number | string | null }>`select max(at) as at from (
    select max(created_at_ms) as at from effects union all select max(created_at_ms) from settlements
    union all select max(created_at_ms) from intents) as newest`.execute(on);
  return Math.max(0, Number(rows[0]?.at ?? 0) - SLACK_MS);
}

const LOOK_EVERY_MS = 1_000;

export type BehindWatch = ReturnType<typeof watchBehind>;

/** Reads the mark at most once a second; `again` makes the next call read it. */
export function watchBehind({ store, clock }: { readonly store: QueryExecutorProvider; readonly clock: Clock }) {
  let [isBehind, lookedAtMs] = [false, Number.NEGATIVE_INFINITY];
  const look = async (): Promise<boolean> => {
    if (Math.abs(clock.now() - lookedAtMs) < LOOK_EVERY_MS) return isBehind;
    isBehind = (await readBehind(store)) !== null;
    lookedAtMs = clock.now();
    return isBehind;
  };
  const again = () => {
    lookedAtMs = Number.NEGATIVE_INFINITY;
  };
  return Object.assign(look, { again });
}
