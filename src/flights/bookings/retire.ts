import type { BookingRow, FlightsPorts, IntentRow, Tx } from '../base/index.ts';
import { creatingKey } from './creations.ts';
import { beginBooking, dropBooking, NO_PAYMENT } from './machine.ts';

/**
 * Ends an intent's life without a booking: it frees its (wallet, offer) pair, and its escrow is given back by the
 * worker, through a booking row that starts at `refunding`. That row is also what keeps a late payment out: a
 * booking needs the same primary key. When a booking is there already, it decides what becomes of the money.
 */
export async function retire(
  tx: Tx,
  intent: Pick<IntentRow, 'intent_id'>,
  reason: 'intent_expired' | 'creation_unpaid' | 'database_behind',
  nowMs: number,
): Promise<void> {
  await tx
    .updateTable('intents')
    .set({
      active_key: null,
      ...(reason === 'creation_unpaid' ? { abandoned: 1, creating_key: creatingKey.closing(intent.intent_id) } : {}),
    })
    .where('intent_id', '=', intent.intent_id)
    .execute();
  const row = {
    intent_id: intent.intent_id,
    state: 'refunding',
    payment_key: NO_PAYMENT,
    passengers_sealed: '',
    refund_reason: reason,
    due_at_ms: nowMs,
  } as const;
  await beginBooking(tx, 'sweep', row, nowMs);
}

/**
 * Takes back a booking whose payment is certain to have failed. The intent can be booked again, unless it has expired:
 * then its escrow is closed. A worker of a faster clock may have retired it already, and nothing else would close it.
 */
export async function dropUnpaid(
  { store, clock }: Pick<FlightsPorts, 'store' | 'clock'>,
  booking: Pick<BookingRow, 'intent_id' | 'payment_key'>,
): Promise<void> {
  const nowMs = clock.now();
  await store.transaction().execute(async (tx) => {
    if (!(await dropBooking(tx, booking))) return;
    const intent = await tx
      .selectFrom('intents')
      .select(['intent_id', 'expires_at_ms', 'status', 'active_key'])
      .where('intent_id', '=', booking.intent_id)
      .executeTakeFirst();
    if (intent?.status !== 'active') return;
    const isRetired = intent.active_key === null;
    if (isRetired || intent.expires_at_ms <= nowMs) await retire(tx, intent, 'intent_expired', nowMs);
  });
}
