import type { Clock } from '../../kernel/clock.ts';
import { inTurn } from '../../store/base/index.ts';
import { findRow, type Store } from '../base/index.ts';

export const breakerOptions = {
  /** Failed calls in a row that open the breaker. */
  failures: 5,
  /** How long it is open at first; each failed probe doubles it. */
  openMs: 15_000,
  mostOpenMs: 5 * 60_000,
  /** How long a probe keeps others out: longer than a call takes. */
  probeMs: 15_000,
};

export type Breaker = ReturnType<typeof createBreaker>;

/** Totals are halved here, so that recent calls weigh more. */
const MOST_CALLS_COUNTED = 1000;

/** Keeps a breaker per partner in the database: all processes stop calling a dead platform; one at a time probes it. */
export function createBreaker({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
  const { failures: mostFailures, openMs, mostOpenMs, probeMs } = breakerOptions;
  const openForMs = (failures: number) => Math.min(mostOpenMs, openMs * 2 ** Math.min(20, failures - mostFailures));

  return {
    /** Lets a call through, or says when to ask again. While the breaker is half open, one caller gets through. */
    async admit(partnerId: string): Promise<{ open: false } | { open: true; retryAfterMs: number }> {
      const row = await findRow(store, 'partner_breakers', { partner_id: partnerId });
      if (!row || row.failures < mostFailures) return { open: false };
      const nowMs = clock.now();
      const restMs = row.open_until_ms - nowMs;
      // A rest longer than any opening is ignored: the clock was set back.
      if (restMs > 0 && restMs <= mostOpenMs) return { open: true, retryAfterMs: restMs };
      const claimed = await store
        .updateTable('partner_breakers')
        .set({ probe_until_ms: nowMs + probeMs })
        .where('partner_id', '=', partnerId)
        .where((is) => is.or([is('probe_until_ms', '<=', nowMs), is('probe_until_ms', '>', nowMs + probeMs)]))
        .executeTakeFirst();
      return claimed.numUpdatedRows > 0n ? { open: false } : { open: true, retryAfterMs: 1_000 };
    },

    /** Records the result of an admitted call. An answer that refuses an order is a success: the partner is there. */
    async record(partnerId: string, succeeded: boolean): Promise<void> {
      const nowMs = clock.now();
      await inTurn(store, [`partner_breakers:${partnerId}`], async (tx) => {
        await tx
          .insertInto('partner_breakers')
          .values({ partner_id: partnerId, failures: 0, open_until_ms: 0, updated_at_ms: nowMs })
          .onConflict((conflict) => conflict.column('partner_id').doNothing())
          .execute();
        // Counts first: on PostgreSQL this locks the row against other processes until the commit.
        const row = await tx
          .updateTable('partner_breakers')
          .set((row) => ({
            failures: succeeded ? 0 : row('failures', '+', 1),
            calls: row('calls', '+', 1),
            answered: row('answered', '+', succeeded ? 1 : 0),
            updated_at_ms: nowMs,
            probe_until_ms: 0,
            open_until_ms: 0,
          }))
          .where('partner_id', '=', partnerId)
          .returning(['failures', 'calls', 'answered'])
          .executeTakeFirstOrThrow();
        const opens = row.failures >= mostFailures;
        const full = row.calls > MOST_CALLS_COUNTED;
        if (!opens && !full) return;
        await tx
          .updateTable('partner_breakers')
          .set({
            ...(opens && { open_until_ms: nowMs + openForMs(row.failures) }),
            ...(full && { calls: Math.floor(row.calls / 2), answered: Math.floor(row.answered / 2) }),
          })
          .where('partner_id', '=', partnerId)
          .execute();
      });
    },

    /** The share of answered calls by partner: between 0 and 1, and near 0.5 while there are few calls. */
    async reliability(): Promise<ReadonlyMap<string, number>> {
      const rows = await store.selectFrom('partner_breakers').select(['partner_id', 'calls', 'answered']).execute();
      return new Map(rows.map((row) => [row.partner_id, (row.answered + 1) / (row.calls + 2)]));
    },
  };
}
