import * as z from 'zod';
import { describe, publicCodes, ref } from '../http/index.ts';
import type { ProblemCode } from '../kernel/problems.ts';
import { CONNECT_CODES } from '../wire/partner/errors.ts';
import { sentCustomerData, shownCustomerData } from '../wire/partner/requirements.ts';
import { connectCodeOf } from './connect-errors.ts';
import { customerDataSchema } from './customer-data/index.ts';
import { deskRoutes } from './desk/index.ts';
import { procedureRoutes } from './routes.ts';
import { webhookSchemas, webhooks } from './webhooks.ts';

/**
 * The machine-readable description, made from the route tables. `serviceName` is `<svc>` of the paths.
 */
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
    // One item of customer data is described once.
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

/** What is on record is shown masked and without its files: the same fields, none of them required. */
function customerData() {
  const { $schema: _dialect, ...sent } = z.toJSONSchema(customerDataSchema, { io: 'input', unrepresentable: 'any' });
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
