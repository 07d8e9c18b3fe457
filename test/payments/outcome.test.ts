import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { problem } from '../../src/kernel/problems.ts';
import { LEASE_MS } from '../../src/payments/journal.ts';
import type { Cluster } from '../../src/solana/cluster.ts';
import { type Challenge, openShop, openWorld, pay, request, type Shop, shiftedClock, type World } from './world.ts';

const clock = shiftedClock();
let world: World;
let before: bigint;
beforeAll(async () => {
  world = await openWorld({ clock });
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.cluster.airdropUsdc(world.wallet.address, 100_000n);
  before = await world.usdc(world.treasury);
});

const charged = async () => (await world.usdc(world.treasury)) - before;
const outage = () => Promise.reject(problem('cluster_failed'));

/** A shop whose cluster fails as told; the shop behind it can be healed by taking `faults` away. */
function faulty(faults: Partial<Cluster>, patienceMs = 0): Shop {
  return openShop(world, { cluster: { ...world.cluster, ...faults }, patienceMs });
}

test.each(['/search', '/book'])(
  'a settlement of %s that landed with its answer lost is found on chain at once',
  async (path) => {
    const shop = faulty({
      send: async (wire) => {
        await world.cluster.send(wire);
        return outage();
      },
    });
    const payment = await pay(world, shop, path, {});
    expect((await shop.fetch(request(path, {}, payment))).status).toBe(200);
    expect(await charged()).toBe(100_000n);
    expect(shop.performed).toHaveLength(1);
  },
);

test.each(['/search', '/book'])(
  'a settlement of %s with unknown outcome is pending: neither answered nor paid anew, until it is known',
  async (path) => {
    const blind = faulty({
      send: async (wire) => {
        await world.cluster.send(wire);
        return outage();
      },
      signatureStatus: outage,
    });
    const payment = await pay(world, blind, path, {});
    for (let i = 0; i < 2; i++) {
      await expect(blind.fetch(request(path, {}, payment))).rejects.toMatchObject({
        code: 'payment_pending',
        status: 503,
        retryAfter: expect.any(Number),
      });
    }
    const [row] = await world.store.selectFrom('settlements').selectAll().where('state', '=', 'settling').execute();
    expect(await blind.paywall.outcome(row?.payment_key ?? '')).toBe('unknown');
    const seeing = openShop(world);
    expect((await seeing.fetch(request(path, {}, payment))).status).toBe(200);
    expect(await charged()).toBe(100_000n);
  },
);

test('a settlement that never left is sent again, the same bytes', async () => {
  const sent: string[] = [];
  const deaf = faulty({
    send: async (wire) => {
      sent.push(Buffer.from(wire).toString('hex'));
      return outage();
    },
  });
  const payment = await pay(world, deaf, '/search', {});
  await expect(deaf.fetch(request('/search', {}, payment))).rejects.toMatchObject({ code: 'payment_pending' });
  expect(await charged()).toBe(0n);
  const healed = faulty({
    send: async (wire) => {
      sent.push(Buffer.from(wire).toString('hex'));
      return world.cluster.send(wire);
    },
  });
  expect((await healed.fetch(request('/search', {}, payment))).status).toBe(200);
  expect(new Set(sent).size).toBe(1);
  expect(await charged()).toBe(100_000n);
});

test('unknown becomes failed only when the blockhash is dead and the chain does not know the payment', async () => {
  const deaf = faulty({ send: outage });
  const payment = await pay(world, deaf, '/search', {});
  await expect(deaf.fetch(request('/search', {}, payment))).rejects.toMatchObject({ code: 'payment_pending' });
  clock.shift(40_000);
  await expect(deaf.fetch(request('/search', {}, payment))).rejects.toMatchObject({ code: 'payment_pending' });
  expect(deaf.undone).toEqual([]);
  clock.shift(60_000);
  const blind = faulty({ signatureStatus: outage });
  await expect(blind.fetch(request('/search', {}, payment))).rejects.toMatchObject({ code: 'payment_pending' });
  const response = await deaf.fetch(request('/search', {}, payment));
  expect(response.status).toBe(402);
  expect(((await response.json()) as Challenge).error).toMatch(/^payment_settlement_failed: /);
  expect(deaf.undone).toHaveLength(1);
  expect(await charged()).toBe(0n);
  expect(await deaf.paywall.outcome(deaf.undone[0] ?? '')).toBe('failed');
});

test('a payment that the cluster refuses is undone, and a new challenge given', async () => {
  const shop = openShop(world);
  const payment = await pay(world, shop, '/search', {});
  const works = shop.perform;
  shop.perform = async (paid, body) => {
    // The payer spends the money elsewhere while we work.
    const spend = openShop(world);
    spend.terms = { ...spend.terms, amount: await world.usdc(world.wallet) };
    await spend.fetch(request('/search', { all: 1 }, await pay(world, spend, '/search', { all: 1 })));
    return works(paid, body);
  };
  const response = await shop.fetch(request('/search', {}, payment));
  expect(response.status).toBe(402);
  expect(((await response.json()) as Challenge).error).toMatch(/^payment_settlement_failed: /);
  expect(shop.undone).toHaveLength(1);
  // The money comes back, but what was told to have failed is not charged any more.
  await world.cluster.airdropUsdc(world.wallet.address, 10_000_000n);
  before = await world.usdc(world.treasury);
  expect((await shop.fetch(request('/search', {}, payment))).status).toBe(402);
  expect(await charged()).toBe(0n);
});

test('a refusal after an earlier send that may have landed is not taken for a failure', async () => {
  const shop = faulty({
    send: async (wire) => {
      await world.cluster.send(wire);
      return outage();
    },
    signatureStatus: outage,
  });
  const payment = await pay(world, shop, '/search', {});
  await expect(shop.fetch(request('/search', {}, payment))).rejects.toMatchObject({ code: 'payment_pending' });
  // A node that lags: it does not know the signature yet, and refuses the bytes.
  const lagging = faulty({
    send: () => Promise.reject(problem('transaction_failed', { detail: { error: 'InsufficientFunds' } })),
    signatureStatus: async () => null,
  });
  await expect(lagging.fetch(request('/search', {}, payment))).rejects.toMatchObject({ code: 'payment_pending' });
  expect(lagging.undone).toEqual([]);
  expect((await openShop(world).fetch(request('/search', {}, payment))).status).toBe(200);
  expect(await charged()).toBe(100_000n);
});

test('a cluster that cannot be asked makes a payment pending, not invalid', async () => {
  for (const fault of [{ simulate: outage }, { latestBlockhash: outage }]) {
    const shop = faulty(fault);
    const payment = await pay(world, openShop(world), '/search', {});
    await expect(shop.fetch(request('/search', {}, payment))).rejects.toMatchObject({ code: 'payment_pending' });
    expect((await openShop(world).fetch(request('/search', {}, payment))).status).toBe(200);
  }
});

test('a copy that comes while the first is at work waits, and is told to come back when that takes long', async () => {
  const shop = openShop(world, { patienceMs: 100 });
  const payment = await pay(world, shop, '/search', {});
  let finish = () => {};
  shop.perform = async () => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    return { status: 200, body: 'done' };
  };
  const first = shop.fetch(request('/search', {}, payment));
  await expect.poll(() => shop.performed.length).toBe(1);
  await expect(shop.fetch(request('/search', {}, payment))).rejects.toMatchObject({ code: 'payment_pending' });
  finish();
  expect((await first).status).toBe(200);
  expect(await (await shop.fetch(request('/search', {}, payment))).json()).toBe('done');
  expect(shop.performed).toHaveLength(1);
});

test('the clock may jump in the middle of a payment', async () => {
  for (const jump of [3_600_000, -7_200_000, 3_600_000]) {
    const shop = openShop(world, { patienceMs: 0 });
    shop.perform = async () => {
      clock.shift(jump);
      return { status: 200, body: 'done' };
    };
    const body = { jump };
    await world.cluster.airdropUsdc(world.wallet.address, 100_000n);
    before = await world.usdc(world.treasury);
    const payment = await pay(world, shop, '/search', body);
    const first = await shop.fetch(request('/search', body, payment));
    clock.shift(LEASE_MS + 1);
    const again = await openShop(world).fetch(request('/search', body, payment));
    expect([jump, again.status]).toEqual([jump, first.status]);
    expect([jump, await charged()]).toEqual([jump, first.status === 200 ? 100_000n : 0n]);
  }
});
