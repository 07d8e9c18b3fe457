import { afterAll, beforeAll, expect, test } from 'vitest';
import { openShop, openWorld, type World } from '../payments/world.ts';
import { openClient } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const SEARCH = { origin_iata: 'LIS', destination_iata: 'BER', depart_date: '2026-12-20' };

test('a paid search is paid from the journal and tells what it cost', async () => {
  const shop = openShop(world);
  shop.perform = async () => ({ status: 200, body: { offers: [{ offer_id: 'off_1' }] } });
  const { client, store } = await openClient(world, shop.fetch);
  const { value, payment } = await client.search(SEARCH);
  expect(value.offers).toEqual([{ offer_id: 'off_1' }]);
  expect(payment).toMatchObject({ amount: '0.10', network: world.cluster.network });
  const [record] = await store.payments();
  expect(record).toMatchObject({
    state: 'answered',
    resource: 'POST /air/search',
    transaction: payment?.transaction,
  });
  await store.shut();
});
