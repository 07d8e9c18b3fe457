import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFlightsClient } from '../../src/client/flights.ts';
import type { Payer } from '../../src/client/payer/payer.ts';
import { manualClock } from '../clock.ts';
import { openWorld, type World } from '../payments/world.ts';
import { openClient } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test('updates are asked for by search id and cursor, and read', async () => {
  const asked: unknown[] = [];
  const { client, store } = await openClient(world, async (request) => {
    asked.push([new URL(request.url).pathname, await request.json()]);
    return Response.json({ search_id: 's', status: 'complete', offers: [{ id: 'lowcost:1' }], cursor: '2' });
  });
  expect(await client.searchUpdates({ search_id: 's', cursor: '1' })).toEqual({
    search_id: 's',
    status: 'complete',
    offers: [expect.objectContaining({ offer_id: 'lowcost:1' })],
    cursor: '2',
  });
  expect(asked).toEqual([['/air/search-updates', { search_id: 's', cursor: '1' }]]);
  await store.shut();
});

const menu = (status: string) => ({
  offer: { offer_id: 'lowcost:1' },
  fare_menu: { status, checked_at: null, expires_at: null, fares: [] },
  ...(status === 'pending' && { poll_after_ms: 400 }),
});

/** A client whose payer is a list of answers, on a clock that moves as it sleeps. */
function menuClient(statuses: readonly string[]) {
  const clock = manualClock();
  const slept: number[] = [];
  let asked = 0;
  const payer: Payer = {
    send: async () => ({ body: menu(statuses[Math.min(asked++, statuses.length - 1)] ?? ''), payment: null }),
  };
  const client = createFlightsClient({
    baseUrl: 'http://shop.test',
    fetch: () => Promise.reject(new Error('the payer asks')),
    payer,
    timeoutMs: 1_000,
    clock: {
      now: clock.now,
      sleep: async (ms) => {
        slept.push(ms);
        clock.advance(ms);
      },
    },
  });
  return { client, slept, asked: () => asked };
}

test('a fare menu that is being opened is asked for again as often as the service says', async () => {
  const { client, slept, asked } = menuClient(['pending', 'pending', 'ready']);
  expect((await client.offerDetails('lowcost:1')).value.fare_menu?.status).toBe('ready');
  expect(slept).toEqual([400, 400]);
  expect(asked()).toBe(3);
});

test('one that takes longer than the timeout is given as it is', async () => {
  const { client, asked } = menuClient(['pending']);
  const { value, payment } = await client.offerDetails('lowcost:1');
  expect(value.fare_menu?.status).toBe('pending');
  expect(payment).toBeNull();
  expect(asked()).toBe(3);
});
