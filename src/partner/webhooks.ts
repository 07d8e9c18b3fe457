import * as z from 'zod';
import { ref } from '../http/index.ts';
import { createOrderBody, redirectOrderBody } from './orders/index.ts';
import { createOrderAnswer, ERRORS, type OutboundOperation, redirectOrderAnswer } from './platforms/index.ts';

const TEXT = { type: 'string' };
const header = (name: string, description: string, schema: object = TEXT) => ({
  name,
  in: 'header',
  required: true,
  schema,
  description,
});

/** On every request to a platform (docs/partner-platform.md). */
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

interface Webhook {
  readonly summary: string;
  readonly id: string;
  readonly request: z.ZodType;
  readonly answer: z.ZodType;
  readonly headers: readonly object[];
}

const WEBHOOKS: Readonly<Record<OutboundOperation, Webhook>> = {
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
};
const ALL = Object.entries(WEBHOOKS) as [OutboundOperation, Webhook][];

const schemaOf = (schema: z.ZodType, io: 'input' | 'output') => {
  const { $schema: _dialect, ...document } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return document;
};

/** The messages between the service and a platform. */
export const webhookSchemas = (): Record<string, object> =>
  Object.fromEntries(
    ALL.flatMap(([operation, { id, request, answer }]) => [
      [`${id}Message`, schemaOf(request, 'output')],
      // What a platform may answer beyond this is passed over.
      [`${id}Answer`, { ...schemaOf(answer, 'output'), additionalProperties: true }],
      [`${id}Refusal`, schemaOf(ERRORS[operation], 'input')],
    ]),
  );

const json = (name: string) => ({ 'application/json': { schema: ref(name) } });

/** What the service sends to partners' platforms, and which answers count. */
export const webhooks = (): object =>
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
