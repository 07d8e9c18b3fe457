import { sql } from 'kysely';
import type { BrowserPurchaseTable, Store } from './tables.ts';

/** Marks an issued card for `endCards` to end. */
export const CARD_ENDS = sql<BrowserPurchaseTable['card']>`case when card = 'issued' then 'ending' else card end`;

/**
 * Calls a purchase off within the transaction that decides so: no later visit pays, and the ended card refuses a late
 * charge.
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
