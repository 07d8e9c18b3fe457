import { failures as failuresAs, json, REQUEST_ID, ref } from '../../http/openapi.ts';
import { atomic, formatUsdc } from '../../kernel/money.ts';
import type { ProblemCode } from '../../kernel/problems.ts';

/** Refusals that every call with a body may answer with. */
export const BODY: ProblemCode[] = [
  'invalid_request',
  'invalid_json',
  'body_incomplete',
  'payload_too_large',
  'unsupported_media_type',
];
export const PAID: ProblemCode[] = ['invalid_payment_signature', 'payment_pending'];
export const ANY: ProblemCode[] = ['method_not_allowed', 'internal_error'];
/** What needs the database: it may be away. */
export const STORED: ProblemCode[] = ['not_ready'];
/** Calls that read the cluster before they ask for money. */
export const ON_CHAIN: ProblemCode[] = ['cluster_failed'];
export const UPSTREAM: ProblemCode[] = ['provider_failed', 'upstream_rate_limited'];

export const PAYMENT_HEADER = {
  name: 'PAYMENT-SIGNATURE',
  in: 'header',
  required: false,
  schema: { type: 'string' },
  description: 'Base64 of an x402 version 2 payment payload. Without it the answer is 402 and a challenge.',
};
export const SUPPORT_CODE_HEADER = {
  name: 'X-Customer-Support-Code',
  in: 'header',
  required: true,
  schema: { type: 'string' },
  description: 'The code returned when the intent was created.',
};
export const FAMILY_NAME_HEADER = {
  name: 'X-Passenger-Family-Name',
  in: 'header',
  required: true,
  schema: { type: 'string' },
  description: "The lead passenger's family name; beyond ASCII, in UTF-8.",
};
export const pathParameter = (name: string) => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string' },
});

/** One response per status, with the body that every refusal has. */
export const failures = (codes: readonly ProblemCode[]): Record<string, object> =>
  failuresAs(codes, (listed) => ({ allOf: [ref('Error'), { properties: { code: { enum: listed } } }] }));

export const CHALLENGE = {
  description:
    '`payment_required`: this call is paid. `payment_verification_failed` and `payment_settlement_failed`: the payment was not accepted, nothing was charged. The body equals the decoded header.',
  headers: {
    ...REQUEST_ID,
    'PAYMENT-REQUIRED': { schema: { type: 'string' }, description: 'Base64 of the body.' },
  },
  content: json(ref('PaymentRequired')),
};

export const answer = (status: number, schema: string, description: string, paid: boolean) => ({
  [status]: {
    description,
    headers: {
      ...REQUEST_ID,
      ...(paid
        ? {
            'PAYMENT-RESPONSE': {
              schema: { type: 'string' },
              description: 'Base64 of the x402 settlement response.',
            },
          }
        : {}),
    },
    content: json(ref(schema)),
  },
});

/** What a call may cost, atomic USDC: always the same, or from the least to the most. */
export type PriceRange = bigint | readonly [least: bigint, most: bigint];

/** `x-payment-info` of a paid operation, in the form that catalogues of x402 services read. */
export const paymentInfo = (price: PriceRange) => ({
  price:
    typeof price === 'bigint'
      ? { mode: 'fixed', currency: 'USD', amount: formatUsdc(atomic(price)) }
      : {
          mode: 'dynamic',
          currency: 'USD',
          min: formatUsdc(atomic(price[0])),
          max: formatUsdc(atomic(price[1])),
        },
  protocols: [{ x402: {} }],
});

export interface PaidPost {
  readonly id: string;
  readonly summary: string;
  readonly request: string;
  readonly response: string;
  readonly status?: number;
  readonly price: PriceRange;
  readonly codes: readonly ProblemCode[];
}

export const paidPost = (call: PaidPost) => ({
  post: {
    operationId: call.id,
    summary: call.summary,
    'x-payment-info': paymentInfo(call.price),
    security: [{ x402: [] }],
    parameters: [PAYMENT_HEADER],
    requestBody: { required: true, content: json(ref(call.request)) },
    responses: {
      ...answer(call.status ?? 200, call.response, 'Done and paid.', true),
      402: CHALLENGE,
      ...failures([...BODY, ...PAID, ...call.codes, ...ANY, ...STORED]),
    },
  },
});

export const freeGet = (id: string, summary: string, responses: object, parameters: object[] = []) => ({
  get: {
    operationId: id,
    summary,
    security: [],
    parameters,
    responses: { ...responses, ...failures(['invalid_request', ...ANY]) },
  },
});
