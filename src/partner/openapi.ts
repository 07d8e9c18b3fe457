import * as z from 'zod';
import { describe, publicCodes, ref } from '../http/index.ts';
import type { ProblemCode } from '../kernel/problems.ts';
import { CONNECT_CODES } from '../wire/partner/kinds.ts';
import { sentCustomerData, shownCustomerData } from '../wire/partner/requirements.ts';
import { connectCodeOf } from './connect-errors.ts';
import { customerDataSchema } from './customer-data/index.ts';
import { deskRoutes } from './desk/index.ts';
import {
  createOrderAnswer,
  createOrderBody,
  ERRORS,
  type OutboundOperation,
  redirectOrderAnswer,
  redirectOrderBody,
} from './platforms/index.ts';
import { procedureRoutes } from './routes.ts';

/** Makes the OpenAPI document from the route tables. @param serviceName `<svc>` of the paths */
export const openapiDocument = (serviceName: string) =>
  describe({
    info: {
      title: 'Partner orders and customer compliance',
      version: '1.0.0',
      description:
        "Calls are Connect's unary form with the JSON codec: POST, application/json. Fields may be sent in camelCase or snake_case, null is unset, answers are camelCase. Errors are { code, message, detail } with a code of Connect's; detail.reason is ours.",
    },
    options: undefined,
    tables: [
      { table: procedureRoutes(serviceName), refusal: connectRefusal },
      { table: deskRoutes, refusal: operatorRefusal },
    ],
    schemas: { ...customerData(), Error: errorSchema(), OperatorError: OPERATOR_ERROR, ...webhookSchemas() },
    webhooks: webhooks(),
    // Customer data is described once.
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema !== sentCustomerData && zodSchema !== shownCustomerData) return;
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
      Object.assign(jsonSchema, ref(zodSchema === sentCustomerData ? 'CustomerData' : 'ShownCustomerData'));
    },
    securitySchemes: {
      apiKey: {
        type: 'apiKey',
        in: 'header',
        name: 'X-API-Key',
        description: 'A key of the partner: flk_demo_… or flk_live_…, for one environment.',
      },
      customerToken: {
        type: 'http',
        scheme: 'bearer',
        description: 'A token for one customer that lives for minutes.',
      },
      operatorKey: { type: 'http', scheme: 'bearer', description: 'An operator key: flk_op_…' },
    },
  });

const connectRefusal = (codes: readonly ProblemCode[]) => ({
  allOf: [
    ref('Error'),
    {
      properties: {
        code: { enum: [...new Set(codes.map(connectCodeOf))] },
        detail: { properties: { reason: { enum: codes } } },
      },
    },
  ],
});

const operatorRefusal = (codes: readonly ProblemCode[]) => ({
  allOf: [ref('OperatorError'), { properties: { code: { enum: codes } } }],
});

/** Sent and shown customer data. Shown data is masked and has no files, so none of its fields is required. */
function customerData() {
  const sent = schemaOf(customerDataSchema, 'input');
  const shown = JSON.stringify(sent, (name, value: unknown) =>
    name === 'required' && Array.isArray(value) ? undefined : value,
  ).replaceAll('"oneOf":', '"anyOf":');
  return { CustomerData: sent, ShownCustomerData: JSON.parse(shown) as object };
}

function errorSchema() {
  return {
    type: 'object',
    required: ['code', 'message', 'detail'],
    additionalProperties: false,
    properties: {
      code: { type: 'string', enum: CONNECT_CODES },
      message: { type: 'string', description: 'For people; says what to do next.' },
      detail: {
        type: 'object',
        required: ['reason'],
        properties: { reason: { type: 'string', enum: publicCodes() } },
        additionalProperties: true,
      },
    },
  };
}

const OPERATOR_ERROR = {
  type: 'object',
  required: ['code', 'message'],
  additionalProperties: false,
  properties: {
    code: { type: 'string' },
    message: { type: 'string' },
    detail: { type: 'object', additionalProperties: true },
  },
};

const TEXT = { type: 'string' };
const header = (name: string, description: string, schema: object = TEXT) => ({
  name,
  in: 'header',
  required: true,
  schema,
  description,
});

/** The headers of every request to a platform (docs/partner-platform.md). */
const SIGNED = [
  header('webhook-id', 'The same for every try of one order.'),
  header('webhook-timestamp', 'Seconds since 1970, of this try.', { type: 'string', pattern: '^\\d+$' }),
  header(
    'webhook-signature',
    'Standard Webhooks: `v1,` and a base64 HMAC-SHA256 of id, timestamp and body; two while the secret rotates.',
    { type: 'string', pattern: '^v1,\\S+( v1,\\S+)*$' },
  ),
  header('Idempotency-Key', 'The same as webhook-id. Answer a repetition with 200 and the same body.'),
];
const FORWARDED = header('X-Forwarded-For', "The end user's address.");

const WEBHOOKS = {
  'create-order': {
    summary: 'Take an order. Sent to `{platform_url}/create-order` of an integration partner.',
    id: 'CreateOrder',
    request: createOrderBody,
    answer: createOrderAnswer,
    headers: SIGNED,
  },
  'redirect-order': {
    summary: 'Say where the customer goes. Sent to `{platform_url}/redirect-order` of a redirect partner.',
    id: 'RedirectOrder',
    request: redirectOrderBody,
    answer: redirectOrderAnswer,
    headers: [...SIGNED, FORWARDED],
  },
} satisfies Record<OutboundOperation, object>;
const ALL = Object.entries(WEBHOOKS) as [OutboundOperation, (typeof WEBHOOKS)[OutboundOperation]][];

const schemaOf = (schema: z.ZodType, io: 'input' | 'output') => {
  const { $schema: _dialect, ...document } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return document;
};

const webhookSchemas = (): Record<string, object> =>
  Object.fromEntries(
    ALL.flatMap(([operation, { id, request, answer }]) => [
      [`${id}Message`, schemaOf(request, 'output')],
      // Unknown fields of an answer are ignored.
      [`${id}Answer`, { ...schemaOf(answer, 'output'), additionalProperties: true }],
      [`${id}Refusal`, schemaOf(ERRORS[operation], 'input')],
    ]),
  );

const json = (name: string) => ({ 'application/json': { schema: ref(name) } });

const webhooks = (): object =>
  Object.fromEntries(
    ALL.map(([operation, { summary, id, headers }]) => [
      operation,
      {
        post: {
          operationId: `sent${id}`,
          summary,
          security: [],
          parameters: headers,
          requestBody: { required: true, content: json(`${id}Message`) },
          responses: {
            200: { description: 'Taken.', content: json(`${id}Answer`) },
            ...Object.fromEntries(
              [
                [400, 'The request is not valid: the order is refused.'],
                [422, 'Refused, for example outside the limits.'],
                [503, 'Try again, after `Retry-After`.'],
              ].map(([status, description]) => [status, { description, content: json(`${id}Refusal`) }]),
            ),
          },
        },
      },
    ]),
  );
