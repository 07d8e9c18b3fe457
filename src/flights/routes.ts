import type { Call, HeaderParameter, PriceRange, RouteTable } from '../http/index.ts';
import { routesOf, schemasOf } from '../http/index.ts';
import { instant } from '../kernel/clock.ts';
import { type HttpRequest, HttpResponse, headerOf, json } from '../kernel/http.ts';
import { atomic, formatUsdc } from '../kernel/money.ts';
import type { ProblemCode } from '../kernel/problems.ts';
import { carriesPayment, type PaidCall } from '../payments/index.ts';
import type { Health } from '../wire/flights/index.ts';
import { type Asked, clientOf, type FlightsOptions } from './base/index.ts';
import type { IntentTools } from './bookings/index.ts';
import { createIntentCall, loadAffiliates, loadBooking, loadOrders, showIntent } from './bookings/index.ts';
import { loadSearch, loadSponsored, offerDetailsCall, type Pricing } from './offers/index.ts';
import type { Readiness } from './readiness.ts';
import { loadRequests } from './refunds/index.ts';

const SERVICE_NAME = 'farelock-flights';
export const API_VERSION = '1.0.0';

export interface FlightsParts extends IntentTools {
  readonly pricing: Pricing;
  readiness(): Promise<Readiness>;
  describe(publicUrl: string | undefined): Promise<object>;
}

type FlightsCall = Call<FlightsParts, unknown, unknown, never>;

const route = routesOf<FlightsParts, FlightsOptions>();
const asked = schemasOf(() => import('../wire/flights/requests.ts'));
const wire = schemasOf(() => import('../wire/flights/schema.ts'));
const usdc = (amount: bigint): string => formatUsdc(atomic(amount));

const rangeOf = (one: bigint, other: bigint): PriceRange =>
  one === other ? one : one < other ? [one, other] : [other, one];

const searchPrices = ({ searchPrice, searchPriceCap, mostMultiplier }: FlightsOptions): [bigint, bigint] => {
  const dearest = searchPrice * BigInt(mostMultiplier);
  return [searchPrice, dearest < searchPriceCap ? dearest : searchPriceCap];
};

const askedBy = <Body>(call: Call<FlightsParts, Body, unknown, never>): Asked<Body> => {
  const { context, request, body } = call;
  const { publicUrl, clientAddress } = call.connection;
  return {
    body,
    // The address of this call as its client knows it.
    url: publicUrl === undefined ? request.url : publicUrl + new URL(request.url).pathname,
    client: clientOf(context.ports.secrets, clientAddress),
  };
};

/** Challenges name our escrow program, so a client that would not lock fares there need not pay for a search. */
const ESCROW_PROGRAM = 'Farelock-Escrow-Program';

async function charge({ context, request, discovery }: FlightsCall, call: PaidCall): Promise<HttpResponse> {
  const { paywall, escrowProgram } = context.ports;
  const answer = await paywall.charge(request, { ...call, discovery });
  if (answer.status !== 402) return answer;
  return new HttpResponse(answer.status, answer.body, { ...answer.headers, [ESCROW_PROGRAM]: escrowProgram });
}

const UPSTREAM: readonly ProblemCode[] = ['provider_failed', 'upstream_rate_limited'];
const SEATS: readonly ProblemCode[] = ['seats_unavailable', 'seat_unavailable'];
const PAID = 'Done and paid.';

const SUPPORT_CODE: HeaderParameter = {
  name: 'X-Customer-Support-Code',
  description: 'The code returned when the intent was created.',
  required: true,
};
const OWN_SUPPORT_CODE: HeaderParameter = {
  name: SUPPORT_CODE.name,
  description: `${SUPPORT_CODE.description} With it, the words of an operator that rejected a refund are shown too.`,
};
const FAMILY_NAME: HeaderParameter = {
  name: 'X-Passenger-Family-Name',
  description: "The lead passenger's family name; beyond ASCII, in UTF-8.",
  required: true,
};

const PREVIEW_HEADERS: readonly HeaderParameter[] = Object.entries({
  'KEY-ID': 'Which gateway signs.',
  TIMESTAMP: 'Whole seconds since the epoch, at most 60 from now.',
  WALLET: 'The Solana wallet that the preview is for.',
  SIGNATURE:
    'Ed25519, base58 or base64, over `v1`, timestamp, wallet, method, host, path and the SHA-256 of the body in lower-case hex, joined by newlines. It works once.',
}).map(([name, description]) => ({ name: `X-GATEWAY-SPONSORED-${name}`, description }));

/** True for a search that a gateway sponsors. A payment takes precedence. */
const isSponsored = ({ headers }: HttpRequest): boolean =>
  Object.keys(headers).some((name) => name.startsWith('x-gateway-sponsored-')) && !carriesPayment(headers);

const health = ({ context: { ports } }: FlightsCall, status: Health['status']): Health => ({
  status,
  service: SERVICE_NAME,
  version: API_VERSION,
  time: instant(ports.clock.now()),
});

async function ready(call: FlightsCall): Promise<object> {
  const { isReady, checks, details, retryAfterS } = await call.context.readiness();
  if (isReady && !call.context.ports.isStopping?.()) return health(call, 'ok');
  return json({ ...health(call, 'not_ready'), checks, ...details }, 503, { 'Retry-After': String(retryAfterS) });
}

/** The calls of customers (spec/flight-service.md; CONTRACT, sections 1 to 7). */
export const flightRoutes: RouteTable<FlightsParts, FlightsOptions> = {
  unknown: 'not_found',
  routes: [
    route({
      method: 'GET',
      path: '/health',
      id: 'health',
      summary: 'Liveness: the process answers.',
      stored: false,
      answers: { 200: { description: 'Alive.', schema: wire('health') } },
      run: async (call) => health(call, 'ok'),
    }),
    route({
      method: 'GET',
      path: '/ready',
      id: 'ready',
      summary:
        "Readiness, within two seconds: database and cluster answer, the operator's wallets hold enough, the airline refuses nothing, the disk can be written, and the service is not being stopped.",
      stored: false,
      answers: {
        200: { description: 'Ready.', schema: wire('health') },
        503: { description: 'Not ready.', schema: wire('health') },
      },
      run: ready,
    }),
    route({
      method: 'GET',
      path: '/openapi.json',
      id: 'openapi',
      summary: 'This document.',
      stored: false,
      answers: { 200: { description: 'OpenAPI 3.1.' } },
      run: ({ context, connection }) => context.describe(connection.publicUrl),
    }),
    route({
      method: 'POST',
      path: '/air/search',
      id: 'search',
      summary: (options) => {
        const [least, most] = searchPrices(options);
        return `Search live offers. The price depends on load: ${usdc(least)} to ${usdc(most)} USDC.`;
      },
      price: (options) => rangeOf(...searchPrices(options)),
      security: [['x402'], ['sponsoredPreview']],
      headers: PREVIEW_HEADERS,
      body: asked('searchRequest'),
      answers: {
        200: {
          description: 'Done, and paid or sponsored.',
          schema: wire('searchResponse'),
          // A gateway's signature replaces the payment: nothing is charged, and there is no PAYMENT-RESPONSE.
          headers: {
            'X-Sponsored-Preview': { schema: { const: 'true' }, description: 'A gateway sponsored this answer.' },
          },
        },
      },
      codes: ['airport_unknown', 'invalid_sponsored_preview', 'provider_not_configured', ...UPSTREAM],
      async run(call) {
        const { ports, pricing } = call.context;
        const { searchCall } = await loadSearch();
        const search = searchCall(ports, pricing, askedBy(call), call.requestId);
        if (!isSponsored(call.request)) return charge(call, search);
        const { sponsoredPreview } = await loadSponsored();
        return sponsoredPreview(ports, call.request, call.bytes, search, call.connection.publicUrl);
      },
    }),
    route({
      method: 'POST',
      path: '/air/search-updates',
      id: 'searchUpdates',
      summary: 'Offers of the slower tier, as they arrive. Free.',
      body: asked('searchUpdatesRequest'),
      answers: { 200: { description: 'What landed after the cursor.', schema: wire('searchUpdatesResponse') } },
      codes: ['search_not_found', ...UPSTREAM],
      run: async ({ context, body }) => (await loadSearch()).searchUpdates(context.ports, body),
    }),
    route({
      method: 'POST',
      path: '/air/offer-details',
      id: 'offerDetails',
      summary: ({ offerDetailsPrice, lowcostDetailsPrice }) =>
        `Fresh price, expiry and extras of one offer: ${usdc(offerDetailsPrice)} USDC. For a \`lowcost:\` offer, its fare menu: ${usdc(lowcostDetailsPrice)} USDC, charged once it is ready; a menu that fails is free.`,
      price: ({ offerDetailsPrice, lowcostDetailsPrice }) => rangeOf(offerDetailsPrice, lowcostDetailsPrice),
      body: asked('offerDetailsRequest'),
      answers: {
        200: { description: PAID, schema: wire('offerDetailsResponse') },
        202: {
          description: 'The fare menu is being opened. Not charged.',
          schema: wire('offerDetailsResponse'),
          free: true,
        },
      },
      codes: [
        'offer_not_found',
        'offer_unavailable',
        'offer_expired',
        'seats_unavailable',
        'fare_check_failed',
        'too_many_requests',
        'provider_not_configured',
        ...UPSTREAM,
      ],
      run: async (call) => charge(call, await offerDetailsCall(call.context.ports, askedBy(call))),
    }),
    route({
      method: 'POST',
      path: '/air/intents',
      id: 'createIntent',
      summary: ({ intentPrice }) => `Lock one offer and open its escrow. ${usdc(intentPrice)} USDC.`,
      price: ({ intentPrice }) => intentPrice,
      body: asked('createIntentRequest'),
      answers: { 201: { description: PAID, schema: wire('createdIntent') } },
      codes: [
        'invalid_wallet',
        'funding_wallet_not_payer',
        'refund_wallet_without_account',
        'refund_wallet_not_allowed',
        'offer_not_found',
        'intent_already_exists',
        'offer_unsupported',
        'offer_unavailable',
        'offer_expired',
        ...SEATS,
        'bags_unavailable',
        'lowcost_booking_unavailable',
        'fare_check_failed',
        'fare_menu_expired',
        'invalid_fare_index',
        'escrow_initialization_failed',
        'creation_under_way',
        'creations_busy',
        'too_many_locks',
        'too_many_requests',
        'booking_disabled',
        'database_behind',
        'escrow_program_changed',
        ...UPSTREAM,
      ],
      run: (call) => charge(call, createIntentCall(call.context, askedBy(call))),
    }),
    route({
      method: 'POST',
      path: '/affiliates',
      id: 'createAffiliate',
      summary:
        'Create an affiliate code for a wallet, to be given as `referrer`. The same wallet gets the same code. Free.',
      body: asked('affiliateRequest'),
      answers: {
        200: { description: 'The code that the wallet has.', schema: wire('affiliate') },
        201: { description: 'Made.', schema: wire('affiliate') },
      },
      codes: ['invalid_wallet', 'too_many_attempts'],
      async run(call) {
        const { registerAffiliate } = await loadAffiliates();
        const made = await registerAffiliate(call.context.ports, call.body.wallet, askedBy(call).client);
        return json(made.body, made.status);
      },
    }),
    route({
      method: 'GET',
      path: '/affiliates/{code}',
      id: 'affiliate',
      summary: 'Show what an affiliate code has earned.',
      answers: { 200: { description: 'Its credit.', schema: wire('affiliateCredit') } },
      codes: ['affiliate_not_found'],
      run: async ({ context, params }) => (await loadAffiliates()).showAffiliate(context.ports, params.code),
    }),
    route({
      method: 'GET',
      path: '/air/intents/{intent_id}',
      id: 'intent',
      summary: 'Show the status of an intent, for polling.',
      security: [[], ['supportCode']],
      headers: [OWN_SUPPORT_CODE],
      answers: { 200: { description: 'The intent.', schema: wire('intent') } },
      codes: ['intent_not_found', 'support_code_mismatch', 'too_many_attempts'],
      run: (call) =>
        showIntent(
          call.context,
          call.params.intent_id,
          headerOf(call.request, SUPPORT_CODE.name),
          askedBy(call).client,
        ),
    }),
    route({
      method: 'POST',
      path: '/air/book',
      id: 'book',
      summary: 'Pay the fare into the escrow and queue the booking.',
      price: ({ leastTicket, mostTicket }) => rangeOf(leastTicket, mostTicket),
      body: asked('bookRequest'),
      answers: { 200: { description: PAID, schema: wire('bookResponse') } },
      codes: [
        'duplicate_passenger',
        'passenger_count_mismatch',
        'passenger_age_mismatch',
        'travel_document_required',
        'travel_document_expired',
        'intent_not_found',
        'intent_not_active',
        'intent_expired',
        'offer_expired',
        'offer_unavailable',
        'offer_repriced',
        ...SEATS,
        'bags_unavailable',
        'escrow_missing',
        'escrow_funding_mismatch',
        'booking_already_requested',
        'lowcost_booking_unavailable',
        'too_many_requests',
        'booking_disabled',
        'database_behind',
        'escrow_program_changed',
        'provider_not_configured',
        // Reads the cluster before it names a price.
        'cluster_failed',
        ...UPSTREAM,
      ],
      async run(call) {
        const { bookCall } = await loadBooking();
        return charge(call, bookCall(call.context, askedBy(call)));
      },
    }),
    route({
      method: 'POST',
      path: '/webhooks/airline',
      id: 'airlineWebhook',
      summary: 'Take in a signed message of the airline: the bookings that it is about are looked at now. Free.',
      answers: { 200: { description: 'Taken in. The same message may come again.' } },
      codes: ['unauthorized', 'not_found', 'payload_too_large', 'body_incomplete'],
      run: async ({ context, request }) => (await loadOrders()).takeMessage(context.ports, request),
    }),
    route({
      method: 'POST',
      path: '/air/refund-requests',
      id: 'requestRefund',
      summary: ({ refundRequestPrice }) => `File a refund request for manual review. ${usdc(refundRequestPrice)} USDC.`,
      price: ({ refundRequestPrice }) => refundRequestPrice,
      security: [['x402', 'supportCode', 'familyName']],
      headers: [SUPPORT_CODE, FAMILY_NAME],
      body: asked('refundRequest'),
      answers: { 202: { description: PAID, schema: wire('refundRequestResponse') } },
      codes: [
        'support_code_required',
        'family_name_required',
        'identity_mismatch',
        'intent_not_found',
        'use_automatic_refund',
        'already_refunded',
        'refund_already_requested',
        'passenger_refund_unavailable',
        'passenger_needed',
        'database_behind',
        'family_name_unavailable',
        'too_many_attempts',
      ],
      async run(call) {
        const { refundRequestCall } = await loadRequests();
        const [code, name] = [SUPPORT_CODE, FAMILY_NAME].map((header) => headerOf(call.request, header.name));
        return charge(call, refundRequestCall(call.context.ports, askedBy(call), code ?? null, name ?? null));
      },
    }),
    route({
      method: 'GET',
      path: '/air/orders/{order_id}',
      id: 'order',
      summary: ({ orderPrice }) =>
        `Show the airline booking reference and the order's status. ${usdc(orderPrice)} USDC.`,
      price: ({ orderPrice }) => orderPrice,
      security: [['x402', 'supportCode']],
      headers: [SUPPORT_CODE],
      answers: { 200: { description: 'The order as the airline holds it now.', schema: wire('order') } },
      codes: [
        'support_code_required',
        'support_code_mismatch',
        'order_not_found',
        'too_many_attempts',
        'provider_not_configured',
        ...UPSTREAM,
      ],
      async run(call) {
        const { orderCall } = await loadOrders();
        const { params, context } = call;
        const code = headerOf(call.request, SUPPORT_CODE.name);
        return charge(call, orderCall(context.ports, params.order_id, code, askedBy(call)));
      },
    }),
  ],
};
