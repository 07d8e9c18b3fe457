import { evidenceOf } from '../../airlines/browser/index.ts';
import { problem } from '../../kernel/problems.ts';
import type { StuckEvidence } from '../../wire/flights/index.ts';
import { auditAlone, type By, type FlightsPorts } from '../base/index.ts';
import { flightOf } from '../offers/index.ts';

/** Shows visits to a carrier's site, by intent, refund request, offer or route (`VIE-LIS`). Every call is audited. */
export async function stuckEvidence(ports: FlightsPorts, id: string, by: By): Promise<StuckEvidence> {
  const { store } = ports;
  const request = await store
    .selectFrom('refund_requests')
    .select('intent_id')
    .where('request_id', '=', id)
    .executeTakeFirst();
  const intent = await store
    .selectFrom('intents')
    .leftJoin('bookings', 'bookings.intent_id', 'intents.intent_id')
    .select(['intents.intent_id', 'intents.offer_id', 'bookings.state'])
    .where('intents.intent_id', '=', request?.intent_id ?? id)
    .executeTakeFirst();
  const evidence = await evidenceOf(ports, intent ? [intent.intent_id, flightOf(intent.offer_id)] : [flightOf(id)]);
  if (evidence.length === 0 && intent?.state !== 'stuck') {
    throw problem('stuck_not_found', {
      message: 'No visit to a web site is on record for that id.',
      fix: 'Use the id of an intent, a refund request or an offer, or a route such as VIE-LIS. Records are kept for 30 days.',
    });
  }
  const detail = { shown: evidence.length };
  await auditAlone(ports, { ...by, action: 'evidence.show', subject: intent?.intent_id ?? id, detail });
  return { id, evidence };
}
