import { afterAll, beforeAll, expect, test } from 'vitest';
import { LEASE_MS } from '../../src/payments/journal.ts';
import { mortal } from './mortal.ts';
import { openShop, openWorld, pay, request, shiftedClock, type World } from './world.ts';

const clock = shiftedClock();
let world: World;
beforeAll(async () => {
  world = await openWorld({ clock });
});
afterAll(() => world.close());

/** Sends a new payment to a process that dies at its n-th step. What it did for whom outlives it. */
async function dieAt(n: number, path: string, effects: Set<string>) {
  const life = mortal(n);
  const doomed = openShop(world, { store: life.store(world.store), cluster: life.cluster(world.cluster) });
  const works = doomed.perform;
  doomed.perform = async (payment, body) => {
    life.step();
    effects.add(payment.key);
    life.step();
    return works(payment, body);
  };
  const healthy = openShop(world);
  healthy.perform = async (payment, body) => {
    effects.add(payment.key);
    return { status: 200, body: { echo: body, key: payment.key } };
  };
  const body = { n };
  await world.cluster.airdropUsdc(world.wallet.address, 100_000n);
  const payment = await pay(world, healthy, path, body);
  const before = await world.usdc(world.treasury);
  await doomed.fetch(request(path, body, payment)).catch((error: unknown) => {
    if (!life.died()) throw error;
  });
  return {
    died: life.died(),
    healthy,
    body,
    payment,
    send: () => healthy.fetch(request(path, body, payment)),
    charged: async () => (await world.usdc(world.treasury)) - before,
  };
}

test.each(['/search', '/book'])(
  'a process may die at any step of %s: the same request then ends it, charged once, one effect',
  async (path) => {
    let steps = 0;
    for (let n = 1; ; n++) {
      const effects = new Set<string>();
      const run = await dieAt(n, path, effects);
      clock.shift(LEASE_MS + 1);
      const answer = await run.send();
      const text = await answer.text();
      expect([n, answer.status, text]).toEqual([n, 200, expect.any(String)]);
      expect([n, await run.charged()]).toEqual([n, 100_000n]);
      expect([n, effects.size]).toEqual([n, 1]);
      const again = await run.send();
      expect([n, await again.text()]).toEqual([n, text]);
      expect([n, await run.charged()]).toEqual([n, 100_000n]);
      steps = n;
      if (!run.died) break;
    }
    expect(steps).toBeGreaterThan(15);
  },
);

test.each(['/search', '/book'])(
  'when nobody comes back after a death during %s, recovery tells paid from unpaid for certain',
  async (path) => {
    const keys = async () =>
      (await world.store.selectFrom('settlements').select('payment_key').execute()).map((row) => row.payment_key);
    const ends = new Set<string>();
    for (let n = 1; ; n++) {
      const earlier = await keys();
      const run = await dieAt(n, path, new Set());
      const [key] = (await keys()).filter((one) => !earlier.includes(one));
      clock.shift(LEASE_MS + 1);
      await run.healthy.paywall.recover();
      // Long enough for every quote and blockhash to be dead.
      clock.shift(200_000);
      await run.healthy.paywall.recover();
      const charged = await run.charged();
      if (key !== undefined) {
        const end = await run.healthy.paywall.outcome(key);
        expect([n, end]).toEqual([n, charged === 0n ? 'failed' : 'settled']);
        ends.add(end);
      }
      expect(await run.healthy.paywall.recover()).toEqual({ finished: 0, waiting: 0 });
      expect([n, (await run.send()).status]).toEqual([n, charged === 0n ? 402 : 200]);
      expect([n, await run.charged()]).toEqual([n, charged]);
      if (!run.died) break;
    }
    expect([...ends].sort()).toEqual(['failed', 'settled']);
  },
);

test('recovery leaves a claimed payment to its payer while the challenge lives', async () => {
  // Between the claim and the work.
  const run = await dieAt(11, '/search', new Set());
  clock.shift(LEASE_MS + 1);
  expect(await run.healthy.paywall.recover()).toEqual({ finished: 0, waiting: 1 });
  expect((await run.send()).status).toBe(200);
  expect(await run.charged()).toBe(100_000n);
});

test('work that was done for a payment which can land no more is not handed out by recovery', async () => {
  let isRefused = 0;
  for (let n = 1; ; n++) {
    const run = await dieAt(n, '/search', new Set());
    if (!run.died) break;
    // Nobody looks before every challenge and blockhash is dead.
    clock.shift(200_000);
    await run.healthy.paywall.recover();
    const charged = await run.charged();
    expect([n, (await run.send()).status]).toEqual([n, charged === 0n ? 402 : 200]);
    if (charged === 0n) isRefused++;
  }
  expect(isRefused).toBeGreaterThan(10);
});

test('a process that is only slow, and was overtaken, changes nothing when it wakes up', async () => {
  const slow = openShop(world);
  const fast = openShop(world);
  const payment = await pay(world, fast, '/search', { slow: 1 });
  const before = await world.usdc(world.treasury);
  let wake = () => {};
  let asleep = () => {};
  const sleeping = new Promise<void>((resolve) => {
    asleep = resolve;
  });
  slow.perform = async () => {
    asleep();
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
    return { status: 200, body: { who: 'slow' } };
  };
  fast.perform = async () => ({ status: 200, body: { who: 'fast' } });
  const late = slow.fetch(request('/search', { slow: 1 }, payment));
  await sleeping;
  clock.shift(LEASE_MS + 1);
  expect(await (await fast.fetch(request('/search', { slow: 1 }, payment))).json()).toEqual({ who: 'fast' });
  wake();
  expect(await (await late).json()).toEqual({ who: 'fast' });
  expect(await world.usdc(world.treasury)).toBe(before + 100_000n);
});

test('a lease that was written before the clock was set back does not hold for hours', async () => {
  // Between the claim and the work.
  const run = await dieAt(11, '/search', new Set());
  clock.shift(-3_600_000);
  const answer = await run.send();
  expect(answer.status).toBe(200);
  expect(await run.charged()).toBe(100_000n);
  clock.shift(3_600_000);
});
