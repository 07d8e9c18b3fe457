import { describe, publicCodes, ref } from '../http/index.ts';
import type { ProblemCode } from '../kernel/problems.ts';
import type { FlightsOptions } from './base/index.ts';
import { deskRoutes } from './desk/index.ts';
import { API_VERSION, flightRoutes } from './routes.ts';

const header = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description });

const refusal = (codes: readonly ProblemCode[]) => ({
  allOf: [ref('Error'), { properties: { code: { enum: codes } } }],
});

export const openapiDocument = (options: FlightsOptions) =>
  describe({
    info: {
      title: 'Flight search and escrow booking',
      version: API_VERSION,
      description:
        'Paid flight search, escrow-backed booking intents, booking and order status. Paid calls use x402 version 2 (USDC on Solana): a call without PAYMENT-SIGNATURE answers 402 with the challenge to sign.',
    },
    options,
    tables: [
      { table: flightRoutes, refusal },
      { table: deskRoutes, refusal },
    ],
    modules: [() => import('../wire/flights/offers.ts')],
    schemas: { PaymentRequired: PAYMENT_REQUIRED, Error: errorSchema() },
    securitySchemes: {
      x402: header('PAYMENT-SIGNATURE', 'Base64 of an x402 version 2 payment payload.'),
      sponsoredPreview: header(
        'X-GATEWAY-SPONSORED-SIGNATURE',
        "A gateway's signature of the request, with its three companion headers.",
      ),
      familyName: header('X-Passenger-Family-Name', "The lead passenger's family name."),
      operatorKey: { type: 'http', scheme: 'bearer', description: 'An operator key: flk_op_…' },
      supportCode: header('X-Customer-Support-Code', 'The code that was returned once, when the intent was created.'),
    },
  });

function errorSchema() {
  return {
    type: 'object',
    required: ['code', 'message'],
    additionalProperties: false,
    properties: {
      code: { type: 'string', enum: publicCodes() },
      message: { type: 'string', description: 'For people; says what to do next.' },
      detail: { type: 'object', additionalProperties: true },
    },
  };
}

const text = { type: 'string' };

const allOf = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
});

/** The 402 body equals the decoded PAYMENT-REQUIRED header. */
const PAYMENT_REQUIRED = allOf({
  x402Version: { const: 2 },
  error: text,
  resource: { type: 'object', required: ['url'], properties: { url: text, description: text, mimeType: text } },
  accepts: {
    type: 'array',
    minItems: 1,
    items: allOf({
      scheme: { const: 'exact' },
      network: text,
      asset: text,
      amount: { type: 'string', pattern: '^\\d+$', description: 'Atomic units.' },
      payTo: text,
      maxTimeoutSeconds: { type: 'integer' },
      extra: { type: 'object', additionalProperties: true },
    }),
  },
});
