import { problem } from '../../kernel/problems.ts';
import type { Store, Tx } from '../tables.ts';

/** Bookings that have ended, or end, without an order. */
const FREES = ['refunding', 'refunded'] as const;

/**
 * Refuses an offer whose search serves one order, once another intent on that search is paid for.
 * @param saleKey of the live offer, or of the intent that locked it; absent where every offer is sold by itself
 * @throws Problem `offer_unavailable`
 */
export async function checkUnsold(
  on: Store | Tx,
  saleKey: string | null | undefined,
  intentId = '',
): Promise<void> {
  if (saleKey == null) return;
  const sold = await on
    .selectFrom('intents')
    .innerJoin('bookings', 'bookings.intent_id', 'intents.intent_id')
    .select('intents.intent_id')
    .where('intents.sale_key', '=', saleKey)
    .where('intents.intent_id', '<>', intentId)
    .where('bookings.state', 'not in', FREES)
    .limit(1)
    .executeTakeFirst();
  if (sold) throw problem('offer_unavailable');
}
