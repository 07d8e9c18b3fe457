import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPlatform, type Platform, railOf } from './platform-server.ts';
import { ANA, ORDER, openStack, type Stack } from './stack.ts';

/** `webhooks` of the description are what the service sends to platforms, field by field and header by header. */

interface Webhook {
  readonly operationId: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: object;
  }[];
  readonly requestBody: Content;
  readonly responses: Readonly<Record<string, Content>>;
}
interface Content {
  readonly content: { readonly 'application/json': { readonly schema: { readonly $ref: string } } };
}
interface Document {
  readonly webhooks: Readonly<Record<string, { readonly post: Webhook }>>;
  readonly components: { readonly schemas: Record<string, { readonly properties?: object }> };
}

const RAILS = [railOf('ONRAMP', 'BRL', 'SOLANA_USDC', 'BRA_PIX'), railOf('OFFRAMP', 'SOLANA_USDC', 'BRL', 'BRA_PIX')];
/** What HTTP itself and the two clients of HTTP add. */
const OF_HTTP = ['accept', 'accept-encoding', 'connection', 'content-length', 'content-type', 'host', 'user-agent'];

let stack: Stack;
let platform: Platform;
let document: Document;
let ajv: Ajv2020;

beforeAll(async () => {
  stack = await openStack();
  platform = await openPlatform();
  await platform.partner(stack, 'par_own', 'INTEGRATION', RAILS);
  await platform.partner(stack, 'par_own_redirect', 'REDIRECT', RAILS);
  document = (await stack.call<Document>('/partner/openapi.json', undefined, { method: 'GET' })).body;
  ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'document');
});
afterAll(async () => {
  await stack.close();
  await platform.close();
});

const schemaOf = ({ content }: Content) => content['application/json'].schema;
const faults = (schema: object, value: unknown) => {
  const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
  const check = ajv.compile(JSON.parse(text) as object);
  return check(value) ? [] : check.errors;
};
const described = (name: string): Webhook => {
  const { post } = document.webhooks[name] ?? {};
  if (!post) throw new Error(`${name} is not described`);
  return post;
};

const create = async (more: object) => {
  const answer = await stack.customer('CreateOrder', { ...ORDER, partnerId: 'par_own', ...more });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
};
const OFFRAMP = { rampType: 'OFFRAMP', fromCurrency: 'SOLANA_USDC', toCurrency: 'BRL' };
const REDIRECT = { partnerId: 'par_own_redirect', customerIp: '203.0.113.7' };

describe('each request to a platform is as it is described', () => {
  beforeAll(async () => {
    await create({});
    await create(OFFRAMP);
    await create(REDIRECT);
    await create({ ...REDIRECT, walletAddress: '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin' });
  });

  test('there are two, and both are sent', () => {
    const sent = platform.received.map(({ path }) => path.split('/').at(-1));
    expect(new Set(sent)).toEqual(new Set(Object.keys(document.webhooks)));
    expect(platform.received.map(({ body }) => body.customerId ?? ANA)).toEqual([ANA, ANA, ANA, ANA]);
  });

  test.each(['create-order', 'redirect-order'])('%s: every field and header, and no other', (name) => {
    const { parameters, requestBody } = described(name);
    const requests = platform.received.filter(({ path }) => path.endsWith(`/${name}`));
    expect(requests).toHaveLength(2);
    for (const { headers, body } of requests) {
      expect(faults(schemaOf(requestBody), body)).toEqual([]);
      const named = parameters.map((one) => one.name.toLowerCase());
      expect(
        Object.keys(headers)
          .filter((one) => !OF_HTTP.includes(one))
          .sort(),
      ).toEqual(named.sort());
      for (const { name: header, schema } of parameters)
        expect(faults(schema, headers[header.toLowerCase()])).toEqual([]);
    }
    const schema = document.components.schemas[schemaOf(requestBody).$ref.split('/').at(-1) ?? ''];
    const sent = new Set(requests.flatMap(({ body }) => Object.keys(body)));
    expect([...sent].sort()).toEqual(Object.keys(schema?.properties ?? {}).sort());
  });
});

describe('each answer that counts is as it is described', () => {
  const order = { externalOrderId: 'OWN-1', status: 'AWAITING_FUNDS', toAmount: '10.5' };
  const answers: [string, string, unknown, unknown][] = [
    [
      'create-order',
      '200',
      { ...order, depositInstructions: { bankName: 'Own' }, more: 1 },
      { ...order, status: 'REFUNDED' },
    ],
    ['create-order', '422', { error: { reason: 'a', customerFacingReason: 'b' } }, { error: 'Forbidden' }],
    ['redirect-order', '200', { redirectUrl: 'https://own.example/go', toAmount: '1' }, { redirectUrl: 1 }],
    ['redirect-order', '503', { error: 'Later.' }, { error: { reason: 'a', customerFacingReason: 'b' } }],
  ];
  test.each(answers)('%s %s', (name, status, good, bad) => {
    const { responses } = described(name);
    expect(Object.keys(responses)).toEqual(['200', '400', '422', '503']);
    const schema = schemaOf(responses[status] as Content);
    expect(faults(schema, good)).toEqual([]);
    expect(faults(schema, bad)).not.toEqual([]);
  });
});
