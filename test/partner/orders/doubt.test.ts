import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from '../../../src/service/home.ts';
import { railOf } from '../platform-server.ts';
import { ANA, type Failure, ORDER, type OrderAnswer, openStack, type Stack } from '../stack.ts';

/**
 * A "no" is believed only from the platform itself, in its own form, and only while no earlier try can contradict it:
 * an order that a platform may have taken stays in doubt until the platform says that it has it, or a person looks.
 */

const OWN = 'par_own';
const DUPLICATE = { error: { reason: 'duplicate', customerFacingReason: 'This order exists already.' } };

interface Say {
  readonly status: number;
  readonly body: string;
  readonly headers?: Record<string, string>;
}
type Turn = 'cut' | Say;

const json = (status: number, body: unknown): Say => ({
  status,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
});
const taken = (orderId: string, more: object = {}): Say =>
  json(200, {
    externalOrderId: `OWN-${orderId}`,
    status: 'AWAITING_FUNDS',
    toAmount: '10.5',
    depositInstructions: { bankName: 'Own', ...more },
  });

let stack: Stack;
let ownKey: string;
let token: string;
let origin: string;
/** Where the platform moves to: another company's, perhaps. */
let elsewhere: string;
/** The orders that the platform was sent, in order, and what it answers next; the last turn repeats. */
let sent: { to: string; path: string; orderId: string }[] = [];
let turns: ((orderId: string) => Turn)[] = [];

function answer(request: IncomingMessage, response: ServerResponse, text: string): void {
  const { orderId = '' } = JSON.parse(text) as { orderId?: string };
  const to = `http://${request.headers.host}`;
  sent.push({ to, path: request.url ?? '', orderId });
  if (to === elsewhere) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(taken(orderId).body.replace('OWN-', 'ELSEWHERE-'));
    return;
  }
  const turn = (turns.length > 1 ? turns.shift() : turns[0])?.(orderId) ?? 'cut';
  if (turn === 'cut') {
    request.socket.destroy();
    return;
  }
  response.writeHead(turn.status, turn.headers);
  response.end(turn.body);
}
const servers = [0, 1].map(() =>
  createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on('end', () => answer(request, response, text));
  }),
);

const partnerIs = (more: object = {}) =>
  stack.operator('partners', {
    partner_id: OWN,
    name: 'Own',
    type: 'INTEGRATION',
    platform_url: origin,
    icon: 'https://own.example/icon.svg',
    terms_url: 'https://own.example/terms',
    privacy_policy_url: 'https://own.example/privacy',
    offering: { rails: [railOf('ONRAMP', 'BRL', 'SOLANA_USDC', 'BRA_PIX')] },
    ...more,
  });

beforeAll(async () => {
  stack = await openStack();
  for (const server of servers) await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const [here, there] = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  origin = here ?? '';
  elsewhere = there ?? '';
  await partnerIs();
  ownKey = (await stack.issueKey(OWN)).key;
});
beforeEach(async () => {
  sent = [];
  // Time jumps, and tokens live for minutes; the partner and its breaker are as on the first day.
  token = await stack.issueToken(ANA);
  await partnerIs();
  stack.clock.advance(10 * 60_000);
  turns = [(orderId) => taken(orderId)];
  await create('warm-up');
  sent = [];
});
afterAll(async () => {
  await stack.close();
  for (const server of servers) await new Promise((closed) => server.close(closed));
});

let keys = 0;
const newKey = () => `doubt-${++keys}`;

async function create(_why: string, key = newKey()) {
  return stack.customer<OrderAnswer & Failure>(
    'CreateOrder',
    { ...ORDER, partnerId: OWN },
    { token, headers: { 'idempotency-key': key } },
  );
}

const asOwn = (operation: string, body: object) =>
  stack.partner<OrderAnswer & Failure>(operation, body, { key: ownKey });

/** The worker's next try, whatever the pause before it. */
async function nextTry(): Promise<void> {
  stack.clock.advance(11 * 60_000);
  await stack.service.worker.runDue('partner');
  token = await stack.issueToken(ANA);
}

const refusals: [string, Say][] = [
  ['400', json(400, DUPLICATE)],
  ['422', json(422, DUPLICATE)],
  ['409', json(409, DUPLICATE)],
];

describe('a later "no" about an order that was perhaps taken', () => {
  test.each(refusals)('%s after a connection that was cut is no answer', async (_, no) => {
    const key = newKey();
    turns = [() => 'cut', () => no];
    const answered = await create('the platform took it, and its answer was lost', key);
    expect([answered.status, answered.body.code]).toEqual([503, 'unavailable']);
    expect(Number(answered.headers.get('retry-after'))).toBeGreaterThan(0);
    const [{ orderId } = { orderId: '' }] = sent;
    // Asked again it says the same, to the worker and to the customer: that ends nothing either.
    await nextTry();
    expect((await create('the same order', key)).status).toBe(503);
    // Its own word ends the doubt.
    turns = [(id) => taken(id)];
    await nextTry();
    const { body } = await asOwn('UpdateOrder', { orderId, status: 'FUNDS_RECEIVED' });
    expect(body.order).toMatchObject({ id: orderId, status: 'FUNDS_RECEIVED', externalId: `OWN-${orderId}` });
    expect((await create('the same order', key)).body.order.id).toBe(orderId);
    expect(new Set(sent.map((one) => one.orderId))).toEqual(new Set([orderId]));
  });

  test('the first "no" of the platform itself is believed, and nothing is asked again', async () => {
    turns = [() => json(422, DUPLICATE)];
    expect((await create('refused')).body).toMatchObject({
      code: 'failed_precondition',
      detail: { customerFacingReason: 'This order exists already.' },
    });
    const [{ orderId } = { orderId: '' }] = sent;
    await nextTry();
    expect(sent.filter((one) => one.orderId === orderId)).toHaveLength(1);
  });
});

const strangers: [string, Say][] = [
  ['422 in HTML', { status: 422, body: '<html>Unprocessable</html>' }],
  ['400 without a body', { status: 400, body: '' }],
  ['403 in plain text', { status: 403, body: 'Forbidden' }],
  ['404 in JSON of another form', json(404, { message: 'no Route matched' })],
  ['403 with a text as its error', json(403, { error: 'Forbidden' })],
  ['422 with a text as its error', json(422, { error: 'Unprocessable Entity' })],
  ['400 with an error of another form', json(400, { error: { code: 400, message: 'Bad Request' } })],
  ['400 without words for the customer', json(400, { error: { reason: 'illegal_argument_exception' } })],
  ['503 with a text as its error', json(503, { error: 'no healthy upstream' })],
  ['401 in the form of the platform, a status that is none of its refusals', json(401, DUPLICATE)],
  ['302 to another page', { status: 302, body: '', headers: { location: 'https://elsewhere.example' } }],
  ['503 of a router whose time was up', { status: 503, body: '<html>Application error</html>' }],
];

describe('a "no" that is not in the form of the platform', () => {
  test.each(strangers)('%s is a gateway’s: the order stays in doubt', async (_, no) => {
    turns = [() => no];
    const answered = await create('a gateway answered for the platform');
    expect([answered.status, answered.body.code]).toEqual([503, 'unavailable']);
    const [{ orderId } = { orderId: '' }] = sent;
    turns = [(id) => taken(id)];
    await nextTry();
    expect((await asOwn('GetOrderDetails', { orderId })).body.order).toMatchObject({ status: 'AWAITING_FUNDS' });
  });
});

test('an order is finished as it was begun, whatever its partner became in the meantime', async () => {
  turns = [() => 'cut'];
  await create('the answer was lost');
  const [{ orderId } = { orderId: '' }] = sent;
  await partnerIs({ type: 'REDIRECT' });
  turns = [(id) => taken(id)];
  sent = [];
  await nextTry();
  expect(sent).toEqual([{ to: origin, path: '/create-order', orderId }]);
  expect((await asOwn('GetOrderDetails', { orderId })).body.order).toMatchObject({
    id: orderId,
    status: 'AWAITING_FUNDS',
  });
});

describe('a platform that moves', () => {
  test('is asked about an order in doubt where it was sent, and nowhere else', async () => {
    turns = [() => 'cut'];
    const key = newKey();
    await create('the answer was lost', key);
    const [{ orderId } = { orderId: '' }] = sent;
    await partnerIs({ platform_url: elsewhere });
    await nextTry();
    expect((await create('the same order', key)).status).toBe(503);
    turns = [(id) => taken(id)];
    await nextTry();
    expect(new Set(sent.map(({ to }) => to))).toEqual(new Set([origin]));
    const { order } = (await asOwn('GetOrderDetails', { orderId })).body;
    expect(order).toMatchObject({ id: orderId, externalId: `OWN-${orderId}` });
    const next = (await create('a new order')).body.order;
    expect(sent.at(-1)).toEqual({ to: elsewhere, path: '/create-order', orderId: next.id });
  });

  test('is not kept from new orders by the silence at its former address', async () => {
    turns = [() => 'cut'];
    await create('the answer was lost');
    await partnerIs({ platform_url: elsewhere });
    for (let tries = 0; tries < 6; tries++) await nextTry();
    expect((await create('a new order')).status).toBe(200);
    expect(sent.at(-1)?.to).toBe(elsewhere);
  });

  test('gets an order that it certainly does not have at its new address', async () => {
    const outage = { error: { reason: 'outage', customerFacingReason: 'Try later.' } };
    turns = [() => json(503, outage)];
    const key = newKey();
    expect((await create('not taken', key)).status).toBe(503);
    await partnerIs({ platform_url: elsewhere });
    stack.clock.advance(60_000);
    const { order } = (await create('the same order', key)).body;
    expect(sent.at(-1)).toEqual({ to: elsewhere, path: '/create-order', orderId: order.id });
  });

  test('to an address that may not be called leaves its order to a person after a day', async () => {
    turns = [() => 'cut'];
    await create('the answer was lost');
    const [{ orderId } = { orderId: '' }] = sent;
    const store = await openStore(join(stack.home, 'service.db'));
    await store
      .updateTable('partner_orders')
      .set({ platform_url: 'https://169.254.169.254/latest' })
      .where('order_id', '=', orderId)
      .execute();
    await store.destroy();
    await nextTry();
    expect((await asOwn('GetOrderDetails', { orderId })).status).toBe(503);
    stack.clock.advance(25 * 3_600_000);
    await stack.service.worker.runDue('partner');
    const { order } = (await asOwn('GetOrderDetails', { orderId })).body;
    expect(order).toMatchObject({ status: 'ERROR', reason: expect.stringContaining('is refused') });
  });
});

test('a redirect partner refuses with a text, in its own statuses alone', async () => {
  await partnerIs({ type: 'REDIRECT' });
  const asked = async (no: Say, key = newKey()) => {
    turns = [() => no];
    const { status, body } = await stack.customer<Failure>(
      'CreateOrder',
      { ...ORDER, partnerId: OWN, customerIp: '203.0.113.7' },
      { token, headers: { 'idempotency-key': key } },
    );
    return [status, body.detail?.reason, body.detail?.customerFacingReason];
  };
  expect(await asked(json(422, { error: 'Too much.' }))).toEqual([400, 'partner_refused', 'Too much.']);
  const unknown = [503, 'partner_unavailable', undefined];
  expect(await asked(json(403, { error: 'Forbidden' }))).toEqual(unknown);
  expect(await asked(json(422, DUPLICATE))).toEqual(unknown);
});

test('while an order is in doubt its partner is asked to report again, and is heard afterwards', async () => {
  turns = [() => 'cut'];
  await create('the answer was lost');
  const [{ orderId } = { orderId: '' }] = sent;
  const report = { orderId, status: 'FUNDS_RECEIVED', sourceTransactionId: 'pix-1' };
  const asked = (more: object = {}) =>
    stack.partner<OrderAnswer & Failure>('UpdateOrder', report, { key: ownKey, ...more });
  const early = await asked({ headers: { 'idempotency-key': 'report-1' } });
  expect([early.status, early.body.code, early.body.detail?.reason]).toEqual([503, 'unavailable', 'order_in_doubt']);
  expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(0);
  // Another partner learns nothing of it.
  expect((await stack.partner('UpdateOrder', report)).status).toBe(404);
  turns = [(id) => taken(id)];
  await nextTry();
  // The refusal was for the moment: the same key is heard.
  const late = await asked({ headers: { 'idempotency-key': 'report-1' } });
  expect(late.body.order).toMatchObject({ status: 'FUNDS_RECEIVED', sourceTransactionId: 'pix-1' });
});

const pagesAbout = (orderId: string) => {
  const path = join(stack.home, 'outbox', 'pages.ndjson');
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  return lines.map((line) => JSON.parse(line) as object).filter((page) => JSON.stringify(page).includes(orderId));
};
const stuck = async () =>
  (await stack.operator<{ partner_orders: { order_id: string; last_error: string }[] }>('stuck')).partner_orders;

describe('an order that ends in ERROR by itself', () => {
  test('pages, and stands in stuck until its partner moves it', async () => {
    turns = [() => json(422, DUPLICATE)];
    turns.unshift(() => 'cut');
    await create('in doubt');
    const [{ orderId } = { orderId: '' }] = sent;
    expect((await stuck()).map(({ order_id }) => order_id)).not.toContain(orderId);
    stack.clock.advance(25 * 3_600_000);
    await stack.service.worker.runDue();
    expect((await asOwn('GetOrderDetails', { orderId })).body.order.status).toBe('ERROR');
    const [item] = (await stuck()).filter(({ order_id }) => order_id === orderId);
    expect(item?.last_error).toContain('never said whether it took the order');
    expect(await stack.operator(`stuck/${orderId}`)).toMatchObject({
      kind: 'partner_order',
      is_stuck: true,
      ask: expect.stringContaining(OWN),
    });
    for (let rounds = 0; rounds < 2; rounds++) await stack.service.worker.runDue();
    await expect.poll(() => pagesAbout(orderId)).toMatchObject([{ event: 'partner_order_error' }]);
    await asOwn('UpdateOrder', { orderId, status: 'CANCELED' });
    expect((await stuck()).map(({ order_id }) => order_id)).not.toContain(orderId);
  });

  test('an ERROR that the partner reports is its own, and pages nobody', async () => {
    const { body } = await create('a good order');
    const orderId = body.order.id;
    await asOwn('UpdateOrder', { orderId, status: 'ERROR', reason: 'bank closed' });
    await stack.service.worker.runDue();
    expect(pagesAbout(orderId)).toEqual([]);
    expect((await stuck()).map(({ order_id }) => order_id)).not.toContain(orderId);
  });
});

test.each([
  ['-20', undefined],
  ['twenty', undefined],
  ['6e1', undefined],
  ['60.01', 'BRL'],
  ['60', 'USD'],
  [undefined, 'EUR'],
])('a customer is never told to pay %s %s for an order of 60 BRL', async (amount, currency) => {
  const wrong = { ...(amount && { amount }), ...(currency && { currency }) };
  turns = [(id) => taken(id, wrong)];
  const answered = await create('wrong instructions');
  expect(answered.body).toMatchObject({ detail: { reason: 'partner_answer_invalid' } });
  const [{ orderId } = { orderId: '' }] = sent;
  const { order } = (await asOwn('GetOrderDetails', { orderId })).body;
  expect(order).toMatchObject({ status: 'ERROR', reason: expect.stringContaining('depositInstructions') });
  expect(order).not.toHaveProperty('depositInstructions');
  // The same by an update.
  turns = [(id) => taken(id, { amount: '60.00', currency: 'BRL' })];
  const good = (await create('good instructions')).body.order;
  const updated = await asOwn('UpdateOrder', { orderId: good.id, depositInstructions: { bankName: 'Own', ...wrong } });
  expect([updated.status, updated.body.detail?.issues?.[0]?.path]).toEqual([
    400,
    `depositInstructions.${amount === undefined || amount === '60' ? 'currency' : 'amount'}`,
  ]);
});
