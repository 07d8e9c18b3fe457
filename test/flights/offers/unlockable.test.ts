import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWorld, TRIP, type World } from '../world.ts';

/** What a provider cannot sell to everybody is said before the first charge. */

let world: World;
beforeAll(async () => {
  world = await openWorld({ airline: 'scripted' });
});
afterAll(() => world.close());

test('the challenge of a search names the least age of its fares, where it is more than ours', async () => {
  const { call } = world.service((ports) => ({
    ...ports,
    provider: ports.provider && { ...ports.provider, leastAge: 18 },
  }));
  const asked = await call('/air/search', TRIP);
  expect(asked.status).toBe(402);
  expect(asked.body).toMatchObject({ resource: { description: 'Search LIS to BER for travellers of 18 and over' } });
  const usual = await world.call('/air/search', TRIP);
  expect(usual.body).toMatchObject({ resource: { description: 'Search LIS to BER' } });
});

test('an offer that its provider cannot order is 409 offer_unsupported at the lock, before anything is paid', async () => {
  const { call } = world.service((ports) => ({
    ...ports,
    provider: ports.provider && {
      ...ports.provider,
      offer: async (...asked) => ({ ...(await world.airline.provider.offer(...asked)), isUnpayable: true }),
    },
  }));
  const before = await world.sums();
  const answer = await world.paid(
    '/air/intents',
    { funding_wallet: world.wallet.address, refund_wallet: world.refundWallet.address, offer_id: 'off_1' },
    { call },
  );
  expect([answer.status, answer.body.code]).toEqual([409, 'offer_unsupported']);
  expect(await world.sums()).toEqual(before);
});
