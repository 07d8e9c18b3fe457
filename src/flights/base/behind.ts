import { type QueryExecutorProvider, sql } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import { readMark } from '../../store/index.ts';

/** The mark of a database that was put back, and why an intent of it waits for a person. */
export const DATABASE_BEHIND = 'database_behind';

/** `restored`: by `db restore`. `chain`: the chain shows acts of ours without rows. `by_hand`: an operator said so. */
export type Why = 'restored' | 'chain' | 'by_hand';

export interface Behind {
  readonly why: Why;
  readonly at_ms: number;
  /** The moment from which the database may lack rows. */
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

/** Rows are written before their acts; what was sent a moment before a backup may have landed after it. */
export const SLACK_MS = 30 * 60_000;

/** The newest moment that the database knows of, less the slack. */
export async function knownUntilMs(on: QueryExecutorProvider): Promise<number> {
  const { rows } = await sql<{ at: number | string | null }>`select max(at) as at from (
    select max(created_at_ms) as at from effects union all select max(created_at_ms) from settlements
    union all select max(created_at_ms) from intents) as newest`.execute(on);
  return Math.max(0, Number(rows[0]?.at ?? 0) - SLACK_MS);
}

const LOOK_EVERY_MS = 1_000;

export type BehindWatch = ReturnType<typeof watchBehind>;

/** Reads the mark at most once a second; `again` makes the next question read it. */
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
