import { ProtocolError, ResourceNotFoundError, type Server } from '@modelcontextprotocol/server';
import { isRecord } from '../../../terminal/index.ts';
import type { Document } from './answers.ts';
import type { Calls } from './calls.ts';

const PAGE = 20;
const JSON_TEXT = 'application/json';

const TEMPLATES = [
  {
    uriTemplate: 'farelock://offers/{offer_id}',
    name: 'offer',
    description: 'An offer of a search of this server, as it was quoted; free.',
    mimeType: JSON_TEXT,
  },
  {
    uriTemplate: 'farelock://orders/{intent_id}',
    name: 'order',
    description: 'A locked or booked flight, and where its money is; free.',
    mimeType: JSON_TEXT,
  },
];

const uriOf = (kind: 'offers' | 'orders', id: unknown): string =>
  `farelock://${kind}/${encodeURIComponent(String(id))}`;

/** The offers that this run has seen and the bookings of this home, as resources. Reading one is free. */
export function serveResources(server: Server, { kept, read }: Calls): void {
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: TEMPLATES }));
  server.setRequestHandler('resources/list', async ({ params }, { mcpReq: { signal } }) => {
    const from = Number(params?.cursor ?? 0);
    if (!Number.isSafeInteger(from) || from < 0) throw new ProtocolError(-32602, 'Unknown cursor.');
    const { intents } = await read(['intent', 'list', '--limit=1000'], signal);
    const orders = (Array.isArray(intents) ? (intents as Document[]) : []).map((one) => ({
      uri: uriOf('orders', one.intent_id),
      name: `${one.route ?? 'Flight'} ${one.departure_date ?? ''}, ${one.status ?? 'locked'}`.replace(' ,', ','),
      mimeType: JSON_TEXT,
    }));
    const offers = kept
      .offers()
      .map((one) => ({
        uri: uriOf('offers', one.offer_id),
        name: `${one.origin_iata}-${one.destination_iata} ${one.departing_at}, ${one.total_amount_decimal} ${one.total_currency}, ${one.owner_name}`,
        mimeType: JSON_TEXT,
      }));
    const all = [...orders, ...offers];
    const end = from + PAGE;
    return { resources: all.slice(from, end), ...(end < all.length && { nextCursor: String(end) }) };
  });
  server.setRequestHandler('resources/read', async ({ params: { uri } }, { mcpReq: { signal } }) => {
    const [, kind, id] = /^farelock:\/\/(offers|orders)\/([^/?#]+)$/.exec(uri) ?? [];
    const name = id === undefined ? '' : decoded(id);
    const found = kind === 'offers' ? kept.offer(name) : kind && (await read(['status', '--', name], signal));
    if (!found || 'error' in found) {
      const error = found && isRecord(found.error) ? found.error.message : 'Search again, or list the resources.';
      throw new ResourceNotFoundError(uri, `There is no ${uri}. ${error}`);
    }
    return { contents: [{ uri, mimeType: JSON_TEXT, text: JSON.stringify(found) }] };
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
