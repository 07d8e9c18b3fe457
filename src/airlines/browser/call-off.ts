import { sql } from 'kysely';
import type { BrowserPurchaseTable, Store } from './tables.ts';

/** What a decision against a purchase writes of its card. */
export const CARD_ENDS = sql<BrowserPurchaseTable['card']>`case when card = 'issued' then 'ending' else card end`;

/**
 * Part of the transaction that decides that nothing was bought: no visit pays after it, and an issued card is ended, so
 * that a late charge fails.
 */
export async function callOff(tx: Pick<Store, 'updateTable'>, reference: string, nowMs: number): Promise<void> {
  await tx
    .updateTable('browser_purchases')
    .set({
      state: sql<BrowserPurchaseTable['state']>`case when state = 'begun' then 'ended' else state end`,
      card: CARD_ENDS,
      card_due_at_ms: nowMs,
      updated_at_ms: nowMs,
    })
    .where('reference', '=', reference)
    .execute();
}
