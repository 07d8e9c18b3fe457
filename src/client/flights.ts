import type { OfferDetailsResponse } from '../flights/wire.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { problem } from '../kernel/problems.ts';
import { answerRules } from './answer-rules.ts';
import {
  affiliateCreditOf,
  affiliateOf,
  bookOf,
  createdIntentOf,
  healthOf,
  intentOf,
  offerDetailsOf,
  orderOf,
  refundRequestOf,
  searchOf,
  searchUpdatesOf,
} from './normalise.ts';
import type { AnswerRules } from './payer/delivery.ts';
import type { PaidExchange, Payer } from './payer/payer.ts';
import { ask, type Call, problemOf } from './transport.ts';
import type { CallOptions, Fetch, FlightsClient, Paid } from './types.ts';

export interface FlightsClientPorts {
  /** Such as `https://flights.example`; of an embedded service any http address does. */
  readonly baseUrl: string;
  readonly fetch: Fetch;
  readonly payer: Payer;
  /** For each exchange with the service (default 30 s). */
  readonly timeoutMs?: number | undefined;
  /** For the pauses between two looks at a fare menu. */
  readonly clock?: Clock | undefined;
}

/** Offers, prices and statuses found again after a crash are worth having for this long; a bought thing for ever. */
const FRESH_MS = 600_000;
const MENU_PAUSE_MS = 1_000;
const SHORTEST_PAUSE_MS = 50;

/** The flight service, typed (client/types.ts). The same client speaks to our services and to other deployments. */
export function createFlightsClient(given: FlightsClientPorts): FlightsClient {
  const ports = { ...given, timeoutMs: given.timeoutMs ?? 30_000, clock: given.clock ?? systemClock };
  const free = (call: FreeCall, options: CallOptions) => sendFree(ports, call, options);
  const paid = <T>(exchange: PaidCall, read: (body: unknown) => T, options: CallOptions) =>
    sendPaid(ports, exchange, read, options);
  return {
    health: async (options = {}) => healthOf(await free({ method: 'GET', path: '/health' }, options)),
    search: (request, options = {}) =>
      paid({ ...post('/air/search', request), freshForMs: FRESH_MS }, searchOf, options),
    searchUpdates: async (request, options = {}) =>
      searchUpdatesOf(
        await free(post('/air/search-updates', request), options),
        request.search_id,
        request.cursor ?? '',
      ),
    offerDetails: (offerId, options = {}) => offerDetails(ports, offerId, options),
    createIntent: (request, options = {}) => paid(post('/air/intents', request), createdIntentOf, options),
    intent: async (intentId, options = {}) =>
      intentOf(await free({ method: 'GET', path: `/air/intents/${encodeURIComponent(intentId)}` }, options)),
    book: (intent, passengers, options = {}) =>
      paid(
        {
          ...post('/air/book', { intent_id: intent.intent_id, passengers }),
          booking: intent,
          refundWallet: options.refundWallet,
        },
        (body) => bookOf(body, intent.intent_id),
        options,
      ),
    requestRefund: (request, { supportCode, familyName }, options = {}) =>
      paid(
        {
          ...post('/air/refund-requests', request),
          headers: {
            'X-Customer-Support-Code': supportCode,
            // A header is bytes: a name beyond ASCII travels as UTF-8.
            'X-Passenger-Family-Name': Buffer.from(familyName, 'utf8').toString('latin1'),
          },
        },
        (body) => refundRequestOf(body, request.intent_id),
        options,
      ),
    order: (orderId, supportCode, options = {}) =>
      paid(
        {
          method: 'GET',
          path: `/air/orders/${encodeURIComponent(orderId)}`,
          headers: { 'X-Customer-Support-Code': supportCode },
          freshForMs: FRESH_MS,
        },
        orderOf,
        options,
      ),
    createAffiliate: async (wallet, options = {}) =>
      affiliateOf(await free(post('/affiliates', { wallet }), options)),
    affiliate: async (code, options = {}) =>
      affiliateCreditOf(
        await free({ method: 'GET', path: `/affiliates/${encodeURIComponent(code)}` }, options),
      ),
  };
}

type Ports = FlightsClientPorts & { readonly timeoutMs: number; readonly clock: Clock };
type FreeCall = Pick<Call, 'method' | 'path' | 'body'>;
type PaidCall = Omit<PaidExchange, 'baseUrl' | 'fetch' | keyof AnswerRules>;

const post = (path: string, body: unknown) => ({ method: 'POST' as const, path, body });

async function sendFree(
  { baseUrl, fetch, timeoutMs }: Ports,
  call: FreeCall,
  options: CallOptions,
): Promise<unknown> {
  options.onPhase?.('asking');
  const answer = await ask({ baseUrl, fetch, ...call }, { timeoutMs, signal: options.signal });
  if (answer.status >= 300) throw problemOf(answer);
  return answer.body;
}

async function sendPaid<T>(
  { baseUrl, fetch, payer, timeoutMs }: Ports,
  exchange: PaidCall,
  read: (body: unknown) => T,
  options: CallOptions,
): Promise<Paid<T>> {
  const { method, path, body: request } = exchange;
  const rules = answerRules({ resource: `${method} ${path}`, body: request }, baseUrl);
  const { body, payment } = await payer.send(
    { baseUrl, fetch, ...exchange, ...rules },
    { timeoutMs, signal: options.signal },
    options,
  );
  return { value: read(body), payment };
}

/**
 * Asks until the fare menu is there. Nothing is charged while it is pending or has failed, and the payment that was sent
 * with the call stays the same one.
 */
async function offerDetails(
  ports: Ports,
  offerId: string,
  options: CallOptions,
): Promise<Paid<OfferDetailsResponse>> {
  const { clock, timeoutMs } = ports;
  const exchange = { ...post('/air/offer-details', { offer_id: offerId }), freshForMs: FRESH_MS };
  const deadlineMs = clock.now() + timeoutMs;
  for (;;) {
    const details = await sendPaid(ports, exchange, offerDetailsOf, options);
    if (details.value.fare_menu?.status !== 'pending') return details;
    const pauseMs = Math.max(SHORTEST_PAUSE_MS, details.value.poll_after_ms ?? MENU_PAUSE_MS);
    if (clock.now() + pauseMs > deadlineMs) return details;
    options.onPhase?.('waiting');
    await clock.sleep(pauseMs, options.signal);
    if (options.signal?.aborted) throw problem('interrupted');
  }
}
