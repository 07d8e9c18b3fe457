import { afterAll, beforeAll, expect, test } from 'vitest';
import { TEST_ROUTES } from '../../../src/sandbox/duffel/behaviours.ts';
import { handClock } from './clock.ts';
import { type Answer, type ServedDuffel, searched, serveDuffel } from './served.ts';
import type { Body, Offer, Order, Segment } from './shapes.ts';

/** Searches and offers of the sandbox of the Duffel API, over real HTTP. */

const DATE = '2027-01-20';
let clock: ReturnType<typeof handClock>;
let duffel: ServedDuffel;
beforeAll(async () => {
  clock = handClock();
  duffel = await serveDuffel({ clock });
});
afterAll(() => duffel.close());

const codesOf = ({ body }: Pick<Answer<unknown>, 'body'>): string[] => body.errors.map(({ code }) => code);
const segmentsOf = (offer: Offer): Segment[] => offer.slices.flatMap(({ segments }) => segments);
const search = (origin: string, destination: string, query = '', more: object = {}) =>
  duffel.call('POST', `/air/offer_requests?return_offers=false${query}`, {
    slices: [{ origin, destination, departure_date: DATE }],
    passengers: [{ type: 'adult' }],
    ...more,
  });

test('without a token nobody gets in, and without a version nobody is answered', async () => {
  const headers = { authorization: '' };
  const none = await duffel.call('GET', '/air/orders', undefined, headers);
  expect([none.status, none.body.errors[0].type]).toEqual([401, 'authentication_error']);
  const live = await duffel.call('GET', '/air/orders', undefined, { authorization: 'Bearer duffel_live_x' });
  expect([live.status, codesOf(live)]).toEqual([401, ['access_token_not_found']]);
  const old = await duffel.call('GET', '/air/orders', undefined, { 'duffel-version': 'v1' });
  expect([old.status, codesOf(old)]).toEqual([400, ['unsupported_version']]);
});

test('every answer has its request id and the budget of the minute; what is too much is 429', async () => {
  await duffel.admin('/settings', { rate_limit: 2 });
  clock.forward(60_000);
  const first = await duffel.call<Order[]>('GET', '/air/orders');
  expect(first.headers.get('ratelimit-remaining')).toBe('1');
  await duffel.call<Order[]>('GET', '/air/orders');
  const third = await duffel.call<Order[]>('GET', '/air/orders');
  expect([third.status, codesOf(third)]).toEqual([429, ['rate_limit_exceeded']]);
  expect(third.body.meta).toEqual({ request_id: third.headers.get('x-request-id'), status: 429 });
  expect(Date.parse(third.headers.get('ratelimit-reset') ?? '')).toBeGreaterThan(clock.now());
  clock.forward(60_000);
  expect((await duffel.call<Order[]>('GET', '/air/orders')).status).toBe(200);
  await duffel.admin('/settings', { rate_limit: null });
});

test('what is not there is 404, and what is no JSON is 400', async () => {
  for (const path of ['/air/nothing', '/air/offers/off_0000', '/air/orders/ord_0000', '/air/offer_requests/x'])
    expect([path, (await duffel.call('GET', path)).status]).toEqual([path, 404]);
  const answer = await fetch(`${duffel.url}/air/orders`, {
    method: 'POST',
    headers: { authorization: 'Bearer duffel_test_x', 'duffel-version': 'v2' },
    body: '{"data":',
  });
  expect(answer.status).toBe(400);
});

test('a search is listed in pages that meet, cheapest first, and is empty where nothing flies', async () => {
  const { body } = await search('LHR', 'JFK');
  expect(body.data.id).toMatch(/^orq_0000[0-9A-Za-z]{18}$/);
  const seen: Offer[] = [];
  let after: string | null = '';
  while (after !== null) {
    const query = `offer_request_id=${body.data.id}&sort=total_amount&limit=60&after=${after}`;
    const answer: Body<Offer[]> = (await duffel.call<Offer[]>('GET', `/air/offers?${query}`)).body;
    expect(answer.data.length).toBeLessThanOrEqual(60);
    seen.push(...answer.data);
    after = answer.meta.after;
  }
  expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
  expect(seen.length).toBeGreaterThan(100);
  const amounts = seen.map(({ total_amount }) => Number(total_amount));
  expect(amounts).toEqual([...amounts].sort((a, b) => a - b));
  expect((await duffel.call<Offer[]>('GET', `/air/offers?offer_request_id=${body.data.id}&limit=201`)).status).toBe(
    422,
  );
  expect(await searched(duffel, 'PVD', 'RAI', DATE)).toEqual([]);
});

test('the same seed is the same world, offer by offer, and another seed is another', async () => {
  const one = await serveDuffel({ clock: handClock() });
  const other = await serveDuffel({ clock: handClock() });
  const third = await serveDuffel({ clock: handClock(), seed: 'elsewhere' });
  const [here, there, elsewhere] = await Promise.all(
    [one, other, third].map((served) => searched(served, 'VIE', 'LIS', DATE)),
  );
  expect(there).toEqual(here);
  expect(elsewhere).not.toEqual(here);
  for (const served of [one, other, third]) await served.close();
});

test('a search breaks off as the real one does, and the next one is answered', async () => {
  const failures = ['timeout', 'html', 'rate_limited', 'internal_error'];
  await duffel.admin('/behaviours', { search: failures });
  for (const status of [504, 502, 429, 500]) expect((await search('VIE', 'LIS')).status).toBe(status);
  expect((await search('VIE', 'LIS')).status).toBe(201);
  await duffel.admin('/behaviours', { search: ['cut'] });
  await expect(search('VIE', 'LIS')).rejects.toThrow();
  expect((await search('STN', 'LHR')).status).toBe(504);
});

test.each([
  ['a type and an age', { passengers: [{ type: 'adult', age: 30 }] }],
  ['neither', { passengers: [{}] }],
  ['a child without an age', { passengers: [{ type: 'child' }] }],
  ['ten people', { passengers: Array.from({ length: 10 }, () => ({ type: 'adult' })) }],
  ['no slices', { slices: [] }],
  ['yesterday', { slices: [{ origin: 'VIE', destination: 'LIS', departure_date: '2026-11-21' }] }],
  ['a name for a code', { slices: [{ origin: 'Vienna', destination: 'LIS', departure_date: DATE }] }],
  ['another cabin', { cabin_class: 'royal' }],
])('a search for %s is refused with the field', async (_what, more) => {
  const answer = await search('VIE', 'LIS', '', more);
  expect([answer.status, answer.body.errors[0].type]).toEqual([422, 'validation_error']);
  expect(answer.body.errors[0].source.pointer).toMatch(/^\/data\//);
});

test('the suppliers get from two seconds to a minute', async () => {
  for (const [ms, status] of [
    [1999, 422],
    [60_001, 422],
    [2000, 201],
  ])
    expect((await search('VIE', 'LIS', `&supplier_timeout=${ms}`)).status).toBe(status);
});

test('an offer has a new price, is gone, is not there', async () => {
  const [offer] = await searched(duffel, 'VIE', 'LIS', DATE);
  const path = `/air/offers/${offer.id}`;
  await duffel.admin('/behaviours', { offer: ['price_up', 'normal', 'gone', 'not_found'] });
  const dearer = await duffel.call('GET', path);
  expect(Number(dearer.body.data.total_amount)).toBeCloseTo(Number(offer.total_amount) + 10, 5);
  expect((await duffel.call('GET', path)).body.data.total_amount).toBe(dearer.body.data.total_amount);
  const gone = await duffel.call('GET', path);
  expect([gone.status, codesOf(gone)]).toEqual([422, ['offer_no_longer_available']]);
  expect((await duffel.call('GET', path)).status).toBe(404);
  clock.forward(31 * 60_000);
  expect(codesOf(await duffel.call('GET', path))).toEqual(['offer_no_longer_available']);
});

test('services are new ids with every read, are never in lists, and cover all flights', async () => {
  const offers = await searched(duffel, 'LHR', 'JFK', DATE);
  expect(offers.every(({ available_services }) => available_services === null)).toBe(true);
  const zz = offers.find(({ owner }) => owner.iata_code === 'ZZ');
  const read = async () => (await duffel.call('GET', `/air/offers/${zz?.id}?return_available_services=true`)).body.data;
  const [first, second] = [await read(), await read()];
  const [bag] = first.available_services;
  expect(bag).toMatchObject({ type: 'baggage', total_amount: '20.00', metadata: { type: 'checked' } });
  expect(bag.segment_ids).toEqual(segmentsOf(first).map(({ id }) => id));
  expect(second.available_services[0].id).not.toBe(bag.id);
});

test('offers leave out what the real ones leave out', async () => {
  const economy = await searched(duffel, 'LHR', 'JFK', DATE);
  const business = await searched(duffel, 'LHR', 'SIN', DATE, { cabin_class: 'business' });
  const vienna = await searched(duffel, 'VIE', 'LIS', DATE);
  const all = [...economy, ...business, ...vienna];
  const some = (is: (offer: Offer) => boolean) => expect(all.some(is), String(is)).toBe(true);
  some(({ conditions }) => conditions.refund_before_departure === null);
  some(({ conditions }) => !('refund_before_departure' in conditions));
  some(({ conditions: { refund_before_departure: one } }) => one?.allowed === true && one.penalty_amount === null);
  some(({ conditions: { change_before_departure: one } }) => one?.penalty_amount === '0.00');
  some(({ total_currency }) => total_currency === 'GBP');
  some(({ total_currency }) => total_currency === 'EUR');
  some(({ owner }) => owner.iata_code === null);
  some(({ tax_amount }) => tax_amount === null);
  some(
    ({ base_amount, tax_amount, total_amount }) =>
      tax_amount !== null && Number(base_amount) + Number(tax_amount) - Number(total_amount) > 0.005,
  );
  some(({ total_emissions_kg }) => typeof total_emissions_kg === 'string');
  some(({ total_emissions_kg }) => total_emissions_kg === null);
  some(({ payment_requirements }) => payment_requirements.requires_instant_payment === false);
  some(({ passenger_identity_documents_required }) => passenger_identity_documents_required);
  some(({ supported_passenger_identity_document_types }) => supported_passenger_identity_document_types.length === 0);
  some((offer) => segmentsOf(offer).some(({ origin_terminal }) => origin_terminal === null));
  some((offer) => segmentsOf(offer).some(({ aircraft }) => aircraft === null));
  some((offer) => segmentsOf(offer).some((segment) => !('stops' in segment)));
  some((offer) => segmentsOf(offer).some(({ duration }) => duration === null));
  some((offer) => segmentsOf(offer).some(({ duration }) => /PT0\dH/.test(duration ?? '')));
  some((offer) =>
    segmentsOf(offer).some(({ marketing_carrier_flight_number }) => /^0/.test(marketing_carrier_flight_number)),
  );
  some((offer) =>
    segmentsOf(offer).some(
      ({ marketing_carrier, operating_carrier }) => marketing_carrier.name !== operating_carrier.name,
    ),
  );
  some((offer) => new Set(segmentsOf(offer).map(({ passengers }) => passengers[0].cabin_class)).size > 1);
  some((offer) => segmentsOf(offer).some(({ passengers }) => passengers[0].baggages.length === 0));
  some((offer) => segmentsOf(offer).some(({ passengers }) => passengers[0].fare_basis_code === null));
});

test('a search is as long as it is told to be', async () => {
  await duffel.admin('/settings', { least_offers: 1000 });
  const { body } = await duffel.call('POST', '/air/offer_requests', {
    slices: [{ origin: 'LHR', destination: 'JFK', departure_date: DATE }],
    passengers: [{ type: 'adult' }],
  });
  expect(body.data.offers.length).toBe(1000);
  expect(JSON.stringify(body).length).toBeGreaterThan(3_000_000);
  expect(new Set(body.data.offers.map(({ id }) => id)).size).toBe(1000);
  await duffel.admin('/settings', { least_offers: 0 });
});

test('the test routes are what the API says of them', async () => {
  const zz = (origin: string, destination: string) => searched(duffel, origin, destination, DATE, {}, 'ZZ');
  const [holdable] = await zz('JFK', 'EWR');
  expect(holdable.payment_requirements.requires_instant_payment).toBe(false);
  for (const offer of await zz('LHR', 'DXB')) expect(segmentsOf(offer).length).toBeGreaterThan(1);
  const stopping = await zz('DXB', 'AMS');
  expect(stopping.some((offer) => segmentsOf(offer)[0]?.stops?.length === 1)).toBe(true);
  const [bagless] = await zz('BTS', 'MRU');
  expect(segmentsOf(bagless).flatMap(({ passengers }) => passengers[0].baggages)).toEqual([]);
  expect(segmentsOf(bagless)[0]?.origin.iata_code).toBe('BTS');
  const [plain] = await zz('BTS', 'ABV');
  const read = await duffel.call('GET', `/air/offers/${plain.id}?return_available_services=true`);
  expect(read.body.data.available_services).toEqual([]);
  const [gone] = await zz('LGW', 'LHR');
  expect(codesOf(await duffel.call('GET', `/air/offers/${gone.id}`))).toEqual(['offer_no_longer_available']);
  const [rising] = await zz('LHR', 'STN');
  const prices = [];
  for (let i = 0; i < 2; i++)
    prices.push(Number((await duffel.call('GET', `/air/offers/${rising.id}`)).body.data.total_amount));
  expect(prices.map((price) => Math.round(price - Number(rising.total_amount)))).toEqual([10, 20]);
  expect(TEST_ROUTES.length).toBe(16);
});
