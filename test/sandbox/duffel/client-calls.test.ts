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
  const made = await duffel.call('POST', '/air/webhooks', { url: 'http://one.test/', events: ['ping.triggered'] });
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

type Loose = Record<string, unknown> & { readonly id: string };
const loose = async (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) => {
  const { status, body: answer } = await duffel.call<Loose>(method, path, body);
  return { status, data: answer.data, code: answer.errors?.[0]?.code };
};
const ordered = async (reference: string, more: object = {}, cents = 0) => {
  const [offer] = await searched(duffel, 'VIE', 'LIS', '2027-01-20', {}, 'ZZ');
  const amount = (Number(offer.total_amount) + cents / 100).toFixed(2);
  const payments = [{ type: 'balance', amount, currency: offer.total_currency }];
  const made = await loose('POST', '/air/orders', orderOf(offer, reference, { payments, ...more }));
  return { offer, made, path: `/air/orders/${made.data?.id}` };
};

test('airlines, aircraft and loyalty programmes are listed and read', async () => {
  for (const path of ['/air/airlines', '/air/aircraft', '/air/loyalty_programmes']) {
    const { body } = await duffel.call<Loose[]>('GET', `${path}?limit=2`);
    expect(body.data).toHaveLength(2);
    expect((await loose('GET', `${path}/${body.data[0]?.id}`)).data).toEqual(body.data[0]);
    expect((await loose('GET', `${path}/arl_none`)).status).toBe(404);
  }
});

test('places are suggested by the start of a name: cities with their airports first', async () => {
  const { body } = await duffel.call<Loose[]>('GET', '/places/suggestions?query=lond');
  expect(body.data[0]).toMatchObject({
    type: 'city',
    iata_code: 'LON',
    airports: expect.arrayContaining([expect.objectContaining({ iata_code: 'LHR' })]),
  });
  expect(body.data.slice(1).every(({ type }) => type === 'airport')).toBe(true);
  expect((await duffel.call<Loose[]>('GET', '/places/suggestions?query=')).body.data).toEqual([]);
});

test('a search by directions ends with whole offers of the flights that were selected', async () => {
  const back = { origin: 'LIS', destination: 'VIE', departure_date: '2027-01-27' };
  const made = await duffel.call('POST', '/air/partial_offer_requests', {
    ...SEARCH,
    slices: [...SEARCH.slices, back],
  });
  const path = `/air/partial_offer_requests/${made.body.data.id}`;
  const [first] = made.body.data.offers;
  expect(first).toMatchObject({ partial: true, slices: [{ origin: { iata_code: 'VIE' } }] });
  const selected = `selected_partial_offer%5B%5D=${first?.id}`;
  const [second] = (await duffel.call('GET', `${path}?${selected}`)).body.data.offers;
  expect(second).toMatchObject({ partial: true, slices: [{ origin: { iata_code: 'LIS' } }] });
  const fares = await duffel.call('GET', `${path}/fares?${selected}&selected_partial_offer%5B%5D=${second?.id}`);
  const flown = ({ slices }: Offer) =>
    slices.map(({ segments }) => segments.map(({ departing_at }) => departing_at).join());
  expect(fares.body.data.offers.length).toBeGreaterThan(0);
  for (const offer of fares.body.data.offers as unknown as Offer[])
    expect(flown(offer)).toEqual([first, second].flatMap((one) => flown(one as unknown as Offer)));
  const wrong = `selected_partial_offer%5B%5D=${second?.id}`;
  expect((await loose('GET', `${path}?${wrong}`)).code).toBe('linked_record_not_found');
});

test('a seat of the map is booked with the order, and paid', async () => {
  const { offer } = await ordered('int_seat_0');
  interface Map extends Loose {
    readonly cabins: readonly {
      readonly rows: readonly { readonly sections: readonly { readonly elements: readonly Element[] }[] }[];
    }[];
  }
  interface Element {
    readonly designator: string;
    readonly available_services: readonly { readonly id: string; readonly total_amount: string }[];
  }
  const [other] = await searched(duffel, 'VIE', 'LIS', '2027-01-20', {}, 'ZZ');
  expect(other.id).not.toBe(offer.id);
  const maps = (await duffel.call<Map[]>('GET', `/air/seat_maps?offer_id=${other.id}`)).body.data;
  const seats = maps[0]?.cabins[0]?.rows.flatMap(({ sections }) => sections.flatMap((one) => one.elements));
  const free = seats?.find(({ available_services: services }) => services.length > 0);
  const service = free?.available_services[0];
  const amount = (Number(other.total_amount) + Number(service?.total_amount)).toFixed(2);
  const made = await loose(
    'POST',
    '/air/orders',
    orderOf(other, 'int_seat', {
      services: [{ id: service?.id, quantity: 1 }],
      payments: [{ type: 'balance', amount, currency: other.total_currency }],
    }),
  );
  expect(made).toMatchObject({
    status: 201,
    data: { total_amount: amount, services: [{ type: 'seat', metadata: { designator: free?.designator } }] },
  });
  expect(seats?.some(({ available_services: services }) => services.length === 0)).toBe(true);
});

test('an order that is held has no ticket until it is paid, exactly, once and in time', async () => {
  await duffel.admin('/settings', { balance: '100000.00' });
  const { made, path, offer } = await ordered('int_held', { type: 'hold', payments: [] });
  expect(made).toMatchObject({
    status: 201,
    data: { type: 'hold', documents: [], payment_status: { awaiting_payment: true, paid_at: null } },
  });
  expect(await duffel.admin('/settings', {})).toMatchObject({ settings: { balance: '100000.00' } });
  const waiting = await duffel.call<Loose[]>('GET', '/air/orders?awaiting_payment=true');
  expect(waiting.body.data.map(({ id }) => id)).toEqual([made.data.id]);
  const pay = (amount: string) =>
    loose('POST', '/air/payments', {
      order_id: made.data.id,
      payment: { type: 'balance', amount, currency: offer.total_currency },
    });
  expect((await pay('1.00')).code).toBe('payment_amount_does_not_match_order_amount');
  expect((await pay(offer.total_amount)).status).toBe(201);
  expect((await pay(offer.total_amount)).code).toBe('already_paid');
  expect(await loose('GET', path)).toMatchObject({
    data: { payment_status: { awaiting_payment: false }, documents: [{ type: 'electronic_ticket' }] },
  });
  const late = await ordered('int_late', { type: 'hold', payments: [] });
  clock.advance(4 * 86_400_000);
  const paid = await loose('POST', '/air/payments', {
    order_id: late.made.data.id,
    payment: { type: 'balance', amount: late.offer.total_amount, currency: late.offer.total_currency },
  });
  expect(paid.code).toBe('past_payment_required_by_date');
  await duffel.admin('/settings', { balance: null });
});

test('bags are added to an order, for their price', async () => {
  const { path, offer } = await ordered('int_bags');
  const services = (await duffel.call<Loose[]>('GET', `${path}/available_services`)).body.data;
  const [bag] = services;
  const add = (amount: unknown) =>
    loose('POST', `${path}/services`, {
      add_services: [{ id: bag?.id, quantity: 1 }],
      payment: { type: 'balance', amount, currency: offer.total_currency },
    });
  expect((await add('1.00')).code).toBe('payment_amount_does_not_match_order_amount');
  expect(await add(bag?.total_amount)).toMatchObject({ status: 201, data: { services: [{ type: 'baggage' }] } });
});

test('an order is changed to another day: looked for, chosen, paid, and flown on the new flights', async () => {
  const { made, path, offer } = await ordered('int_change');
  const [slice] = made.data.slices as Loose[];
  const wanted = { origin: 'VIE', destination: 'LIS', departure_date: '2027-01-22' };
  const asked = await loose('POST', '/air/order_change_requests', {
    order_id: made.data.id,
    slices: { remove: [{ slice_id: slice?.id }], add: [{ ...wanted, cabin_class: 'economy' }] },
  });
  expect(asked.status).toBe(201);
  const requestPath = `/air/order_change_requests/${asked.data.id}`;
  expect((await loose('GET', requestPath)).data).toEqual(asked.data);
  const list = `/air/order_change_offers?order_change_request_id=${asked.data.id}`;
  const offers = (await duffel.call<Loose[]>('GET', list)).body.data;
  const [first] = offers;
  expect((await loose('GET', `/air/order_change_offers/${first?.id}`)).data).toEqual(first);
  const change = await loose('POST', '/air/order_changes', { selected_order_change_offer: first?.id });
  const changePath = `/air/order_changes/${change.data.id}`;
  expect((await loose('GET', changePath)).data).toMatchObject({ confirmed_at: null });
  const confirm = (amount: unknown) =>
    loose('POST', `${changePath}/actions/confirm`, {
      payment: { type: 'balance', amount, currency: offer.total_currency },
    });
  expect((await confirm('0.01')).code).toBe('payment_amount_does_not_match_order_amount');
  const done = await confirm(change.data.change_total_amount);
  expect(done).toMatchObject({ status: 200, data: { confirmed_at: expect.any(String) } });
  expect((await confirm(change.data.change_total_amount)).code).toBe('order_change_already_confirmed');
  const { data } = await loose('GET', path);
  const [flown] = data.slices as { segments: { departing_at: string }[] }[];
  expect(flown?.segments[0]?.departing_at).toMatch(/^2027-01-22/);
  expect(data).toMatchObject({
    total_amount: change.data.new_total_amount,
    passengers: [{ id: offer.passengers[0].id }],
  });
});

test('a traveller is named on an offer, dearer fares are shown, and what became of a change is said', async () => {
  const { offer, made } = await ordered('int_more');
  const traveller = await loose('PATCH', `/air/offers/${offer.id}/passengers/${offer.passengers[0].id}`, {
    given_name: 'Amelia',
    family_name: 'Earhart',
    loyalty_programme_accounts: [],
  });
  expect(traveller.data).toMatchObject({ id: offer.passengers[0].id, given_name: 'Amelia' });
  const dearer = (await duffel.call<Offer[]>('POST', `/air/offers/${offer.id}/upsell`, {})).body.data;
  expect(dearer.every(({ total_amount }) => Number(total_amount) > Number(offer.total_amount))).toBe(true);
  await duffel.admin(`/orders/${made.data.id}/schedule_change`, { minutes: 30 });
  const changes = `/air/airline_initiated_changes?order_id=${made.data.id}`;
  const [change] = (await duffel.call<Loose[]>('GET', changes)).body.data;
  const said = await loose('PATCH', `/air/airline_initiated_changes/${change?.id}`, { action_taken: 'changed' });
  expect(said.data).toMatchObject({ action_taken: 'changed' });
});
