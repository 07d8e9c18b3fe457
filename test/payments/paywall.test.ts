import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type Challenge,
  challengeOf,
  decoded,
  openShop,
  openWorld,
  pay,
  request,
  type World,
} from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test('a paid call is answered, charged once, and says what was settled', async () => {
  const shop = openShop(world);
  const before = await world.usdc(world.treasury);
  const payment = await pay(world, shop, '/search', { a: 1 });
  const response = await shop.fetch(request('/search', { a: 1 }, payment));
  expect(response.status).toBe(200);
  expect(decoded(response.headers.get('PAYMENT-RESPONSE'))).toMatchObject({
    success: true,
    payer: world.wallet.address,
    network: world.cluster.network,
    amount: '100000',
  });
  expect(await world.usdc(world.treasury)).toBe(before + 100_000n);
});
