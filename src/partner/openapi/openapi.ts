import * as z from 'zod';
import { failures, json, REQUEST_ID, ref } from '../../http/openapi.ts';
import { PROBLEMS, type ProblemCode } from '../../kernel/problems.ts';
import { MOST_BODY_BYTES } from '../body.ts';
import type { Procedure } from '../call.ts';
import { CONNECT_CODES, connectCodeOf } from '../connect-errors.ts';
import { customerDataSchema } from '../customer-data/schema.ts';
import { OPERATIONS } from './openapi-operations.ts';
import { operatorComponents, operatorPaths } from './openapi-operator.ts';

/** Refusals that every procedure may answer with. */
const ANY: readonly ProblemCode[] = [
  'invalid_request',
  'invalid_json',
  'partner_key_required',
  'partner_key_invalid',
  'unknown_procedure',
  'method_not_allowed',
  'payload_too_large',
  'unsupported_media_type',
  'internal_error',
  'not_ready',
];
const OF_A_CUSTOMER: readonly ProblemCode[] = ['customer_token_required', 'customer_token_invalid'];

/**
 * The machine-readable description of the partner service (OpenAPI 3.1), made from the very schemas that requests are
 * read with. `serviceName` is `<svc>` of the paths.
 */
export function openapiDocument(procedures: readonly Procedure[], serviceName: string, publicUrl = '/') {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Partner orders and customer compliance',
      version: '1.0.0',
      description:
        "Calls are Connect's unary form with the JSON codec: POST, application/json. Fields may be sent in camelCase or snake_case, null is unset, answers are camelCase. Errors are { code, message, detail } with a code of Connect's; detail.reason is ours.",
    },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: publicUrl }],
    paths: {
      ...Object.fromEntries(procedures.map((one) => [pathOf(one, serviceName), { post: operation(one) }])),
      ...operatorPaths(),
    },
    components: {
      schemas: { ...messages(procedures), ...operatorComponents(), Error: errorSchema() },
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
    },
  };
}

const pathOf = ({ service, name }: Procedure, serviceName: string): string =>
  `/${serviceName}.core.v1.${service}.Service/${name}`;

const header = (name: string, description: string, schema: object = { type: 'string' }) => ({
  name,
  in: 'header',
  required: false,
  schema,
  description,
});

function operation(one: Procedure) {
  const { summary, codes } = OPERATIONS[one.name] ?? { summary: one.name, codes: [] };
  const mostBytes = one.mostBodyBytes ?? MOST_BODY_BYTES;
  return {
    operationId: one.name,
    tags: [one.service],
    summary,
    security: [{ apiKey: [], ...(one.concerns === 'customer' ? { customerToken: [] } : {}) }],
    parameters: [
      header('Connect-Protocol-Version', 'As Connect clients send it.', { const: '1' }),
      header('Connect-Timeout-Ms', 'As Connect clients send it.', { type: 'string', pattern: '^\\d{1,10}$' }),
      ...(one.writes
        ? [
            header(
              'Idempotency-Key',
              'For 24 hours the first answer is given again to the same request, and another request is refused.',
              { type: 'string', maxLength: 255 },
            ),
          ]
        : []),
      ...(one.name === 'UpdateOrder'
        ? [header('If-Match', 'A version of the order, such as "3": a stale writer is refused.')]
        : []),
    ],
    requestBody: {
      required: true,
      description: `At most ${mostBytes / 1024} KiB.`,
      content: json(ref(`${one.name}Request`)),
    },
    responses: {
      200: {
        description: 'Done.',
        headers: {
          ...REQUEST_ID,
          ...(one.headers
            ? { ETag: { schema: { type: 'string' }, description: "The order's version, for If-Match." } }
            : {}),
        },
        content: json(ref(`${one.name}Response`)),
      },
      ...failures([...ANY, ...(one.concerns === 'customer' ? OF_A_CUSTOMER : []), ...codes], (code) => ({
        allOf: [
          ref('Error'),
          {
            properties: {
              code: { enum: [...new Set(code.map(connectCodeOf))] },
              detail: { properties: { reason: { enum: code } } },
            },
          },
        ],
      })),
    },
  };
}

/** Requests are described as they are sent, answers as they come. */
function messages(procedures: readonly Procedure[]): Record<string, unknown> {
  const made: Record<string, unknown> = {
    CustomerData: schemaOf(customerDataSchema, 'input'),
    ShownCustomerData: inPart(schemaOf(customerDataSchema, 'input')),
  };
  for (const { name, input, output } of procedures) {
    made[`${name}Request`] = schemaOf(input, 'input');
    made[`${name}Response`] = output ? schemaOf(output, 'output') : { type: 'object' };
  }
  return made;
}

/** What is on record is shown masked and without its files: the same fields, none of them required. */
const inPart = (schema: object): object =>
  JSON.parse(
    JSON.stringify(schema, (name, value: unknown) =>
      name === 'required' && Array.isArray(value) ? undefined : value,
    ).replaceAll('"oneOf":', '"anyOf":'),
  ) as object;

export function schemaOf(schema: z.ZodType, io: 'input' | 'output'): object {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      // One item of customer data is described once.
      if (zodSchema._zod.def.type === 'record') {
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
        jsonSchema.$ref = `#/components/schemas/${io === 'input' ? '' : 'Shown'}CustomerData`;
      }
    },
  });
  return rest;
}

function errorSchema() {
  const reasons = (Object.keys(PROBLEMS) as ProblemCode[]).filter((code) => 'status' in PROBLEMS[code]);
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
        properties: { reason: { type: 'string', enum: reasons } },
        additionalProperties: true,
      },
    },
  };
}
