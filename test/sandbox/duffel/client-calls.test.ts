import { afterAll, beforeAll, expect, test } from 'vitest';
import { manualClock } from '../../clock.ts';
import { orderOf, type ServedDuffel, searched, serveDuffel } from './served.ts';
import type { Offer, Webhook } from './shapes.ts';

/** Calls as the API's own client (@duffel/api 4.30.0) makes them. */

const clock = manualClock(Date.UTC(2026, 10, 21, 9));
let duffel: ServedDuffel;
beforeAll(async () => {
  duffel = await serveDuffel({ clock, seed: 'client', stepMs: 2_000, slowMs: 50 });
});
afterAll(() => duffel.close());

const SEARCH = {
  slices: [{ origin: 'VIE', destination: 'LIS', departure_date: '2027-01-20' }],
  passengers: [{ type: 'adult' }],
  cabin_class: 'economy',
};

test('a search is posted with a slash at the end', async () => {
  const made = await duffel.call('POST', '/air/offer_requests/?return_offers=true', SEARCH);
  expect(made.status).toBe(201);
  expect(made.body.data.offers.length).toBeGreaterThan(5);
  const listed = await duffel.call<{ id: string }[]>('GET', '/air/offer_requests?limit=1');
  expect(listed.body.data.map(({ id }) => id)).toEqual([made.body.data.id]);
});

test('a search in batches gives each offer once, until none is left', async () => {
  interface Batch {
    readonly id: string;
    readonly remaining_batches: number;
    readonly offers: readonly Offer[];
  }
  const made = await duffel.call<Batch>('POST', '/air/batch_offer_requests/', SEARCH);
  expect(made.body.data).toMatchObject({ total_batches: 2, remaining_batches: 2, offers: [] });
  const path = `/air/batch_offer_requests/${made.body.data.id}`;
  const next = async () => (await duffel.call<Batch>('GET', path)).body.data;
  const batches = [await next(), await next(), await next()];
  expect(batches.map(({ remaining_batches: left }) => left)).toEqual([1, 0, 0]);
  const ids = batches.flatMap(({ offers }) => offers.map(({ id }) => id));
  const all = await duffel.call('GET', `/air/offer_requests/${made.body.data.id}`);
  expect(ids.sort()).toEqual(all.body.data.offers.map(({ id }) => id).sort());
  clock.advance(60_000);
  expect((await duffel.call('GET', path)).status).toBe(404);
});

test('an offer is priced for what is meant to be bought', async () => {
  const [offer] = await searched(duffel, 'VIE', 'LIS', '2027-01-20', {}, 'ZZ');
  const priced = await duffel.call('POST', `/air/offers/${offer.id}/actions/price`, {
    intended_payment_methods: [{ type: 'balance' }],
  });
  expect(priced.body.data).toMatchObject({
    id: offer.id,
    total_amount: offer.total_amount,
    intended_payment_methods: [{ type: 'balance' }],
  });
});

test('the metadata of an order changes, in both forms in which it is sent', async () => {
  const [offer] = await searched(duffel, 'VIE', 'LIS', '2027-01-20', {}, 'ZZ');
  const made = await duffel.call('POST', '/air/orders', orderOf(offer, 'int_1'));
  const path = `/air/orders/${made.body.data.id}`;
  for (const metadata of [{ a: '1' }, { b: '2' }]) {
    const body = 'a' in metadata ? { metadata } : { options: { metadata } };
    expect((await duffel.call('PATCH', path, body)).body.data.metadata).toEqual(metadata);
  }
  expect((await duffel.call('GET', path)).body.data.metadata).toEqual({ b: '2' });
  expect((await duffel.call('PATCH', path, { metadata: { a: 1 } })).status).toBe(422);
  expect((await duffel.call('GET', `${path}/available_services`)).body.data).toEqual([]);
});

test('a cancelled order names its cancellation, whose id has the prefix of cancellations', async () => {
  const [offer] = await searched(duffel, 'VIE', 'LIS', '2027-01-20', {}, 'ZZ');
  const made = await duffel.call('POST', '/air/orders', orderOf(offer, 'int_2'));
  const order_id = made.body.data.id;
  const quote = await duffel.call('POST', '/air/order_cancellations', { order_id });
  expect(quote.body.data.id).toMatch(/^ore_/);
  await duffel.call('POST', `/air/order_cancellations/${quote.body.data.id}/actions/confirm`);
  const read = await duffel.call('GET', `/air/orders/${order_id}`);
  expect(read.body.data).toMatchObject({ cancellation: { id: quote.body.data.id } });
});

test('a webhook is read, moved, turned off and deleted', async () => {
  const made = await duffel.call('POST', '/air/webhooks', {
    url: 'http://one.test/',
    events: ['ping.triggered'],
  });
  const path = `/air/webhooks/${made.body.data.id}`;
  const read = await duffel.call<Webhook>('GET', path);
  expect(read.body.data).toMatchObject({ url: 'http://one.test/', active: true });
  expect(read.body.data.secret).toBeUndefined();
  const moved = await duffel.call('PATCH', path, { url: 'http://two.test/', active: false });
  expect(moved.body.data).toMatchObject({ url: 'http://two.test/', active: false });
  expect((await duffel.call('PATCH', path, { url: 'nowhere' })).status).toBe(422);
  expect((await duffel.call('DELETE', path)).status).toBe(204);
  expect((await duffel.call('GET', path)).status).toBe(404);
});

test('airports are listed and read', async () => {
  const listed = await duffel.call<{ id: string }[]>('GET', '/air/airports?limit=2');
  expect(listed.body.data).toHaveLength(2);
  const [first] = listed.body.data;
  expect((await duffel.call('GET', `/air/airports/${first?.id}`)).body.data).toEqual(first);
});
