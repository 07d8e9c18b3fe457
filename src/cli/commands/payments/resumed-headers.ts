import type { ClientStore, SignedPayment } from '../../../client/journal/index.ts';

/**
 * The headers of a request whose payment was written before they were kept: made anew from the remembered intent.
 * Where they are not the same as then, the service refuses, and nothing more is charged.
 */
export async function headersOf(
  store: ClientStore,
  { resource, body }: SignedPayment['request'],
): Promise<Record<string, string>> {
  if (resource !== 'POST /air/refund-requests') return {};
  const id = (body as { intent_id?: unknown } | null)?.intent_id;
  if (typeof id !== 'string') return {};
  const intent = await store.intent(id);
  const familyName = await store.leadOf(id);
  if (!intent || familyName === null) return {};
  return {
    'X-Customer-Support-Code': intent.supportCode,
    'X-Passenger-Family-Name': Buffer.from(familyName, 'utf8').toString('latin1'),
  };
}
