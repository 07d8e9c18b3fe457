import { createHash } from 'node:crypto';
import { type DescService, fromJson, type JsonValue, type Message, toJson } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient, type Interceptor } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { serve } from '@hono/node-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ANA, EVA, OPERATIONS, ORDER, openStack, PIX, type Stack } from '../partner/stack.ts';
import { servicesOf } from './connect-services.ts';

/**
 * A stock Connect client (connect-node over HTTP/1.1, JSON codec) built from the committed .proto files alone. It reads
 * codes and messages as any Connect client does; nothing here knows our error form.
 */

type Plain = Record<string, JsonValue>;
interface Headers {
  readonly key?: string | null;
  readonly token?: string | null;
  readonly more?: Readonly<Record<string, string>>;
}

let stack: Stack;
let url: string;
let stop: () => Promise<void>;
let services: Record<'partner' | 'customer', DescService>;

beforeAll(async () => {
  stack = await openStack();
  const listening = await new Promise<{ port: number; close: () => Promise<void> }>((resolve) => {
    const server = serve(
      { fetch: (request) => stack.service.fetch(request), port: 0, hostname: '127.0.0.1' },
      ({ port }) => resolve({ port, close: () => new Promise((done) => server.close(() => done())) }),
    );
  });
  url = `http://127.0.0.1:${listening.port}`;
  stop = listening.close;
  const find = servicesOf(['farelock/core/v1/partner.proto', 'farelock/core/v1/customer.proto']);
  services = { partner: find('farelock.core.v1.partner.Service'), customer: find('farelock.core.v1.customer.Service') };
});
afterAll(async () => {
  await stop();
  await stack.close();
});

/** Calls an operation, input and answer written in ProtoJSON. What a message leaves at its default is not in it. */
async function call(
  service: 'partner' | 'customer',
  operation: string,
  input: Plain,
  { key = stack.key, token = stack.token, more = {} }: Headers = {},
): Promise<Plain> {
  const withHeaders: Interceptor = (next) => (request) => {
    if (key !== null) request.header.set('X-API-Key', key);
    if (token !== null && service === 'customer') request.header.set('Authorization', `Bearer ${token}`);
    for (const [name, value] of Object.entries(more)) request.header.set(name, value);
    return next(request);
  };
  const transport = createConnectTransport({
    baseUrl: url,
    httpVersion: '1.1',
    useBinaryFormat: false,
    interceptors: [withHeaders],
  });
  const described = services[service];
  const method = described.methods.find(({ name }) => name === operation);
  if (!method) throw new Error(`${operation} is in no .proto`);
  const client = createClient(described, transport) as unknown as Record<string, (input: Message) => Promise<Message>>;
  // Checked against the .proto: a field or an enum value that it does not have fails here.
  const answer = await client[method.localName]?.(fromJson(method.input, input));
  if (!answer) throw new Error(`${operation} gave no answer`);
  return toJson(method.output, answer) as Plain;
}

/** The error that a stock client raises. */
async function failure(...args: Parameters<typeof call>): Promise<ConnectError> {
  try {
    const answer = await call(...args);
    throw new Error(`answered ${JSON.stringify(answer)}`);
  } catch (error) {
    if (error instanceof ConnectError) return error;
    throw error;
  }
}

test('the .proto describes every operation that is served, all of them unary', () => {
  for (const service of ['partner', 'customer'] as const) {
    expect(services[service].methods.map(({ name }) => name).sort()).toEqual([...OPERATIONS[service]].sort());
    for (const { methodKind } of services[service].methods) expect(methodKind).toBe('unary');
  }
});

test('every operation is answered in a form that the stock client reads', async () => {
  const { partnerId: _, ...wanted } = ORDER;
  const offers = await call('customer', 'GetAvailablePartners', wanted);
  const [best] = offers.partners as Plain[];
  expect(best).toMatchObject({ partnerId: expect.any(String), toAmount: expect.any(String) });

  const made = await call('customer', 'CreateOrder', ORDER);
  expect(made).toMatchObject({ order: { status: 'AWAITING_FUNDS', createdAt: expect.stringMatching(/Z$/) } });
  expect(made.order).not.toHaveProperty('customerId');
  const { id } = made.order as { id: string };

  const updated = await call('partner', 'UpdateOrder', {
    orderId: id,
    status: 'FUNDS_RECEIVED',
    sourceTransactionId: 'wire-1',
    depositInstructions: { bankName: 'Sandbank' },
  });
  expect(updated).toMatchObject({
    order: { id, status: 'FUNDS_RECEIVED', sourceTransactionId: 'wire-1', customerId: ANA },
  });
  expect(await call('partner', 'GetOrderDetails', { orderId: id })).toMatchObject({ order: { id } });
  const listed = await call('partner', 'GetOrders', { status: 'FUNDS_RECEIVED' });
  expect(listed.totalCount).toBeGreaterThan(0);
  expect((listed.orders as { id: string }[]).map((one) => one.id)).toContain(id);
  expect(await call('partner', 'GetOrders', {})).toMatchObject({ totalCount: expect.any(Number) });

  const added = await call('partner', 'AddCustomerRequirement', { customerId: EVA, maxAgeDays: 30, data: 'SELFIE' });
  expect(added.requirementId).toEqual(expect.any(String));
  const eva = { token: await stack.issueToken(EVA) };
  const asks = await call('customer', 'GetOnboardingRequirements', {}, eva);
  expect(asks.complianceStatus).toBe('COMPLIANCE_STATUS_PENDING');
  expect(JSON.stringify(asks.requirements)).toContain('SELFIE');
  const asked = asks.requirements as { attestationRequirement?: { terms: Plain } }[];
  const terms = asked.find((one) => one.attestationRequirement)?.attestationRequirement?.terms;
  expect(await call('customer', 'AcceptTerms', { ...terms }, eva)).toEqual({
    complianceStatus: 'COMPLIANCE_STATUS_PENDING',
  });
  const image = Buffer.from('89504e470d0a1a0a', 'hex');
  const imageHash = createHash('sha256').update(image).digest('hex');
  const data: Plain[] = [
    { name: { firstName: 'Eva', lastName: 'Luna' } },
    { selfie: { image: image.toString('base64'), imageHash } },
    { intermediary: { isIntermediary: false } },
    { bankAccount: { clabe: { accountNumber: '032180000118359719' } } },
    { cryptoWallet: { type: 'SOLANA', address: '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin' } },
  ];
  const submitted = await call('customer', 'SubmitCustomerData', { data }, eva);
  expect((submitted.items as { type: string }[]).map(({ type }) => type)).toEqual([
    ...['NAME', 'SELFIE', 'INTERMEDIARY', 'BANK_ACCOUNT', 'CRYPTO_WALLET'],
  ]);
});

describe('errors are what a Connect client expects', () => {
  const cases: Record<string, [Code, () => Promise<ConnectError>]> = {
    'a missing key is unauthenticated': [
      Code.Unauthenticated,
      () => failure('partner', 'GetOrders', {}, { key: null }),
    ],
    'a missing token is unauthenticated': [
      Code.Unauthenticated,
      () => failure('customer', 'GetOnboardingRequirements', {}, { token: null }),
    ],
    'a missing field is invalid_argument': [Code.InvalidArgument, () => failure('partner', 'GetOrderDetails', {})],
    'an unknown order is not_found': [
      Code.NotFound,
      () => failure('partner', 'GetOrderDetails', { orderId: 'ord_nothing' }),
    ],
    "another partner's order is not_found": [
      Code.NotFound,
      async () => {
        const { id } = await stack.order();
        const { key } = await stack.issueKey(PIX);
        return failure('partner', 'GetOrderDetails', { orderId: id }, { key });
      },
    ],
    'an unknown customer is not_found': [
      Code.NotFound,
      () => failure('partner', 'AddCustomerRequirement', { customerId: 'cus_nothing', data: 'SELFIE' }),
    ],
    'an invalid transition is aborted': [
      Code.Aborted,
      async () => {
        const { id } = await stack.order();
        return failure('partner', 'UpdateOrder', { orderId: id, status: 'REFUNDED' });
      },
    ],
    'a stale version is aborted': [
      Code.Aborted,
      async () => {
        const { id } = await stack.order();
        return failure('partner', 'UpdateOrder', { orderId: id, toAmount: '1' }, { more: { 'If-Match': '"99"' } });
      },
    ],
    'what a partner refuses is failed_precondition': [
      Code.FailedPrecondition,
      () => failure('customer', 'CreateOrder', { ...ORDER, fromAmount: '900000000' }),
    ],
    'a body that is too large is resource_exhausted': [
      Code.ResourceExhausted,
      () => failure('partner', 'GetOrderDetails', { orderId: 'x'.repeat(70_000) }),
    ],
  };
  test.each(Object.keys(cases))('%s', async (name) => {
    const [code, run] = cases[name] ?? [];
    const error = await run?.();
    expect(error?.code).toBe(code);
    expect(error?.rawMessage).toMatch(/\w/);
    expect(error?.details).toEqual([]);
    expect(error?.metadata.get('x-request-id')).toMatch(/^req_/);
  });

  test('the message of an error names the fields, and the reason is in its metadata', async () => {
    const wrong = await failure('partner', 'UpdateOrder', { orderId: 'ord_1', toAmount: '-5' });
    expect(wrong.rawMessage).toContain('toAmount must be a decimal');
    expect(wrong.metadata.get('x-error-reason')).toBe('invalid_request');
    const { id } = await stack.order();
    const moved = await failure('partner', 'UpdateOrder', { orderId: id, status: 'REFUNDED' });
    expect(moved.rawMessage).toContain('Allowed: FUNDS_RECEIVED, IN_REVIEW, CANCELED, ERROR.');
    expect(moved.metadata.get('x-error-reason')).toBe('invalid_status_transition');
  });

  test('another codec is refused: the binary one is not spoken', async () => {
    const transport = createConnectTransport({ baseUrl: url, httpVersion: '1.1', useBinaryFormat: true });
    const client = createClient(services.partner, transport) as unknown as Record<
      string,
      (input: Plain) => Promise<Message>
    >;
    await expect(client.getOrders?.({})).rejects.toMatchObject({ code: expect.any(Number) });
    const raw = await fetch(`${url}/farelock.core.v1.partner.Service/GetOrders`, {
      method: 'POST',
      headers: { 'content-type': 'application/proto', 'x-api-key': stack.key },
      body: '',
    });
    expect(raw.status).toBe(415);
  });

  test('a deadline, a compressed answer and an unknown operation', async () => {
    expect(await call('partner', 'GetOrders', {}, { more: { 'Connect-Timeout-Ms': '5000' } })).toHaveProperty('orders');
    const unknown = await fetch(`${url}/farelock.core.v1.partner.Service/GetEverything`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': stack.key },
      body: '{}',
    });
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ code: expect.any(String), message: expect.any(String) });
  });
});
