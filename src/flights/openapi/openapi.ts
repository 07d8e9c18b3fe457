import * as z from 'zod';
import { PROBLEMS, type ProblemCode } from '../../kernel/problems.ts';
import * as operator from '../desk/schema.ts';
import * as stuck from '../desk/stuck-schema.ts';
import * as offers from '../offers/offer-schema.ts';
import type { FlightsOptions } from '../ports.ts';
import * as schemas from '../schema.ts';
import { paths } from './openapi-paths.ts';

/** What the components are called, and the schemas that they are made from. */
const COMPONENTS = {
  SearchRequest: schemas.searchRequest,
  SearchResponse: schemas.searchResponse,
  SearchUpdatesRequest: schemas.searchUpdatesRequest,
  SearchUpdatesResponse: schemas.searchUpdatesResponse,
  OfferDetailsRequest: schemas.offerDetailsRequest,
  OfferDetailsResponse: schemas.offerDetailsResponse,
  FareMenu: schemas.fareMenu,
  MenuFare: schemas.menuFare,
  CreateIntentRequest: schemas.createIntentRequest,
  Intent: schemas.intent,
  CreatedIntent: schemas.createdIntent,
  Escrow: schemas.escrow,
  BookRequest: schemas.bookRequest,
  BookResponse: schemas.bookResponse,
  Passenger: schemas.passenger,
  Order: schemas.order,
  AffiliateRequest: schemas.affiliateRequest,
  Affiliate: schemas.affiliate,
  AffiliateCredit: schemas.affiliateCredit,
  RefundRequest: schemas.refundRequest,
  RefundRequestResponse: schemas.refundRequestResponse,
  RefundQueue: operator.refundQueue,
  RefundCase: operator.refundCase,
  RefundPlan: operator.refundPlan,
  Stuck: stuck.stuck,
  StuckItem: stuck.stuckItem,
  StuckPlan: stuck.stuckPlan,
  ResolveRequest: stuck.resolveRequest,
  Switches: operator.switches,
  AuditTrail: operator.auditTrail,
  OperatorKey: operator.operatorKey,
  OperatorKeys: operator.operatorKeys,
  IssuedKey: operator.issuedKey,
  ReleaseRequest: operator.releaseRequest,
  NoteRequest: operator.noteRequest,
  ApproveRequest: operator.approveRequest,
  RejectRequest: operator.rejectRequest,
  SwitchesRequest: operator.switchesRequest,
  IssueKeyRequest: operator.issueKeyRequest,
  Nothing: operator.nothing,
  Health: schemas.health,
  Offer: offers.offer,
  Slice: offers.slice,
  Segment: offers.segment,
  Conditions: offers.conditions,
  FareOption: offers.fareOption,
  AvailableService: offers.availableService,
} satisfies Record<string, z.ZodType>;

/**
 * The machine-readable description (OpenAPI 3.1), made from the schemas that requests are parsed with and from the
 * prices that are charged.
 * @param publicUrl where the service is reached, where that is known
 */
export function openapiDocument(options: FlightsOptions, publicUrl = '/') {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Flight search and escrow booking',
      version: '1.0.0',
      description:
        'Paid flight search, escrow-backed booking intents, booking and order status. Paid calls use x402 version 2 (USDC on Solana): a call without PAYMENT-SIGNATURE answers 402 with the challenge to sign.',
    },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: publicUrl }],
    paths: paths(options),
    components: {
      schemas: { ...componentSchemas(), PaymentRequired: PAYMENT_REQUIRED, Error: errorSchema() },
      securitySchemes: {
        x402: {
          type: 'apiKey',
          in: 'header',
          name: 'PAYMENT-SIGNATURE',
          description: 'Base64 of an x402 version 2 payment payload.',
        },
        sponsoredPreview: {
          type: 'apiKey',
          in: 'header',
          name: 'X-GATEWAY-SPONSORED-SIGNATURE',
          description: "A gateway's signature of the request, with its three companion headers.",
        },
        familyName: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Passenger-Family-Name',
          description: "The lead passenger's family name.",
        },
        operatorKey: { type: 'http', scheme: 'bearer', description: 'An operator key: flk_op_…' },
        supportCode: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Customer-Support-Code',
          description: 'The code that was returned once, when the intent was created.',
        },
      },
    },
  };
}

function componentSchemas(): Record<string, unknown> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(COMPONENTS)) registry.add(schema, { id });
  // Requests are described as they are sent: a field with a default may be left out.
  const uri = (id: string) => `#/components/schemas/${id}`;
  const made = z.toJSONSchema(registry, { uri, io: 'input', target: 'draft-2020-12' });
  return Object.fromEntries(
    Object.entries(made.schemas).map(([id, schema]) => {
      const { $schema: _dialect, $id: _id, ...rest } = schema;
      return [id, rest];
    }),
  );
}

function errorSchema() {
  const codes = (Object.keys(PROBLEMS) as ProblemCode[]).filter((code) => 'status' in PROBLEMS[code]);
  return {
    type: 'object',
    required: ['code', 'message'],
    additionalProperties: false,
    properties: {
      code: { type: 'string', enum: codes },
      message: { type: 'string', description: 'For people; says what to do next.' },
      detail: { type: 'object', additionalProperties: true },
    },
  };
}

/** The 402 body equals the decoded PAYMENT-REQUIRED header. */
const PAYMENT_REQUIRED = {
  type: 'object',
  required: ['x402Version', 'error', 'resource', 'accepts'],
  properties: {
    x402Version: { const: 2 },
    error: { type: 'string' },
    resource: {
      type: 'object',
      required: ['url'],
      properties: {
        url: { type: 'string' },
        description: { type: 'string' },
        mimeType: { type: 'string' },
      },
    },
    accepts: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['scheme', 'network', 'asset', 'amount', 'payTo', 'maxTimeoutSeconds', 'extra'],
        properties: {
          scheme: { const: 'exact' },
          network: { type: 'string' },
          asset: { type: 'string' },
          amount: { type: 'string', pattern: '^\\d+$', description: 'Atomic units.' },
          payTo: { type: 'string' },
          maxTimeoutSeconds: { type: 'integer' },
          extra: { type: 'object', additionalProperties: true },
        },
      },
    },
  },
};
