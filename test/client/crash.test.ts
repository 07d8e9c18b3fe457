import { afterAll, beforeAll, expect, test } from 'vitest';
import { LEASE_MS } from '../../src/payments/journal.ts';
import { mortal } from '../payments/mortal.ts';
import { openShop, openWorld, shiftedClock, type World } from '../payments/world.ts';
import { openClient } from './world.ts';

const clock = shiftedClock();
let world: World;
beforeAll(async () => {
  world = await openWorld({ clock });
});
afterAll(() => world.close());

test('the tool may die at any step: the same command then ends with the support code, charged once', async () => {
  let steps = 0;
  for (let n = 1; ; n++) {
    const shop = openShop(world);
    shop.perform = async (payment) => ({
      status: 201,
      body: {
        intent_id: `int_${n}`,
        status: 'active',
        customer_support_code: `FLK-${payment.key.slice(0, 8)}`,
        escrow: { address: world.treasury.address, mint: 'm', amount: 1 },
      },
    });
    await world.cluster.airdropUsdc(world.wallet.address, 100_000n);
    const before = await world.usdc(world.treasury);
    const request = { funding_wallet: world.wallet.address, offer_id: `off_${n}` };
    const life = mortal(n);
    const doomed = await openClient(
      world,
      async (asked) => {
        life.step();
        const response = await shop.fetch(asked);
        life.step();
        return response;
      },
      {
        cluster: async () => life.cluster(world.cluster),
        wrap: (store) => life.ports(store),
        clock: { ...clock, sleep: async () => life.step() },
      },
    );
    await doomed.client.createIntent(request).catch((error: unknown) => {
      if (!life.died()) throw error;
    });
    await doomed.store.shut();
    clock.shift(LEASE_MS + 1);
    const healthy = await openClient(world, shop.fetch);
    const remembered = await healthy.store.intent(`int_${n}`);
    const code = remembered?.supportCode ?? (await healthy.client.createIntent(request)).value.customer_support_code;
    expect([n, code]).toEqual([n, expect.stringMatching(/^FLK-/)]);
    expect([n, (await healthy.store.intent(`int_${n}`))?.supportCode]).toEqual([n, code]);
    expect([n, (await world.usdc(world.treasury)) - before]).toEqual([n, 100_000n]);
    await healthy.store.shut();
    steps = n;
    if (!life.died()) break;
  }
  expect(steps).toBeGreaterThan(12);
});
