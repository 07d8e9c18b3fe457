import { json, REQUEST_ID, ref } from '../../http/openapi.ts';
import { atomic, formatUsdc } from '../../kernel/money.ts';
import type { FlightsOptions } from '../ports.ts';
import { operatorPaths } from './openapi-operator.ts';
import {
  ANY,
  answer,
  BODY,
  CHALLENGE,
  FAMILY_NAME_HEADER,
  failures,
  freeGet,
  ON_CHAIN,
  PAID,
  PAYMENT_HEADER,
  type PriceRange,
  paidPost,
  pathParameter,
  paymentInfo,
  STORED,
  SUPPORT_CODE_HEADER,
  UPSTREAM,
} from './openapi-parts.ts';

const usdc = (amount: bigint): string => formatUsdc(atomic(amount));

const rangeOf = (one: bigint, other: bigint): PriceRange =>
  one === other ? one : one < other ? [one, other] : [other, one];

/** A fare menu that is still being opened is 202: free, and asked for again. */
function offerDetails(options: FlightsOptions) {
  const call = paidPost({
    id: 'offerDetails',
    summary: `Fresh price, expiry and extras of one offer: ${usdc(options.offerDetailsPrice)} USDC. For a \`lowcost:\` offer, its fare menu: ${usdc(options.lowcostDetailsPrice)} USDC, charged once it is ready; one that fails is free.`,
    price: rangeOf(options.offerDetailsPrice, options.lowcostDetailsPrice),
    request: 'OfferDetailsRequest',
    response: 'OfferDetailsResponse',
    codes: [
      'offer_not_found',
      'offer_unavailable',
      'offer_expired',
      'fare_check_failed',
      'too_many_requests',
      'provider_not_configured',
      ...UPSTREAM,
    ],
  });
  const pending = answer(202, 'OfferDetailsResponse', 'The fare menu is being opened. Not charged.', false);
  return { post: { ...call.post, responses: { ...call.post.responses, ...pending } } };
}

const PREVIEW_HEADERS = {
  'KEY-ID': 'Which gateway signs.',
  TIMESTAMP: 'Whole seconds since the epoch, at most 60 from now.',
  WALLET: 'The Solana wallet that the preview is for.',
  SIGNATURE:
    'Ed25519, base58 or base64, over `v1`, timestamp, wallet, method, host, path and the SHA-256 of the body in lower-case hex, joined by newlines. It works once.',
};

/** A gateway's signature stands in for a payment: not charged, and no PAYMENT-RESPONSE. */
function search(options: FlightsOptions) {
  const { searchPrice: least, searchPriceCap: cap } = options;
  const dearest = least * BigInt(options.mostMultiplier);
  const most = dearest < cap ? dearest : cap;
  const { post } = paidPost({
    id: 'search',
    summary: `Find live offers. The price follows the load: ${usdc(least)} to ${usdc(most)} USDC.`,
    price: rangeOf(least, most),
    request: 'SearchRequest',
    response: 'SearchResponse',
    codes: ['invalid_sponsored_preview', 'provider_not_configured', ...UPSTREAM],
  });
  const [[, found] = []] = Object.entries(
    answer(200, 'SearchResponse', 'Done, and paid or sponsored.', true),
  );
  const previewed = {
    'X-Sponsored-Preview': { schema: { const: 'true' }, description: 'A gateway sponsored this answer.' },
  };
  return {
    post: {
      ...post,
      security: [{ x402: [] }, { sponsoredPreview: [] }],
      parameters: [
        ...post.parameters,
        ...Object.entries(PREVIEW_HEADERS).map(([name, description]) => ({
          name: `X-GATEWAY-SPONSORED-${name}`,
          in: 'header',
          required: false,
          schema: { type: 'string' },
          description,
        })),
      ],
      responses: {
        ...post.responses,
        200: { ...found, headers: { ...found?.headers, ...previewed } },
      },
    },
  };
}

/** The customer is known by the support code and the lead passenger's family name. */
const refundRequests = (options: FlightsOptions) => {
  const call = paidPost({
    id: 'requestRefund',
    summary: `File a refund request for manual review. ${usdc(options.refundRequestPrice)} USDC.`,
    price: options.refundRequestPrice,
    request: 'RefundRequest',
    response: 'RefundRequestResponse',
    status: 202,
    codes: [
      'support_code_required',
      'family_name_required',
      'identity_mismatch',
      'intent_not_found',
      'use_automatic_refund',
      'already_refunded',
      'refund_already_requested',
      'family_name_unavailable',
      'too_many_attempts',
    ],
  });
  return {
    post: {
      ...call.post,
      security: [{ x402: [], supportCode: [], familyName: [] }],
      parameters: [SUPPORT_CODE_HEADER, FAMILY_NAME_HEADER, PAYMENT_HEADER],
    },
  };
};

export const paths = (options: FlightsOptions) => ({
  '/health': freeGet('health', 'Liveness.', answer(200, 'Health', 'Alive.', false)),
  '/ready': freeGet(
    'ready',
    "Readiness: the database answers, and the operator's wallets hold what is needed.",
    {
      ...answer(200, 'Health', 'Ready.', false),
      ...answer(503, 'Health', 'Not ready.', false),
    },
  ),
  '/openapi.json': freeGet('openapi', 'This document.', {
    200: { description: 'OpenAPI 3.1.', headers: REQUEST_ID, content: json({ type: 'object' }) },
  }),
  '/air/search': search(options),
  '/air/search-updates': {
    post: {
      operationId: 'searchUpdates',
      summary: 'Offers of the slower tier, as they land. Free.',
      security: [],
      parameters: [],
      requestBody: { required: true, content: json(ref('SearchUpdatesRequest')) },
      responses: {
        ...answer(200, 'SearchUpdatesResponse', 'What landed after the cursor.', false),
        ...failures([...BODY, 'search_not_found', ...UPSTREAM, ...ANY, ...STORED]),
      },
    },
  },
  '/air/offer-details': offerDetails(options),
  '/air/intents': paidPost({
    id: 'createIntent',
    summary: `Lock one offer and open its escrow. ${usdc(options.intentPrice)} USDC.`,
    price: options.intentPrice,
    request: 'CreateIntentRequest',
    response: 'CreatedIntent',
    status: 201,
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
      'lowcost_booking_unavailable',
      'fare_check_failed',
      'fare_menu_expired',
      'invalid_fare_index',
      'escrow_initialization_failed',
      'operator_funds_low',
      'creation_under_way',
      'creations_busy',
      'too_many_requests',
      'booking_disabled',
      ...UPSTREAM,
    ],
  }),
  '/affiliates': {
    post: {
      operationId: 'createAffiliate',
      summary:
        'An affiliate code for a wallet, to be used as `referrer`. The same wallet gets its code again. Free.',
      security: [],
      parameters: [],
      requestBody: { required: true, content: json(ref('AffiliateRequest')) },
      responses: {
        ...answer(201, 'Affiliate', 'Made.', false),
        ...answer(200, 'Affiliate', 'The code that the wallet has.', false),
        ...failures([...BODY, 'invalid_wallet', 'too_many_attempts', ...ANY, ...STORED]),
      },
    },
  },
  '/affiliates/{code}': freeGet(
    'affiliate',
    'What an affiliate code has earned.',
    {
      ...answer(200, 'AffiliateCredit', 'Its credit.', false),
      ...failures(['affiliate_not_found', ...STORED]),
    },
    [pathParameter('code')],
  ),
  '/air/intents/{intent_id}': freeGet(
    'intent',
    'How an intent stands. For polling.',
    { ...answer(200, 'Intent', 'The intent.', false), ...failures(['intent_not_found', ...STORED]) },
    [pathParameter('intent_id')],
  ),
  '/air/book': paidPost({
    id: 'book',
    summary: 'Pay the escrow amount into the escrow and queue the booking.',
    price: rangeOf(options.leastTicket, options.mostTicket),
    request: 'BookRequest',
    response: 'BookResponse',
    codes: [
      'duplicate_passenger',
      'passenger_count_mismatch',
      'travel_document_required',
      'travel_document_expired',
      'intent_not_found',
      'intent_not_active',
      'intent_expired',
      'offer_expired',
      'offer_unavailable',
      'offer_repriced',
      'escrow_missing',
      'escrow_funding_mismatch',
      'booking_already_requested',
      'lowcost_booking_unavailable',
      'too_many_requests',
      'booking_disabled',
      'provider_not_configured',
      ...ON_CHAIN,
      ...UPSTREAM,
    ],
  }),
  '/air/refund-requests': refundRequests(options),
  ...operatorPaths({ answer, failures, ref, json }),
  '/air/orders/{order_id}': {
    get: {
      operationId: 'order',
      summary: `Airline booking reference and order status. ${usdc(options.orderPrice)} USDC.`,
      'x-payment-info': paymentInfo(options.orderPrice),
      security: [{ x402: [], supportCode: [] }],
      parameters: [pathParameter('order_id'), SUPPORT_CODE_HEADER, PAYMENT_HEADER],
      responses: {
        ...answer(200, 'Order', 'The order as the airline holds it now.', true),
        402: CHALLENGE,
        ...failures([
          'invalid_request',
          ...PAID,
          'support_code_required',
          'support_code_mismatch',
          'order_not_found',
          'too_many_attempts',
          'provider_not_configured',
          ...UPSTREAM,
          ...ANY,
          ...STORED,
        ]),
      },
    },
  },
});
