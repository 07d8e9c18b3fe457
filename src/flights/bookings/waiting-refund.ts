import type { FlightsPorts } from '../ports.ts';
import type { BookingRow, IntentRow } from '../rows.ts';
import type { Claims } from './claims.ts';

/** What an intent shows as `refund_reason` while its money waits for the refund wallet's token account. */
const REFUND_WAITS = 'refund_account_missing';

/**
 * Tells that a refund waits for its owner's token account: the customer in the intent record, an operator by a page.
 * The operator opens no account for others, and a creation that nobody sees keeps no other from being made meanwhile.
 */
export async function tellRefundWaits(
  ports: Pick<FlightsPorts, 'store' | 'outbox'>,
  claims: Claims,
  booking: BookingRow,
  intent: IntentRow,
): Promise<void> {
  if (intent.refund_reason === REFUND_WAITS) return;
  await claims.note(booking, { refund_reason: REFUND_WAITS, creating_key: null });
  await ports.store.transaction().execute((tx) =>
    ports.outbox.enqueue(tx, {
      kind: 'page',
      dedupKey: `page:refund_waits:${intent.intent_id}`,
      intentId: intent.intent_id,
      event: 'refund_waits',
      text: `The refund of ${intent.intent_id} waits: ${intent.refund_wallet} has no token account that can take it. It is tried again every ten minutes; anyone can open the account.`,
      fields: { intent_id: intent.intent_id, refund_wallet: intent.refund_wallet, mint: intent.mint },
    }),
  );
}
