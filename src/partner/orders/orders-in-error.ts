import { type SqlBool, sql } from 'kysely';
import { instant } from '../../kernel/clock.ts';
import type { PartnerEnvironment, Store } from '../base/index.ts';

/** An order that the service itself ended in ERROR: its partner said nothing that could be used. */
interface OrderInError {
  readonly order_id: string;
  readonly partner_id: string;
  readonly last_error: string | null;
  readonly attempts: number;
  readonly updated_at: string;
}

const MOST_LISTED = 200;

/** The orders that wait for a person until their partner moves them, oldest first; one of them with an id. */
export async function ordersInError(
  store: Store,
  environment: PartnerEnvironment,
  orderId?: string,
): Promise<OrderInError[]> {
  const rows = await store
    .selectFrom('partner_orders')
    .select(['order_id', 'partner_id', 'last_error', 'attempts', 'updated_at_ms'])
    // In the words of the index over them.
    .where(sql<SqlBool>`status = 'ERROR' and last_error is not null`)
    .where('updated_at_ms', '>', 0)
    .where('environment', '=', environment)
    .$if(orderId !== undefined, (query) => query.where('order_id', '=', orderId ?? ''))
    .orderBy('updated_at_ms')
    .limit(MOST_LISTED)
    .execute();
  return rows.map(({ updated_at_ms, ...row }) => ({ ...row, updated_at: instant(updated_at_ms) }));
}
