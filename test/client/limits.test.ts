import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Limits, NO_LIMITS, type SpendingPolicy } from '../../src/client/base/spending.ts';
import { EMBEDDED_TRUST } from '../../src/client/base/trusted-program.ts';
import { createFlightsClient } from '../../src/client/flights.ts';
import type { ClientStore } from '../../src/client/journal/store.ts';
import { createPlanner, PaymentPlanned } from '../../src/client/payer/plan.ts';
import { resumePayment } from '../../src/client/payer/resume.ts';
import { verifyPayment } from '../../src/client/payer/verify.ts';
import { problem } from '../../src/kernel/problems.ts';
import { DEVNET_USDC } from '../../src/solana/cluster.ts';
import { openShop, openWorld, type Shop, shiftedClock, type World } from '../payments/world.ts';
import { type WebFetch as Fetch, fetchOver } from '../web.ts';
import { openClient } from './world.ts';

/** The person's own limits, dry runs without a key, and payments held against the cluster. */

const clock = shiftedClock();
const hasty = { ...clock, sleep: async () => undefined };
const SEARCH = { origin_iata: 'LIS', destination_iata: 'BER', depart_date: '2026-12-20' };
const DAY_MS = 86_400_000;

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
  shop.perform = async () => ({ status: 200, body: { offers: [] } });
  before = await world.usdc(world.treasury);
  file++;
  // A day of its own for each test: the wallet is the same.
  clock.shift(2 * DAY_MS);
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.shut();
});

const charged = async () => (await world.usdc(world.treasury)) - before;
async function client(limits: Partial<Limits> = {}, fetch: Fetch = shop.fetch) {
  const one = await openClient(world, fetch, {
    file: `limits-${file}.db`,
    clock: hasty,
    policy: { limits: { ...NO_LIMITS, ...limits } },
  });
  opened.push(one.store);
  return one;
}
const day = (n: number) => ({ ...SEARCH, depart_date: `2026-12-${String(n).padStart(2, '0')}` });

describe('the daily limit', () => {
  test('stops the payment that would pass it, before anything is signed, until 24 hours have gone', async () => {
    const one = await client({ perDay: 250_000n });
    await one.client.search(day(1));
    await one.client.search(day(2));
    await expect(one.client.search(day(3))).rejects.toMatchObject({
      code: 'daily_limit_reached',
      detail: { amount: '0.10', spent: '0.20', limit: '0.25' },
    });
    expect(await one.store.payments()).toHaveLength(2);
    expect(await charged()).toBe(200_000n);
    clock.shift(DAY_MS - 3_600_000);
    await expect(one.client.search(day(3))).rejects.toMatchObject({ code: 'daily_limit_reached' });
    clock.shift(3_700_000);
    await one.client.search(day(3));
    expect(await charged()).toBe(300_000n);
  });

  test('holds between processes: of many at once only those that fit are written', async () => {
    const several = await Promise.all(Array.from({ length: 6 }, () => client({ perDay: 250_000n })));
    const ends = await Promise.allSettled(several.map((one, n) => one.client.search(day(n + 1))));
    expect(ends.filter((end) => end.status === 'fulfilled')).toHaveLength(2);
    for (const end of ends) {
      if (end.status === 'rejected') expect(end.reason).toMatchObject({ code: 'daily_limit_reached' });
    }
    expect(await charged()).toBe(200_000n);
  });

  test('is held when the payment is written, also where two have passed the first look together', async () => {
    const one = await client({ perDay: 150_000n });
    const blind = await openClient(world, shop.fetch, {
      file: `limits-${file}.db`,
      clock: hasty,
      policy: { limits: { ...NO_LIMITS, perDay: 150_000n } },
      wrap: (store) => ({ ...store, spent: async () => 0n }),
    });
    opened.push(blind.store);
    await one.client.search(day(1));
    await expect(blind.client.search(day(2))).rejects.toMatchObject({ code: 'daily_limit_reached' });
    expect(await charged()).toBe(100_000n);
    expect(await one.store.payments()).toHaveLength(1);
  });

  test('counts what the service says it has refused: the signature is out of hand', async () => {
    const one = await client({ perDay: 150_000n });
    shop.perform = async () => {
      throw problem('offer_unavailable');
    };
    await expect(one.client.search(day(1))).rejects.toMatchObject({ code: 'offer_unavailable' });
    await expect(one.client.search(day(2))).rejects.toMatchObject({ code: 'daily_limit_reached' });
  });

  test('a clock that was set back opens no second day', async () => {
    const one = await client({ perDay: 150_000n });
    await one.client.search(day(1));
    clock.shift(-DAY_MS / 2);
    await expect(one.client.search(day(2))).rejects.toMatchObject({ code: 'daily_limit_reached' });
    clock.shift(DAY_MS / 2);
  });

  test('a payment that is sent again counts once', async () => {
    let lost = 0;
    const one = await client({ perDay: 100_000n }, async (request) => {
      const answer = await shop.fetch(request);
      if (request.headers.has('PAYMENT-SIGNATURE') && lost++ < 5) throw new TypeError('fetch failed');
      return answer;
    });
    await expect(one.client.search(SEARCH)).rejects.toMatchObject({ code: 'network_unreachable' });
    await one.client.search(SEARCH);
    expect(await charged()).toBe(100_000n);
  });
});

test('a host that is not on the list is not paid', async () => {
  const other = await client({ hosts: ['flights.example'] });
  await expect(other.client.search(SEARCH)).rejects.toMatchObject({
    code: 'host_not_allowed',
    detail: { host: 'shop.test' },
  });
  const nobody = await client({ hosts: [] });
  await expect(nobody.client.search(SEARCH)).rejects.toMatchObject({ code: 'host_not_allowed' });
  expect(await other.store.payments()).toEqual([]);
  await (await client({ hosts: ['shop.test'] })).client.search(SEARCH);
  expect(await charged()).toBe(100_000n);
});

describe('a dry run', () => {
  async function planned(policy: Partial<SpendingPolicy> = {}, fetch: Fetch = shop.fetch) {
    const { store } = await client();
    const payer = createPlanner({
      cluster: async () => world.cluster,
      trust: EMBEDDED_TRUST,
      wallet: async () => world.wallet.address,
      journal: async () => store,
      policy: { limits: NO_LIMITS, ...policy },
      network: world.cluster.network,
      usdcMint: DEVNET_USDC,
      clock,
    });
    const flights = createFlightsClient({ baseUrl: 'http://shop.test', fetch: fetchOver(fetch), payer });
    const end = await flights.search(SEARCH).catch((error: unknown) => error);
    if (!(end instanceof PaymentPlanned)) throw end;
    expect(await store.payments()).toEqual([]);
    return end.plan;
  }

  test('shows everything that would be signed, and sends no payment', async () => {
    let paid = 0;
    const plan = await planned({}, async (request) => {
      if (request.headers.has('PAYMENT-SIGNATURE')) paid++;
      return shop.fetch(request);
    });
    expect(plan).toMatchObject({
      resource: 'POST /air/search',
      host: 'shop.test',
      amount: '0.10',
      amount_atomic: 100_000,
      asset: DEVNET_USDC,
      pay_to: world.treasury.address,
      network: world.cluster.network,
      memo: expect.stringMatching(/./),
      fee_payer: world.feePayer.address,
      expires_at: expect.stringMatching(/Z$/),
      decision: 'sign',
    });
    expect(paid).toBe(0);
    expect(await charged()).toBe(0n);
  });

  test.each<[string, Partial<SpendingPolicy>, object]>([
    [
      'above the cap, with nobody to ask',
      { limits: { ...NO_LIMITS, perCall: 1n } },
      { decision: 'refuse', reason: { code: 'payment_above_cap' } },
    ],
    [
      'above the cap, with somebody to ask',
      { limits: { ...NO_LIMITS, perCall: 1n }, canAsk: true, ask: async () => false },
      { decision: 'ask' },
    ],
    [
      'above the day',
      { limits: { ...NO_LIMITS, perDay: 1n } },
      { decision: 'refuse', reason: { code: 'daily_limit_reached' } },
    ],
    [
      'elsewhere',
      { limits: { ...NO_LIMITS, hosts: ['x.example'] } },
      { decision: 'refuse', reason: { code: 'host_not_allowed' } },
    ],
  ])('says what would become of a payment %s', async (_name, policy, said) => {
    expect(await planned(policy)).toMatchObject(said);
  });
});

describe('a payment held against the cluster', () => {
  const never = async () => null;
  async function paidSearch(fetch: Fetch = shop.fetch) {
    const one = await client({}, fetch);
    await one.client.search(SEARCH).catch(() => undefined);
    const [record] = await one.store.payments();
    await one.store.shown([record?.payment_id ?? '']);
    const signed = await one.store.signedPayment(record?.payment_id ?? '');
    if (!signed) throw new Error('nothing was signed');
    return { ...one, signed };
  }

  test('landed as it was signed: amount, destination, memo, payer', async () => {
    const { signed } = await paidSearch();
    const verified = await verifyPayment({ cluster: world.cluster, findByMemo: never }, signed);
    expect(verified.verdict).toBe('landed');
    expect(verified.checks.map((one) => one.check)).toEqual(
      expect.arrayContaining(['landed', 'succeeded', 'amount', 'destination', 'memo', 'payer', 'signed_here']),
    );
    expect(verified.memo).toMatch(/./);
  });

  test('a service that names another transaction, or one that never was, is caught', async () => {
    const { signed } = await paidSearch();
    const other = await paidSearch();
    const ports = { cluster: world.cluster, findByMemo: never };
    const lie = { ...signed, record: { ...signed.record, transaction: other.signed.record.transaction } };
    const found = await verifyPayment(ports, lie);
    expect(found.verdict).toBe('mismatch');
    expect(found.checks.filter((one) => !one.ok).map((one) => one.check)).toEqual(['memo', 'signed_here']);
    const invented = { ...signed, record: { ...signed.record, transaction: '1'.repeat(64) } };
    expect((await verifyPayment(ports, invented)).verdict).toBe('mismatch');
    // As long as one, and not base58.
    const noise = { ...signed, record: { ...signed.record, transaction: '0'.repeat(88) } };
    const unfound = { ...ports, findByMemo: async () => null };
    expect((await verifyPayment(unfound, noise)).verdict).toBe('mismatch');
  });

  test('one whose answer was lost is found by its memo', async () => {
    const { signed } = await paidSearch(async (request) => {
      const answer = await shop.fetch(request);
      if (request.headers.has('PAYMENT-SIGNATURE')) throw new TypeError('fetch failed');
      return answer;
    });
    expect(signed.record).toMatchObject({ state: 'sent', open: true, transaction: null });
    const ports = (found: string | null) => ({ cluster: world.cluster, findByMemo: async () => found });
    expect((await verifyPayment(ports(null), signed)).verdict).toBe('waiting');
    // The same search goes on with the same payment, and learns its transaction.
    const settled = (await paidSearch()).signed.record;
    expect(settled).toMatchObject({ payment_id: signed.record.payment_id, state: 'answered' });
    expect((await verifyPayment(ports(settled.transaction), signed)).verdict).toBe('landed');
  });
});

describe('an unanswered payment', () => {
  test('is resumed with the same bytes and headers, charged once, and ends with the answer', async () => {
    const seen: (string | null)[] = [];
    const one = await client({}, async (request) => {
      const payment = request.headers.get('PAYMENT-SIGNATURE');
      const answer = await shop.fetch(request);
      if (payment === null) return answer;
      seen.push(payment);
      throw new TypeError('fetch failed');
    });
    await expect(one.client.search(SEARCH)).rejects.toMatchObject({ code: 'network_unreachable' });
    const [record] = await one.store.payments();
    const signed = await one.store.signedPayment(record?.payment_id ?? '');
    if (!signed) throw new Error('nothing was signed');
    const ports = {
      journal: one.store,
      cluster: async () => world.cluster,
      clock: hasty,
      fetch: fetchOver((request) => {
        seen.push(request.headers.get('PAYMENT-SIGNATURE'));
        return shop.fetch(request);
      }),
      baseUrl: 'http://shop.test',
      headersOf: async () => ({}),
    };
    const patience = { timeoutMs: 5_000 };
    await expect(resumePayment({ ...ports, baseUrl: 'http://evil.test' }, signed, patience, {})).rejects.toMatchObject({
      code: 'usage',
    });
    const answer = await resumePayment(ports, signed, patience, {});
    expect(answer).toMatchObject({ body: { offers: [] }, payment: { amount: '0.10' } });
    expect(new Set(seen).size).toBe(1);
    expect(await charged()).toBe(100_000n);
    // Until it was shown, the answer is given again, and nothing is sent.
    const kept = await one.store.signedPayment(record?.payment_id ?? '');
    expect(await resumePayment(ports, kept ?? signed, patience, {})).toMatchObject({
      body: { offers: [] },
      isKept: true,
    });
    await one.store.shown([record?.payment_id ?? '']);
    const ended = await one.store.signedPayment(record?.payment_id ?? '');
    expect(ended).toMatchObject({ isOpen: false, record: { state: 'answered', open: false } });
    await expect(resumePayment(ports, ended ?? signed, patience, {})).rejects.toMatchObject({ code: 'usage' });
  });
});
