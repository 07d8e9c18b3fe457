import type { Tx } from './tables.ts';

/** A customer becomes one that the partner may see; again is nothing new. */
export async function linkCustomer(tx: Tx, customerId: string, partnerId: string, nowMs: number): Promise<void> {
  await tx
    .insertInto('customer_partners')
    .values({ customer_id: customerId, partner_id: partnerId, created_at_ms: nowMs })
    .onConflict((conflict) => conflict.columns(['customer_id', 'partner_id']).doNothing())
    .execute();
}
