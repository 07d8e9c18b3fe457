import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { railOf } from './platform-server.ts';
import { ANA, type Failure, ORDER, type OrderAnswer, openStack, pathOf, type Stack } from './stack.ts';

/** Both outbound requests as a platform on a port of its own gets them: every field and header of the specification. */

interface Received {
  readonly url: string;
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

let stack: Stack;
const received: Received[] = [];
/** What the platform answers next. */
let next: { status: number; body: unknown; headers?: Record<string, string> };
const server = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  request.on('end', () => {
    received.push({ url: request.url ?? '', method: request.method ?? '', headers: request.headers, text });
    response.writeHead(next.status, { 'content-type': 'application/json', ...next.headers });
    response.end(JSON.stringify(next.body));
  });
});
const secrets: Record<string, string> = {};

beforeAll(async () => {
  // A stranger's library compares the signature's time with its own clock.
  stack = await openStack({ clock: systemClock });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const [partner_id, type] of [
    ['par_own', 'INTEGRATION'],
    ['par_own_redirect', 'REDIRECT'],
  ] as const) {
    const made = await stack.operator<{ webhook_secret: string }>('partners', {
      partner_id,
      name: partner_id,
      type,
      platform_url: `${origin}/base`,
      icon: 'https://own.example/icon.svg',
      terms_url: 'https://own.example/terms',
      privacy_policy_url: 'https://own.example/privacy',
      offering: { rails: [railOf('ONRAMP', 'BRL', 'SOLANA_USDC', 'BRA_PIX')] },
    });
    secrets[partner_id] = made.webhook_secret;
  }
});
afterAll(async () => {
  await stack.close();
  await new Promise((closed) => server.close(closed));
});

const lastReceived = (): Received & { body: Record<string, unknown> } => {
  const last = received.at(-1);
  if (!last) throw new Error('nothing came');
  return { ...last, body: JSON.parse(last.text) as Record<string, unknown> };
};
const verified = (partnerId: string, { headers, text }: Received) =>
  new Webhook(secrets[partnerId] ?? '').verify(text, headers as Record<string, string>);

test('Create Order is a signed POST with exactly the ten fields, all texts, under the order’s id', async () => {
  const depositInstructions = { bankName: 'Own', amount: '60', depositMessage: 'OWN-1' };
  next = {
    status: 200,
    body: { externalOrderId: 'OWN-1', status: 'AWAITING_FUNDS', toAmount: '10.5', depositInstructions },
  };
  const order = await stack.created({ partnerId: 'par_own' });
  expect(order).toMatchObject({ status: 'AWAITING_FUNDS', destinationAmount: '10.5', depositInstructions });
  const sent = lastReceived();
  expect([sent.method, sent.url]).toEqual(['POST', '/base/create-order']);
  expect(sent.headers['content-type']).toMatch(/^application\/json/);
  expect(sent.headers['idempotency-key']).toBe(order.id);
  expect(sent.body).toEqual({
    orderId: order.id,
    customerId: ANA,
    fromCurrency: ORDER.fromCurrency,
    toCurrency: ORDER.toCurrency,
    fromAmount: ORDER.fromAmount,
    type: 'ONRAMP',
    paymentMethod: ORDER.paymentMethod,
    customerPaymentDetailsDataId: order.customerPaymentDetailsDataId,
    customerWalletDataId: order.customerWalletDataId,
    network: 'SOLANA',
  });
  expect(Object.values(sent.body).every((value) => typeof value === 'string' && value !== '')).toBe(true);
  expect(() => verified('par_own', sent)).not.toThrow();
});

test('Redirect Order has seven fields and the wallet, and X-Forwarded-For with the end user’s address, whoever makes the call', async () => {
  next = {
    status: 200,
    body: { redirectUrl: 'https://own.example/go', toAmount: '10.4', rawResponse: { any: ['thing'] } },
  };
  const { partnerId: _, ...wanted } = ORDER;
  const request = new Request(`http://service.test${pathOf('customer', 'CreateOrder')}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': stack.key,
      authorization: `Bearer ${stack.token}`,
      'x-forwarded-for': '6.6.6.6',
    },
    body: JSON.stringify({
      ...wanted,
      partnerId: 'par_own_redirect',
      walletAddress: '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin',
      customerIp: '203.0.113.7',
    }),
  });
  const response = await stack.service.fetch(request, { clientAddress: '198.51.100.1' });
  expect([response.status, await response.json()]).toEqual([
    200,
    { redirectUrl: 'https://own.example/go', toAmount: '10.4', orderId: expect.stringMatching(/^rmp_/) },
  ]);
  const sent = lastReceived();
  expect([sent.method, sent.url]).toEqual(['POST', '/base/redirect-order']);
  expect(sent.headers['x-forwarded-for']).toBe('203.0.113.7');
  expect(sent.body).toEqual({
    countryCode: ORDER.countryCode,
    rampType: 'ONRAMP',
    fromCurrency: ORDER.fromCurrency,
    toCurrency: ORDER.toCurrency,
    network: 'SOLANA',
    paymentMethod: ORDER.paymentMethod,
    fromAmount: ORDER.fromAmount,
    walletAddress: '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin',
  });
  expect(() => verified('par_own_redirect', sent)).not.toThrow();
});

test('while the signing secret rotates a request has two signatures, then the new one alone', async () => {
  const before = secrets.par_own ?? '';
  const rotated = async (overlap_hours: number) =>
    stack.operator<{ webhook_secret: string }>('partners/par_own/rotate-secret', { overlap_hours });
  const signed = async (n: number) => {
    const answer = { externalOrderId: `ROT-${n}`, status: 'IN_REVIEW', toAmount: '10.5' };
    next = { status: 200, body: answer };
    await stack.created({ partnerId: 'par_own' });
    const sent = lastReceived();
    const by = (secret: string) => {
      try {
        return Boolean(new Webhook(secret).verify(sent.text, sent.headers as Record<string, string>));
      } catch {
        return false;
      }
    };
    return { by, signatures: String(sent.headers['webhook-signature']).split(' ').length };
  };
  const second = (await rotated(24)).webhook_secret;
  const both = await signed(1);
  expect([both.signatures, both.by(before), both.by(second)]).toEqual([2, true, true]);
  const third = (await rotated(0)).webhook_secret;
  const alone = await signed(2);
  expect([alone.signatures, alone.by(before), alone.by(second), alone.by(third)]).toEqual([1, false, false, true]);
  secrets.par_own = third;
  await expect(stack.operator('partners/par_nobody/rotate-secret', { overlap_hours: 1 })).rejects.toThrow('404');
});

const redirection = (more: object) =>
  stack.customer<Failure>('CreateOrder', {
    ...ORDER,
    partnerId: 'par_own_redirect',
    customerIp: '203.0.113.7',
    ...more,
  });

test.each([undefined, '', 'localhost', '203.0.113', '203.0.113.7, 6.6.6.6', 'fe80::1%eth0', '203.0.113.7\r\nx: y'])(
  'without the end user’s address (%j) nothing is sent to a redirect partner',
  async (customerIp) => {
    const before = received.length;
    const { status, body } = await redirection({ customerIp });
    expect([status, body.detail?.issues?.[0]?.path]).toEqual([400, 'customerIp']);
    expect(received).toHaveLength(before);
  },
);

test.each([
  ['2001:db8::7', '2001:db8::7'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
])('%s is told as %s', async (customerIp, told) => {
  next = { status: 200, body: { redirectUrl: 'https://own.example/go', toAmount: '10.4' } };
  expect((await redirection({ customerIp })).status).toBe(200);
  expect(lastReceived().headers['x-forwarded-for']).toBe(told);
});

test('a redirect partner is told the address of the wallet that the customer names by its id, and only that', async () => {
  next = { status: 200, body: { redirectUrl: 'https://own.example/go', toAmount: '10.4' } };
  const address = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
  const given = await stack.customer<{ items: { dataId: string }[] }>('SubmitCustomerData', {
    data: [{ cryptoWallet: { type: 'SOLANA', address } }],
  });
  const customerWalletDataId = given.body.items[0]?.dataId;
  expect((await redirection({ customerWalletDataId })).status).toBe(200);
  expect(lastReceived().body).toMatchObject({ walletAddress: address });
  expect(JSON.stringify(lastReceived().body)).not.toContain(customerWalletDataId);
  expect((await redirection({ customerWalletDataId, walletAddress: address })).status).toBe(200);
  expect((await redirection({})).status).toBe(200);
  expect(lastReceived().body).not.toHaveProperty('walletAddress');
  const before = received.length;
  for (const walletAddress of ['1nc1nerator11111111111111111111111111111111', `${address}x`, '0xabc']) {
    const { status, body } = await redirection({ customerWalletDataId, walletAddress });
    expect([status, body.detail?.issues?.[0]?.path]).toEqual([400, 'walletAddress']);
  }
  expect((await redirection({ walletAddress: '0xabc' })).body.detail?.issues?.[0]?.path).toBe('walletAddress');
  expect(received).toHaveLength(before);
});

test.each([
  ['REDIRECT', 503, '42', '42'],
  ['REDIRECT', 429, '42', '42'],
  ['REDIRECT', 503, undefined, '5'],
  ['REDIRECT', 503, '86400000', '600'],
  ['REDIRECT', 503, 'soon', '5'],
  ['INTEGRATION', 503, '42', '42'],
  ['INTEGRATION', 429, '7', '7'],
  ['INTEGRATION', 500, '42', '42'],
])('%s: with %i and Retry-After %s, the customer is told to wait %s seconds', async (type, status, given, told) => {
  next = { status, body: {}, ...(given === undefined ? {} : { headers: { 'retry-after': given } }) };
  const answer = await stack.customer<Failure>('CreateOrder', {
    ...ORDER,
    partnerId: type === 'REDIRECT' ? 'par_own_redirect' : 'par_own',
    customerIp: '203.0.113.7',
  });
  expect([answer.status, answer.body.code]).toEqual([503, 'unavailable']);
  // A second may have gone by since the platform said it.
  const waits = Number(answer.headers.get('retry-after'));
  expect([Number(told), Number(told) - 1]).toContain(waits);
});

test.each([
  ['without externalOrderId', { externalOrderId: undefined }],
  ['without toAmount', { toAmount: undefined }],
  ['with a number as toAmount', { toAmount: 10.5 }],
  ['without depositInstructions', { depositInstructions: undefined }],
  ['with empty depositInstructions', { depositInstructions: {} }],
  ['with blank depositInstructions', { depositInstructions: { bankName: ' ', iban: '\u200b', clabe: null } }],
  ['with an unknown status', { status: 'WAITING' }],
])('an answer %s is not an order that anybody pays into', async (_, wrong) => {
  const good = { externalOrderId: `OWN-${received.length}`, status: 'AWAITING_FUNDS', toAmount: '10.5' };
  next = { status: 200, body: { ...good, depositInstructions: { bankName: 'Own' }, ...wrong } };
  const answer = await stack.customer<OrderAnswer & Failure>('CreateOrder', { ...ORDER, partnerId: 'par_own' });
  expect([answer.status, answer.body.code]).toEqual([503, 'unavailable']);
  expect(answer.body).not.toHaveProperty('order');
});

test('the partner’s 422 is failed_precondition with the words for the customer; the inner reason goes no further', async () => {
  next = { status: 422, body: { error: { reason: 'inner-words', customerFacingReason: 'Too much for today.' } } };
  const answer = await stack.customer<Failure>('CreateOrder', { ...ORDER, partnerId: 'par_own' });
  expect([answer.status, answer.body.code]).toEqual([400, 'failed_precondition']);
  expect(answer.body.detail?.customerFacingReason).toBe('Too much for today.');
  expect(JSON.stringify(answer.body)).not.toContain('inner-words');
});
