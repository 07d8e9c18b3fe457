import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ClientStore } from '../../src/client/journal/store.ts';
import { resumePayment } from '../../src/client/payer/resume.ts';
import { challengeOf, encoded, openShop, openWorld, type Shop, shiftedClock, type World } from '../payments/world.ts';
import { type WebFetch as Fetch, fetchOver } from '../web.ts';
import { openClient } from './world.ts';

/** What was signed for a request is resent until the service itself has answered it, whoever stands between. */

const clock = shiftedClock();
const hasty = { ...clock, sleep: async () => undefined };
let world: World;
let shop: Shop;
let before: bigint;
let file = 0;
const opened: ClientStore[] = [];

beforeAll(async () => {
  world = await openWorld({ clock });
});
afterAll(() => world.close());
beforeEach(async () => {
  shop = openShop(world);
  shop.perform = async () => ({ status: 200, body: { offers: [{ offer_id: `off_${shop.performed.length}` }] } });
  before = await world.usdc(world.treasury);
  file++;
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.shut();
});

const SEARCH = { origin_iata: 'LIS', destination_iata: 'BER', depart_date: '2026-12-20' };
const charged = async () => (await world.usdc(world.treasury)) - before;

async function client(fetch: Fetch = shop.fetch, change: Parameters<typeof openClient>[2] = {}) {
  const one = await openClient(world, fetch, { file: `gateways-${file}.db`, clock: hasty, ...change });
  opened.push(one.store);
  return one;
}

const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  Response.json(body, { status, headers });

const gateways: Record<string, () => Response | Promise<Response>> = {
  'a 403 of a gateway': () => json(403, { message: 'Forbidden' }),
  'a 401 of a gateway': () => json(401, { error: 'unauthorized', message: 'Sign in.' }),
  'a 404 without a route': () => json(404, { message: 'no Route matched with those values' }),
  'a 404 of HTML': () => new Response('<html>', { status: 404 }),
  'a 407': () => json(407, { message: 'Proxy Authentication Required' }),
  'a 413': () => json(413, { code: 'payload_too_large', message: 'Too large.' }),
  'a 429': () => json(429, { code: 'too_many_attempts', message: 'Slow down.' }),
  'a 451': () => json(451, {}),
  'a code that is none of ours': () => json(409, { code: 'conflict_detected', message: 'no' }),
  'a code of ours with another status': () => json(403, { code: 'offer_expired', message: 'no' }),
  'a code of ours in another shape': () => json(409, { code: 'offer_expired', reason: 'no' }),
  'what any API says': () => json(400, { code: 'invalid_request', message: 'Bad request' }),
  'a 402 that is no challenge': () => json(402, { message: 'Quota exceeded' }),
  'a challenge for a call whose payment was taken out': async () => {
    const challenge = { ...(await challengeOf(shop, '/air/search', SEARCH)), error: 'payment_required: pay' };
    return json(402, challenge, { 'PAYMENT-REQUIRED': encoded(challenge) });
  },
  'a login page': () => new Response('<html>', { status: 200 }),
  'a login in JSON': () => json(200, { login: 'https://portal.example' }),
  'a redirect': () => new Response(null, { status: 302, headers: { location: 'https://portal.example/' } }),
};

test.each(Object.keys(gateways))('%s ends no payment: the same one is sent until the service answers', async (name) => {
  let isBetween = true;
  const payments = new Set<string>();
  const fetch: Fetch = async (request) => {
    const payment = request.headers.get('PAYMENT-SIGNATURE');
    if (payment === null) return shop.fetch(request);
    payments.add(payment);
    // The service has settled, and its answer goes no further than the gateway.
    const answer = await shop.fetch(request);
    return isBetween ? (gateways[name]?.() ?? answer) : answer;
  };
  const one = await client(fetch);
  for (let run = 0; run < 2; run++) {
    await expect(one.client.search(SEARCH)).rejects.toMatchObject({
      fix: expect.stringMatching(/same payment/),
      next: [{ argv: ['payments', 'resume', expect.stringMatching(/^pay_/)] }],
    });
    // Also when it can't land any more, no stranger's word is taken for the service's.
    clock.shift(90_000);
  }
  expect(await one.store.payments()).toMatchObject([{ state: 'sent', open: true }]);
  isBetween = false;
  expect((await one.client.search(SEARCH)).value.offers).toEqual([{ offer_id: 'off_1' }]);
  expect(payments.size).toBe(1);
  expect(await charged()).toBe(100_000n);
});

test('a refusal of a payment that was sent before ends nothing: the first copy may have been settled', async () => {
  let sent = 0;
  const fetch: Fetch = async (request) => {
    if (!request.headers.has('PAYMENT-SIGNATURE')) return shop.fetch(request);
    const answer = await shop.fetch(request);
    if (sent++ === 0) throw new TypeError('fetch failed');
    return sent === 2 ? json(409, { code: 'offer_expired', message: 'The offer has expired.' }) : answer;
  };
  const one = await client(fetch);
  await expect(one.client.search(SEARCH)).rejects.toMatchObject({ code: 'offer_expired' });
  expect(await one.store.payments()).toMatchObject([{ state: 'sent', open: true }]);
  await one.client.search(SEARCH);
  expect(await charged()).toBe(100_000n);
});

test('what the chain shows to have landed is never given up, whatever the service says', async () => {
  let isDown = true;
  const fetch: Fetch = async (request) => {
    if (!request.headers.has('PAYMENT-SIGNATURE')) return shop.fetch(request);
    const answer = await shop.fetch(request);
    if (!isDown) return answer;
    const challenge = { ...(await challengeOf(shop, '/air/search', SEARCH)), error: 'payment_verification_failed: no' };
    return json(402, challenge, { 'PAYMENT-REQUIRED': encoded(challenge) });
  };
  const asked: string[] = [];
  const neverLanded = async (id: string) => {
    asked.push(id);
    return false;
  };
  const one = await client(fetch, { neverLanded });
  await expect(one.client.search(SEARCH)).rejects.toMatchObject({ code: 'payment_verification_failed' });
  clock.shift(90_000);
  await expect(one.client.search(SEARCH)).rejects.toMatchObject({ fix: expect.stringMatching(/same payment/) });
  expect(asked).toHaveLength(1);
  expect(await one.store.payments()).toMatchObject([{ open: true }]);
  isDown = false;
  await one.client.search(SEARCH);
  expect(await charged()).toBe(100_000n);
});

test('a payment that is refused for a while, for ever, is over once the chain proves that it never landed', async () => {
  let refused: string | null = null;
  const fetch: Fetch = async (request) => {
    const payment = request.headers.get('PAYMENT-SIGNATURE');
    if (payment === null) return shop.fetch(request);
    refused ??= payment;
    const message = 'The airline allows no more calls.';
    return payment === refused ? json(503, { code: 'upstream_rate_limited', message }) : shop.fetch(request);
  };
  let proven = false;
  const one = await client(fetch, { neverLanded: async () => proven });
  const limited = { code: 'upstream_rate_limited' };
  await expect(one.client.search(SEARCH)).rejects.toMatchObject(limited);
  await expect(one.client.search(SEARCH)).rejects.toMatchObject(limited);
  clock.shift(90_000);
  await expect(one.client.search(SEARCH)).rejects.toMatchObject(limited);
  expect(await one.store.payments()).toMatchObject([{ open: true }]);
  proven = true;
  await one.client.search(SEARCH);
  expect((await one.store.payments()).map(({ state }) => state)).toEqual(['answered', 'abandoned']);
  expect(await charged()).toBe(100_000n);
});

const INTENT = {
  intent_id: 'int_1',
  status: 'active',
  offer_id: 'off_1',
  customer_support_code: 'FLK-AAAA-BBBB',
  escrow: { address: 'So11111111111111111111111111111111111111112', mint: 'm', amount: '113260000' },
};

test('resuming the payment of an intent brings its support code, and what was agreed to', async () => {
  shop.perform = async () => ({ status: 201, body: INTENT });
  const fetch: Fetch = async (request) => {
    const answer = await shop.fetch(request);
    return request.headers.has('PAYMENT-SIGNATURE') ? json(403, { message: 'Forbidden' }) : answer;
  };
  const one = await client(fetch);
  const request = { funding_wallet: world.wallet.address, offer_id: 'off_1' };
  await expect(one.client.createIntent(request)).rejects.toMatchObject({ code: 'unexpected_answer' });
  expect(await one.store.intent('int_1')).toBeUndefined();
  const [record] = await one.store.payments();
  const signed = await one.store.signedPayment(record?.payment_id ?? '');
  if (!signed) throw new Error('nothing was signed');
  await resumePayment(
    {
      journal: one.store,
      cluster: async () => world.cluster,
      clock: hasty,
      fetch: fetchOver(shop.fetch),
      baseUrl: 'http://shop.test',
      headersOf: async () => ({}),
    },
    signed,
    { timeoutMs: 5_000 },
    {},
  );
  expect(await one.store.intent('int_1')).toMatchObject({
    supportCode: 'FLK-AAAA-BBBB',
    terms: { offerId: 'off_1', refundOwner: world.wallet.address, escrow: { amount: 113_260_000 } },
  });
  // The same command shows it, and pays nothing more.
  const { value } = await one.client.createIntent(request);
  expect(value.customer_support_code).toBe('FLK-AAAA-BBBB');
  expect(await charged()).toBe(100_000n);
});

test('an answer that was not shown is given again, and paid for again only after it was', async () => {
  const one = await client();
  await one.client.search(SEARCH);
  await one.store.shut();
  opened.splice(0);
  const next = await client();
  expect((await next.client.search(SEARCH)).value.offers).toEqual([{ offer_id: 'off_1' }]);
  expect(await charged()).toBe(100_000n);
  const [record] = await next.store.payments();
  expect(record).toMatchObject({ state: 'answered', open: false, answer_kept: true });
  await next.store.shown([record?.payment_id ?? '']);
  expect((await next.client.search(SEARCH)).value.offers).toEqual([{ offer_id: 'off_2' }]);
  expect(await charged()).toBe(200_000n);
});

test('a kept answer that is too old to be of use is paid for anew', async () => {
  const one = await client();
  await one.client.search(SEARCH);
  clock.shift(11 * 60_000);
  expect((await one.client.search(SEARCH)).value.offers).toEqual([{ offer_id: 'off_2' }]);
});

test('a paid answer that cannot be read is kept as it came, and never paid for again', async () => {
  shop.perform = async () => ({ status: 200, body: { order: { reference: 'ABC' } } });
  const one = await client();
  for (let run = 0; run < 3; run++) {
    await expect(one.client.order('ord_1', 'FLK-1')).rejects.toMatchObject({ code: 'answer_unreadable' });
    const [{ payment_id: id } = { payment_id: '' }] = await one.store.payments();
    await one.store.shown([id]);
    clock.shift(86_400_000);
  }
  expect(await charged()).toBe(100_000n);
  const [record] = await one.store.payments();
  expect((await one.store.signedPayment(record?.payment_id ?? ''))?.payment.answer?.body).toEqual({
    order: { reference: 'ABC' },
  });
});

test.each([
  [{ documents_issued: 2, awaiting_payment: false }, 'ticketed'],
  [{ documents_issued: '1' }, 'ticketed'],
  [{ documents_issued: true }, 'ticketed'],
  [{ documents_issued: 0, awaiting_payment: true }, 'pending'],
  [{ documents_issued: '', awaiting_payment: 'true' }, 'pending'],
  [{ documents_issued: 0, awaiting_payment: false }, 'unknown'],
  [{ status: '' }, 'unknown'],
])('an order without a status is read: %j is %s', async (said, status) => {
  shop.perform = async () => ({
    status: 200,
    body: {
      airline_order_id: 'ord_9',
      booking_reference: '',
      total_amount: '113.26',
      total_currency: 'USD',
      passenger_count: '2',
      ...said,
    },
  });
  const one = await client();
  expect((await one.client.order('ord_9', 'FLK-1')).value).toMatchObject({
    order_id: 'ord_9',
    status,
    booking_reference: null,
    total_amount_decimal: '113.26',
    passenger_count: 2,
    documents: [],
    slices: [],
  });
});

test('an answer reaches the person though the journal cannot be written', async () => {
  const warned: string[] = [];
  const one = await client(shop.fetch, {
    warn: (text) => warned.push(text),
    wrap: (store) => ({ ...store, answered: () => Promise.reject(new Error('database or disk is full')) }),
  });
  expect((await one.client.search(SEARCH)).value.offers).toEqual([{ offer_id: 'off_1' }]);
  expect(warned).toEqual([expect.stringMatching(/disk is full.*payments resume pay_/)]);
  expect((await (await client()).client.search(SEARCH)).value.offers).toEqual([{ offer_id: 'off_1' }]);
  expect(await charged()).toBe(100_000n);
});
