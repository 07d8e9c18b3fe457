import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { createOrderAnswer, redirectOrderAnswer } from '../../src/partner/platforms/messages.ts';
import {
  checkPartnerUrl,
  guardedRequest,
  outboundLimits,
  systemResolver,
} from '../../src/partner/platforms/ssrf-guard.ts';
import { newWebhookSecret, signWebhook } from '../../src/partner/platforms/webhook-signature.ts';
import { createPlatformApp } from '../../src/sandbox/platform/app.ts';
import { BEHAVIOUR_NAMES, BEHAVIOURS, MAGIC_DECIMALS } from '../../src/sandbox/platform/behaviour-table.ts';
import { type Books, openBooks } from '../../src/sandbox/platform/books.ts';
import { webOf } from '../web.ts';

/** The sandbox partner platform over real HTTP (docs/sandbox.md). */

const ORDER = {
  orderId: 'ord_1',
  customerId: 'cus_1',
  fromCurrency: 'EUR',
  toCurrency: 'SOLANA_USDC',
  fromAmount: '250',
  type: 'ONRAMP',
  paymentMethod: 'DEU_SEPA',
  customerPaymentDetailsDataId: 'dat_1',
  customerWalletDataId: 'dat_2',
  network: 'SOLANA',
};
const REDIRECTION = {
  countryCode: 'BRA',
  rampType: 'ONRAMP',
  fromCurrency: 'BRL',
  toCurrency: 'SOLANA_USDC',
  network: 'SOLANA',
  paymentMethod: 'BRA_PIX',
  fromAmount: '150',
};

let folder: string;
let books: Books;
let url: string;
let close: () => Promise<void>;
let secret: string | null = null;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'farelock-platform-'));
  books = openBooks(join(folder, 'orders.db'));
  const app = createPlatformApp({
    books,
    clock: systemClock,
    webhookSecrets: async () => (secret === null ? null : [secret]),
    stepMs: 1_000,
    slowMs: 50,
  });
  url = await new Promise((resolve) => {
    const server = serve(
      { fetch: (request) => webOf(app.fetch)(request), hostname: '127.0.0.1', port: 0, overrideGlobalObjects: false },
      ({ port }) => resolve(`http://127.0.0.1:${port}`),
    );
    close = () =>
      new Promise((done) => {
        server.close(() => done());
        if ('closeAllConnections' in server) server.closeAllConnections();
      });
  });
});
afterAll(async () => {
  await close();
  books.close();
  rmSync(folder, { recursive: true, force: true });
});

let numbered = 0;
const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    redirect: 'manual',
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) as unknown };
};
const order = (more: object = {}) => ({ ...ORDER, orderId: `ord_${++numbered}`, ...more });

describe('Create Order', () => {
  test('answers as the specification has it, and the same order the same way', async () => {
    const body = order();
    const first = await post('/bank/create-order', body);
    expect(first.status).toBe(200);
    expect(createOrderAnswer.parse(first.json())).toMatchObject({
      status: 'AWAITING_FUNDS',
      depositInstructions: { amount: '250', currency: 'EUR', depositMessage: body.orderId },
    });
    expect((await post('/bank/create-order', body)).text).toBe(first.text);
    expect((await post('/bank/create-order', { ...body, fromAmount: '251' })).status).toBe(400);
    expect((await post('/pix/create-order', body)).status).toBe(422);
  });

  test('twenty calls at once are one order', async () => {
    const body = order();
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('/bank/create-order', body)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  test('what is missing is named with 400; what is outside the limits is 422, in both forms of words', async () => {
    for (const field of Object.keys(ORDER)) {
      const { [field as keyof typeof ORDER]: _left, ...rest } = order();
      const answer = await post('/bank/create-order', rest);
      expect(answer.status).toBe(400);
      expect(answer.json()).toMatchObject({ error: { reason: expect.stringContaining(field) } });
    }
    for (const fromAmount of ['9.99', '10000.01', '999999999']) {
      const answer = await post('/bank/create-order', order({ fromAmount }));
      expect(answer.status).toBe(422);
      expect(answer.json()).toMatchObject({
        error: { reason: expect.any(String), customerFacingReason: 'The amount must be between 10 to 10000 EUR.' },
      });
    }
    for (const fromAmount of ['10', '10000', '10.00'])
      expect((await post('/bank/create-order', order({ fromAmount }))).status).toBe(200);
  });

  test('nonsense is 400, unknown paths 404, never 500', async () => {
    for (const body of ['', '{', 'null', '[]', '"x"', '{"orderId":{}}', 'x'.repeat(70_000)]) {
      const response = await fetch(`${url}/bank/create-order`, { method: 'POST', body });
      expect(response.status).toBe(400);
    }
    expect((await post('/nobody/create-order', order())).status).toBe(404);
    expect((await post('/redirect/create-order', order())).status).toBe(404);
    expect((await post('/bank/redirect-order', REDIRECTION)).status).toBe(404);
  });
});

describe('Redirect Order', () => {
  test('gives an https address; its errors are a text', async () => {
    const answer = await post('/redirect/redirect-order', REDIRECTION, { 'idempotency-key': 'r1' });
    expect(redirectOrderAnswer.parse(answer.json()).redirectUrl).toMatch(/^https:/);
    expect((await post('/redirect/redirect-order', REDIRECTION, { 'idempotency-key': 'r1' })).text).toBe(answer.text);
    const refused = await post('/redirect/redirect-order', { ...REDIRECTION, fromAmount: '1' });
    expect(refused.status).toBe(422);
    expect(refused.json()).toEqual({ error: 'The amount must be between 100 to 10000 BRL.' });
  });
});

describe('switches', () => {
  const turn = (partner: string, behaviour: string) => post(`/admin/behaviours/${partner}`, { behaviour });

  test('an outage is 503 with Retry-After until it is over, for one partner', async () => {
    expect((await turn('bank', 'outage')).status).toBe(200);
    const answer = await post('/bank/create-order', order());
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    const pix = { fromCurrency: 'BRL', paymentMethod: 'BRA_PIX' };
    expect((await post('/pix/create-order', order(pix))).status).toBe(200);
    await turn('bank', 'normal');
    expect((await post('/bank/create-order', order())).status).toBe(200);
  });

  test('an unknown switch is refused, and so is a form that a web page could send', async () => {
    expect((await turn('bank', 'explode')).status).toBe(400);
    expect((await turn('nobody', 'outage')).status).toBe(404);
    const form = await fetch(`${url}/admin/behaviours/bank`, { method: 'POST', body: 'behaviour=outage' });
    expect(form.status).toBe(415);
    expect((await (await fetch(`${url}/admin/behaviours`)).json()) as object).toMatchObject({
      partners: { bank: 'normal' },
      behaviours: BEHAVIOUR_NAMES,
    });
  });

  test('every magic amount names a behaviour that there is', () => {
    for (const name of Object.values(MAGIC_DECIMALS)) expect(BEHAVIOURS).toHaveProperty(name);
  });

  test('the page lists every magic amount, and no other', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/sandbox.md'), 'utf8');
    const listed = [...page.matchAll(/^\| `\.(\d{4})` \| `(\w+)` \|/gm)].map(([, end, name]) => [end, name]);
    expect(Object.fromEntries(listed)).toEqual(MAGIC_DECIMALS);
  });

  test('torn answers tear on the wire', async () => {
    const body = JSON.stringify(order({ fromAmount: '150.0004' }));
    const attempt = await guardedRequest(
      { resolve: systemResolver, limits: outboundLimits },
      checkPartnerUrl(url, { environment: 'demo' }),
      { url: new URL(`${url}/bank/create-order`), headers: { 'content-type': 'application/json' }, body },
      5_000,
    );
    expect(attempt.kind).toBe('lost');
  });

  test('an order is in the books although its answer was lost, and only once', async () => {
    const body = order({ fromAmount: '150.5021' });
    expect((await post('/bank/create-order', body)).status).toBe(502);
    expect((await post('/bank/create-order', body)).status).toBe(200);
    const listed = (await (await fetch(`${url}/admin/orders/bank`)).json()) as { orders: { orderId: string }[] };
    expect(listed.orders.filter(({ orderId }) => orderId === body.orderId)).toHaveLength(1);
  });
});

describe('signatures', () => {
  test('with a secret, only what it signed is taken', async () => {
    secret = newWebhookSecret();
    try {
      const body = order();
      const text = JSON.stringify(body);
      expect((await post('/bank/create-order', body)).status).toBe(401);
      const at = { id: body.orderId, atMs: Date.now(), body: text };
      expect((await post('/bank/create-order', body, { ...signWebhook([newWebhookSecret()], at) })).status).toBe(401);
      expect((await post('/bank/create-order', body, { ...signWebhook([secret], { ...at, body: '{}' }) })).status).toBe(
        401,
      );
      expect((await post('/bank/create-order', body, { ...signWebhook([secret], { ...at, atMs: 0 }) })).status).toBe(
        401,
      );
      expect((await post('/bank/create-order', body, { ...signWebhook([secret], at) })).status).toBe(200);
    } finally {
      secret = null;
    }
  });
});
