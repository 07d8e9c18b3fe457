import { readBytes } from '../../http/index.ts';
import type { HttpRequest } from '../../kernel/http.ts';
import { problem } from '../../kernel/problems.ts';
import type { FlightsPorts, Tx } from '../base/index.ts';
import { hasten } from './machine.ts';

const MOST_BYTES = 256 * 1024;
/** More orders than any message is about. */
const MOST_REFERENCES = 50;

/**
 * Takes in a message that the airline sent by itself. Only the orders that it names count: each is asked about at the
 * airline, so a message that comes twice, late or out of order changes nothing that is not so.
 * @throws Problem `not_found` where the provider takes none, `unauthorized`, `payload_too_large`
 */
export async function takeMessage(ports: FlightsPorts, request: HttpRequest): Promise<{ readonly received: true }> {
  const { provider, store, log } = ports;
  if (!provider?.receive) throw problem('not_found');
  const bytes = await readBytes(request, MOST_BYTES);
  const references = [...new Set(await provider.receive({ body: bytes, headers: request.headers }))].slice(
    0,
    MOST_REFERENCES,
  );
  if (references.length > 0) {
    await store.transaction().execute((tx) => lookNow(ports, tx, references));
    log('info', 'airline_message', { intents: references.length });
  }
  return { received: true };
}

/** What is under way is due at once; what is booked or refunded is looked at again; a person is told of what is stuck. */
async function lookNow(ports: FlightsPorts, tx: Tx, references: readonly string[]): Promise<void> {
  const nowMs = ports.clock.now();
  await hasten(tx, references, nowMs);
  await tx
    .updateTable('upkeep')
    .set({ due_at_ms: nowMs })
    .where('intent_id', 'in', references)
    .where('task', 'in', ['order_watch', 'late_ticket'])
    .where('due_at_ms', '>', nowMs)
    .execute();
  const stuck = await tx
    .selectFrom('bookings')
    .select(['intent_id', 'fence'])
    .where('intent_id', 'in', references)
    .where('state', '=', 'stuck')
    .execute();
  for (const { intent_id: intentId, fence } of stuck) {
    await ports.outbox.enqueue(tx, {
      kind: 'page',
      dedupKey: `page:airline_message:${intentId}:${fence}`,
      intentId,
      event: 'airline_message',
      text: `The airline sent news about ${intentId}, which waits for a decision. See farelock stuck show ${intentId}.`,
      fields: { intent_id: intentId },
    });
  }
}
