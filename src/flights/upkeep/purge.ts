import { DAY_MS } from '../../kernel/clock.ts';
import { erasing } from '../../store/erase.ts';
import { lockedOffer } from '../bookings/intent-record.ts';
import { journeyEndMs } from '../bookings/journey-end.ts';
import { createOrderBook } from '../bookings/order-record.ts';
import type { IntentRow } from '../rows.ts';
import type { SweeperPorts } from './sweeper-ports.ts';

/**
 * Purges the personal data of an intent: its passengers, the mails, the words of a refund request. The intent, its
 * order and its status stay readable; they name nobody.
 * @returns null when it is done, else when to look again (epoch ms)
 */
export async function purge(ports: SweeperPorts, intent: IntentRow): Promise<number | null> {
  const { store } = ports;
  const nowMs = ports.clock.now();
  const dueMs = (await endedMs(ports, intent)) + ports.options.purgeAfterDays * DAY_MS;
  if (dueMs > nowMs) return dueMs;
  const open = await store
    .selectFrom('refund_requests')
    .select('request_id')
    .where('intent_id', '=', intent.intent_id)
    .where('state', 'in', ['settling', 'received', 'approved', 'stuck'])
    .executeTakeFirst();
  // Whoever decides about it needs the customer's words, and the way to answer him.
  if (open) return nowMs + DAY_MS;
  await erasing(store, async () => {
    await ports.outbox.forget(intent.intent_id);
    await store.transaction().execute(async (tx) => {
      await tx
        .updateTable('bookings')
        .set({ passengers_sealed: '' })
        .where('intent_id', '=', intent.intent_id)
        .execute();
      await tx
        .updateTable('browser_purchases')
        .set({ contact_sealed: '' })
        .where('reference', '=', intent.intent_id)
        .execute();
      await tx
        .updateTable('refund_notes')
        .set({ text_sealed: '' })
        .where('request_id', 'in', (query) =>
          query
            .selectFrom('refund_requests')
            .select('refund_requests.request_id')
            .where('refund_requests.intent_id', '=', intent.intent_id),
        )
        .execute();
      await tx
        .updateTable('refund_requests')
        .set({ reason_sealed: '', contact_sealed: null, decision_sealed: null })
        .where('intent_id', '=', intent.intent_id)
        .execute();
    });
  });
  ports.log('info', 'personal_data_purged', { intent_id: intent.intent_id });
  return null;
}

/** When an intent was over: the refund, the last arrival, or the end of its booking. */
async function endedMs(ports: SweeperPorts, intent: IntentRow): Promise<number> {
  if (intent.status === 'refunded') return intent.refunded_at_ms ?? intent.updated_at_ms;
  if (intent.status !== 'booked') return intent.updated_at_ms;
  // Both: a schedule change may have moved either.
  const order = await createOrderBook(ports).of(intent);
  return Math.max(journeyEndMs(order.slices), journeyEndMs(lockedOffer(intent).slices));
}
