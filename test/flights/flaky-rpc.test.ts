import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CreatedIntent } from '../../src/wire/flights/index.ts';
import { rounds } from '../rounds.ts';
import { type Lie, openLyingCluster, seeded, troubled } from '../solana/lying-rpc.ts';
import { openWorld, PASSENGER, type World } from './world.ts';

/** The service's RPC node fails now and then, in every way that such nodes do. */

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** Three in ten calls fail; some of them are carried out all the same. */
function flaky(random: () => number): Lie {
  return async (call, honest) => {
    if (random() >= 0.3) return honest();
    const way = Math.floor(random() * 10);
    if (way >= 7) await honest();
    switch (way) {
      case 0:
      case 7:
        throw new TypeError('fetch failed', { cause: new Error('ECONNRESET') });
      case 1:
        return new Response('', { status: 429, headers: { 'retry-after': '1' } });
      case 2:
        return new Response('upstream', { status: 503 });
      case 3:
        return troubled(call, -32005, 'Node is behind by 42 slots');
      case 4:
        return troubled(call, -32016, 'Minimum context slot has not been reached');
      case 5:
      case 8:
        return new Response('<html><body>502</body></html>', { headers: { 'content-type': 'text/html' } });
      case 6:
        return { jsonrpc: '2.0', id: 'another', result: null };
      default:
        return new Response('{"jsonrpc":"2.0","result":{"context":{"slo');
    }
  };
}

test('journeys over a flaky node pass at the first try', async () => {
  const failed: unknown[] = [];
  for (let run = 0; run < rounds(4, 30); run++) {
    const liar = await openLyingCluster(world, world.clock.advance);
    liar.tell = flaky(seeded(run));
    const service = world.service((ports) => ({ ...ports, cluster: liar.cluster }));
    const { call } = service;
    const found = await world.search();
    const offer = found.offers[run];
    const made = await world.paid<CreatedIntent>(
      '/air/intents',
      { funding_wallet: world.wallet.address, refund_wallet: world.refundWallet.address, offer_id: offer?.offer_id },
      { call },
    );
    const booked = await world.paid('/air/book', { intent_id: made.body.intent_id, passengers: [PASSENGER] }, { call });
    await world.work(undefined, service.worker);
    const { status } = made.status === 201 ? await world.show(made.body) : { status: 'none' };
    if (made.status !== 201 || booked.status !== 200 || status !== 'booked') {
      failed.push([run, made.status, made.body, booked.status, booked.body, status]);
    }
  }
  expect(failed).toEqual([]);
});

test('a node that is away is 503 with Retry-After for who has not paid, and tells nothing of the node', async () => {
  const { offers } = await world.search();
  const made = await world.intent(offers[20]?.offer_id ?? '');
  const liar = await openLyingCluster(world, world.clock.advance);
  liar.tell = () => {
    throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 10.1.2.3:8899') });
  };
  const service = world.service((ports) => ({ ...ports, cluster: liar.cluster }));
  const body = { intent_id: made.intent_id, passengers: [PASSENGER] };
  const away = await service.call('/air/book', body);
  expect([away.status, away.body.code]).toEqual([503, 'cluster_failed']);
  expect(Number(away.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(JSON.stringify(away.body)).not.toContain('10.1.2.3');

  const asked = await world.call('/air/book', body);
  const headers = { 'PAYMENT-SIGNATURE': await world.sign(asked) };
  const paid = await service.call('/air/book', body, { headers });
  expect([paid.status, paid.body.code]).toEqual([503, 'payment_pending']);
  expect(Number(paid.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await world.call('/air/book', body, { headers })).status).toBe(200);
});
