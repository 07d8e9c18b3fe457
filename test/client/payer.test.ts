import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { NO_LIMITS, type PaymentRequest } from '../../src/client/base/spending.ts';
import type { ClientStore } from '../../src/client/journal/store.ts';
import { problem } from '../../src/kernel/problems.ts';
import {
  type Challenge,
  challengeOf,
  encoded,
  newWallet,
  openShop,
  openWorld,
  type Shop,
  shiftedClock,
  type World,
} from '../payments/world.ts';
import type { WebFetch as Fetch } from '../web.ts';
import { openClient } from './world.ts';

const clock = shiftedClock();
/** The tool's pauses are none of these tests' business, but for one. */
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

/** A client of this test's own journal; opened again it finds what the one before has left. */
async function client(fetch: Fetch = shop.fetch, change: Parameters<typeof openClient>[2] = {}) {
  const one = await openClient(world, fetch, { file: `client-${file}.db`, clock: hasty, ...change });
  opened.push(one.store);
  return one;
}

test('a paid search is paid from the journal and tells what it cost', async () => {
  const one = await client();
  const { value, payment } = await one.client.search(SEARCH);
  expect(value).toMatchObject({ offers: [{ offer_id: 'off_1' }], total_offers: 1, status: 'complete' });
  expect(payment).toMatchObject({ amount: '0.10', network: world.cluster.network });
  expect((await world.cluster.signatureStatus(payment?.transaction as never))?.err).toBeNull();
  expect(await one.store.payments()).toMatchObject([
    { state: 'answered', resource: 'POST /air/search', amount: '0.10', transaction: payment?.transaction },
  ]);
  expect(await charged()).toBe(100_000n);
});

test('the same search is one of its own once its first answer was shown', async () => {
  const one = await client();
  await one.client.search(SEARCH);
  await one.store.shown((await one.store.payments()).map((payment) => payment.payment_id));
  expect((await one.client.search(SEARCH)).value.offers).toEqual([{ offer_id: 'off_2' }]);
  expect(await charged()).toBe(200_000n);
});

test('what the client keeps is sealed, in a file of its own that nobody else can read', async () => {
  shop.perform = async () => ({
    status: 201,
    body: { intent_id: 'int_1', status: 'active', customer_support_code: 'FLK-SECRET', escrow: ESCROW },
  });
  const one = await client();
  await one.client.createIntent({ funding_wallet: world.wallet.address, offer_id: 'off_secret_1' });
  expect(await one.store.intent('int_1')).toMatchObject({ supportCode: 'FLK-SECRET', baseUrl: 'http://shop.test' });
  const path = join(world.home, `client-${file}.db`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  for (const name of [path, `${path}-wal`]) {
    expect(readFileSync(name).includes('FLK-SECRET')).toBe(false);
    expect(readFileSync(name).includes('off_secret_1')).toBe(false);
  }
});

const ESCROW = {
  address: 'So11111111111111111111111111111111111111112',
  vault_address: 'v',
  mint: 'm',
  amount: 1,
  program_id: '',
  refund_after: '2026-12-01T00:00:00Z',
  observed_amount: null,
};

test('above the cap nothing is signed unless somebody says yes', async () => {
  shop.terms = { ...shop.terms, amount: 1_000_001n };
  const one = await client();
  await expect(one.client.search(SEARCH)).rejects.toMatchObject({
    code: 'payment_above_cap',
    detail: { amount: '1.000001', cap: '1.00' },
  });
  const asked: PaymentRequest[] = [];
  const answering = (answer: boolean) =>
    client(shop.fetch, {
      policy: {
        limits: NO_LIMITS,
        canAsk: true,
        ask: async (request) => {
          asked.push(request);
          return answer;
        },
      },
    });
  await expect((await answering(false)).client.search(SEARCH)).rejects.toMatchObject({ code: 'payment_declined' });
  expect(await one.store.payments()).toEqual([]);
  await (await answering(true)).client.search(SEARCH);
  expect(asked[0]).toMatchObject({
    resource: 'POST /air/search',
    host: 'shop.test',
    amount: 1_000_001n,
    kind: 'call',
    payTo: world.treasury.address,
  });
  expect(await charged()).toBe(1_000_001n);
});

test('a challenge that was thought about for long is fetched anew, and asked about again when it is dearer', async () => {
  shop.terms = { ...shop.terms, amount: 1_500_000n };
  const asked: bigint[] = [];
  const one = await client(shop.fetch, {
    policy: {
      limits: { ...NO_LIMITS, perCall: 0n },
      canAsk: true,
      ask: async ({ amount }) => {
        asked.push(amount);
        if (asked.length === 1) {
          clock.shift(150_000);
          shop.terms = { ...shop.terms, amount: 1_600_000n };
        }
        return true;
      },
    },
  });
  await one.client.search(SEARCH);
  expect(asked).toEqual([1_500_000n, 1_600_000n]);
  expect(await charged()).toBe(1_600_000n);
});

type Accepted = Challenge['accepts'][number];
const refusals: Record<string, (challenge: Challenge, accepted: Accepted) => unknown> = {
  'version 1': (challenge) => ({ ...challenge, x402Version: 1 }),
  'no way to pay': (challenge) => ({ ...challenge, accepts: [] }),
  'another scheme': (challenge, accepted) => ({ ...challenge, accepts: [{ ...accepted, scheme: 'upto' }] }),
  'another network': (challenge, accepted) => ({
    ...challenge,
    accepts: [{ ...accepted, network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }],
  }),
  'another coin': (challenge, accepted) => ({
    ...challenge,
    accepts: [{ ...accepted, asset: 'So11111111111111111111111111111111111111112' }],
  }),
  'a fraction as amount': (challenge, accepted) => ({ ...challenge, accepts: [{ ...accepted, amount: '0.1' }] }),
  'a negative amount': (challenge, accepted) => ({ ...challenge, accepts: [{ ...accepted, amount: '-1' }] }),
  'no amount': (challenge, accepted) => ({ ...challenge, accepts: [{ ...accepted, amount: '0' }] }),
  'an amount as a number': (challenge, accepted) => ({ ...challenge, accepts: [{ ...accepted, amount: 1 }] }),
  'the wallet as fee payer': (challenge, accepted) => ({
    ...challenge,
    accepts: [{ ...accepted, extra: { ...accepted.extra, feePayer: world.wallet.address } }],
  }),
  'no fee payer': (challenge, accepted) => ({ ...challenge, accepts: [{ ...accepted, extra: {} }] }),
  'the wallet as payee': (challenge, accepted) => ({
    ...challenge,
    accepts: [{ ...accepted, payTo: world.wallet.address }],
  }),
  'no address as payee': (challenge, accepted) => ({ ...challenge, accepts: [{ ...accepted, payTo: '0xabc' }] }),
  'a payee that cannot receive': (challenge, accepted) => ({
    ...challenge,
    accepts: [{ ...accepted, payTo: newWallet().address }],
  }),
  'a memo like a book': (challenge, accepted) => ({
    ...challenge,
    accepts: [{ ...accepted, extra: { ...accepted.extra, memo: 'é'.repeat(129) } }],
  }),
  garbage: () => 'garbage',
};

test.each(Object.keys(refusals))('a challenge with %s is not signed', async (name) => {
  const challenge = await challengeOf(shop, '/air/search', SEARCH);
  const [accepted] = challenge.accepts;
  if (!accepted) throw new Error('nothing to accept');
  const changed = refusals[name]?.(challenge, accepted);
  let paid = 0;
  const one = await client(async (request) => {
    if (request.headers.has('PAYMENT-SIGNATURE')) paid++;
    return Response.json(changed, { status: 402, headers: { 'PAYMENT-REQUIRED': encoded(changed) } });
  });
  await expect(one.client.search(SEARCH)).rejects.toMatchObject({ code: 'challenge_refused' });
  expect(paid).toBe(0);
  expect(await one.store.payments()).toEqual([]);
});

test('too little money is said before anything is signed, with what is missing', async () => {
  const poor = newWallet();
  await world.cluster.airdropUsdc(poor.address, 30_000n);
  for (const [wallet, held, missing] of [
    [poor, '0.03', '0.07'],
    [newWallet(), '0.00', '0.10'],
  ] as const) {
    const one = await client(shop.fetch, { signer: async () => wallet });
    await expect(one.client.search(SEARCH)).rejects.toMatchObject({
      code: 'insufficient_funds',
      detail: { needed: '0.10', held, missing },
    });
    expect(await one.store.payments()).toEqual([]);
  }
});

/** A fetch that loses answers to paid requests, after the service has done its work. */
function losing(times: number): Fetch & { payments: string[] } {
  const payments: string[] = [];
  const fetch: Fetch = async (request) => {
    const payment = request.headers.get('PAYMENT-SIGNATURE');
    const response = await shop.fetch(request);
    if (payment === null) return response;
    payments.push(payment);
    if (payments.length <= times) throw new TypeError('fetch failed');
    return response;
  };
  return Object.assign(fetch, { payments });
}

test('a lost answer is asked for again with the same payment, and charged once', async () => {
  const fetch = losing(2);
  const { value } = await (await client(fetch)).client.search(SEARCH);
  expect(value.offers).toEqual([{ offer_id: 'off_1' }]);
  expect(fetch.payments).toHaveLength(3);
  expect(new Set(fetch.payments).size).toBe(1);
  expect(await charged()).toBe(100_000n);
});

test('when no answer comes at all, the same command sends the same payment, never a second one', async () => {
  const fetch = losing(99);
  const first = await client(fetch);
  await expect(first.client.search(SEARCH)).rejects.toMatchObject({
    code: 'network_unreachable',
    fix: expect.stringMatching(/same payment/),
  });
  expect(await first.store.payments()).toMatchObject([{ state: 'sent' }]);
  const second = await client();
  expect((await second.client.search(SEARCH)).value.offers).toEqual([{ offer_id: 'off_1' }]);
  expect(await second.store.payments()).toMatchObject([{ state: 'answered' }]);
  expect(await charged()).toBe(100_000n);
});

test('another call in between has a payment of its own', async () => {
  await expect((await client(losing(99))).client.search(SEARCH)).rejects.toThrow();
  const one = await client();
  await one.client.search({ ...SEARCH, adults: 2 });
  await one.client.search(SEARCH);
  expect((await one.store.payments()).map((payment) => payment.state)).toEqual(['answered', 'answered']);
  expect(await charged()).toBe(200_000n);
});

test('an answer that was found again too late to be of use is set aside, and a fresh one bought', async () => {
  await expect((await client(losing(99))).client.search(SEARCH)).rejects.toThrow();
  clock.shift(11 * 60_000);
  const one = await client();
  expect((await one.client.search(SEARCH)).value.offers).toEqual([{ offer_id: 'off_2' }]);
  expect((await one.store.payments()).map((payment) => payment.state)).toEqual(['answered', 'answered']);
});

test.each(['payment_pending', 'cluster_failed'])(
  'a payment that is still being settled (%s) is waited for, as long as Retry-After says',
  async (code) => {
    let pending = 2;
    const slept: number[] = [];
    const waiting = { ...clock, sleep: async (ms: number) => void slept.push(ms) };
    const one = await client(
      async (request) => {
        if (request.headers.has('PAYMENT-SIGNATURE') && pending-- > 0) {
          return Response.json({ code, message: 'x' }, { status: 503, headers: { 'Retry-After': '2' } });
        }
        return shop.fetch(request);
      },
      { clock: waiting },
    );
    await one.client.search(SEARCH);
    expect(slept).toEqual([2000, 2000]);
    expect(await charged()).toBe(100_000n);
  },
);

test('an answer that takes too long is asked for again, with the same payment', async () => {
  const payments: string[] = [];
  const one = await client(
    async (request) => {
      const payment = request.headers.get('PAYMENT-SIGNATURE');
      if (payment === null) return shop.fetch(request);
      payments.push(payment);
      return payments.length < 3 ? new Promise(() => undefined) : shop.fetch(request);
    },
    { timeoutMs: 1_000 },
  );
  await one.client.search(SEARCH);
  expect([payments.length, new Set(payments).size]).toEqual([3, 1]);
  expect(await charged()).toBe(100_000n);
});

test('a refused payment is not replaced while it could still be carried out', async () => {
  let refusing = true;
  const payments: (string | null)[] = [];
  const fetch: Fetch = async (request) => {
    const payment = request.headers.get('PAYMENT-SIGNATURE');
    if (payment !== null) payments.push(payment);
    if (payment === null || !refusing) return shop.fetch(request);
    const challenge = { ...(await challengeOf(shop, '/air/search', SEARCH)), error: 'payment_settlement_failed: no' };
    return Response.json(challenge, { status: 402, headers: { 'PAYMENT-REQUIRED': encoded(challenge) } });
  };
  const one = await client(fetch);
  for (let i = 0; i < 2; i++) {
    await expect(one.client.search(SEARCH)).rejects.toMatchObject({
      code: 'payment_settlement_failed',
      retryAfter: expect.any(Number),
    });
  }
  expect(new Set(payments).size).toBe(1);
  clock.shift(70_000);
  refusing = false;
  await one.client.search(SEARCH);
  expect(new Set(payments).size).toBe(2);
  expect((await one.store.payments()).map((payment) => payment.state)).toEqual(['answered', 'abandoned']);
  expect(await charged()).toBe(100_000n);
});

test('a refusal by the service itself ends a payment', async () => {
  const works = shop.perform;
  shop.perform = async () => {
    throw problem('provider_failed');
  };
  const fetch: Fetch = async (request) => {
    try {
      return await shop.fetch(request);
    } catch {
      return Response.json({ code: 'provider_failed', message: 'The airline side failed.' }, { status: 502 });
    }
  };
  const one = await client(fetch);
  await expect(one.client.search(SEARCH)).rejects.toMatchObject({ code: 'provider_failed' });
  expect(await one.store.payments()).toMatchObject([{ state: 'refused', error_code: 'provider_failed' }]);
  shop.perform = works;
  await one.client.search(SEARCH);
  expect(await charged()).toBe(100_000n);
});

test('a bare 500 or a page of a proxy is a lost answer, not a refusal', async () => {
  for (const body of ['<html>', '{"message":"x"}']) {
    file++;
    let broken = true;
    const payments = new Set<string>();
    const one = await client(async (request) => {
      const payment = request.headers.get('PAYMENT-SIGNATURE');
      if (payment !== null) payments.add(payment);
      const response = await shop.fetch(request);
      return payment !== null && broken ? new Response(body, { status: 502 }) : response;
    });
    await expect(one.client.search(SEARCH)).rejects.toThrow();
    expect(await one.store.payments()).toMatchObject([{ state: 'sent' }]);
    broken = false;
    await one.client.search(SEARCH);
    expect(payments.size).toBe(1);
  }
});

test('what was charged and could not be done yet goes on with the same payment', async () => {
  const fetch: Fetch = (request) => shop.fetch(new Request(request.url.replace('/air/intents', '/book'), request));
  const works = async () => ({
    status: 201,
    body: { intent_id: 'int_2', status: 'active', customer_support_code: 'FLK-2', escrow: ESCROW },
  });
  shop.perform = async () => {
    throw problem('escrow_funding_mismatch');
  };
  const one = await client(fetch);
  const create = () => one.client.createIntent({ funding_wallet: world.wallet.address, offer_id: 'off' });
  await expect(create()).rejects.toMatchObject({ code: 'escrow_funding_mismatch' });
  expect(await one.store.payments()).toMatchObject([{ state: 'sent' }]);
  shop.perform = works;
  expect((await create()).value.customer_support_code).toBe('FLK-2');
  expect(await charged()).toBe(100_000n);
});

test('two copies of one command at once are one payment', async () => {
  const [a, b] = await Promise.all([client(), client()]);
  const answers = await Promise.all([a.client.search(SEARCH), b.client.search(SEARCH)]);
  expect(answers[0]?.value).toEqual(answers[1]?.value);
  expect(await a.store.payments()).toHaveLength(1);
  expect(await charged()).toBe(100_000n);
});

test('an interrupted call is resumed, not paid twice', async () => {
  const stop = new AbortController();
  const first = await client(async (request) => {
    if (request.headers.has('PAYMENT-SIGNATURE')) {
      stop.abort();
      await new Promise(() => undefined);
    }
    return shop.fetch(request);
  });
  await expect(first.client.search(SEARCH, { signal: stop.signal })).rejects.toMatchObject({ code: 'interrupted' });
  expect(await first.store.payments()).toMatchObject([{ state: 'signed' }]);
  const second = await client();
  await second.client.search(SEARCH);
  expect(await second.store.payments()).toHaveLength(1);
  expect(await charged()).toBe(100_000n);
});
