import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { turnSwitch } from '../../src/flights/index.ts';
import type { OfferDetailsResponse } from '../../src/wire/flights/index.ts';
import { openWorld, PASSENGER, TRIP, type World } from './world.ts';

/** Lines of spec/flight-service.md that no other test is about (docs/spec-flights.md lists them all). */

let world: World;
/** With an airline that does what it is told. */
let told: World;
beforeAll(async () => {
  [world, told] = await Promise.all([openWorld(), openWorld({ airline: 'scripted' })]);
  await told.cluster.airdropUsdc(told.wallet.address, 50_000_000_000n);
});
afterAll(() => Promise.all([world.close(), told.close()]));

const fresh = { price: '151.20', passengerCount: 1 };
beforeEach(() => {
  Object.assign(told.airline.script, fresh);
});
let offers = 0;
const nextOffer = () => `off_${++offers}`;
const bookedIntent = async () => {
  const made = await told.intent(nextOffer());
  await told.book(made);
  await told.work();
  return { made, shown: await told.show(made) };
};

test('creating an intent moves its fee and nothing else, and orders nothing', async () => {
  const before = await told.sums();
  const ordered = told.airline.script.created;
  const made = await told.intent(nextOffer());
  const after = await told.sums(made);
  expect(before.wallet - after.wallet).toBe(100_000n);
  expect(after.treasury - before.treasury).toBe(100_000n);
  expect(after.vault).toBe(0n);
  await told.work();
  expect(told.airline.script.created).toBe(ordered);
});

test('actions take their id in the body, the two reads in the path', async () => {
  const { paths } = (await world.call<{ paths: Record<string, object> }>('/openapi.json')).body;
  const addressed = Object.keys(paths).filter((path) => path.startsWith('/air/') && path.includes('{'));
  expect(addressed).toEqual(['/air/intents/{intent_id}', '/air/orders/{order_id}']);
  for (const path of addressed) expect(Object.keys(paths[path] ?? {})).toEqual(['get']);
  for (const path of ['/air/book/int_1', '/air/refund-requests/int_1']) {
    expect((await world.call(path, {})).status).toBe(404);
  }
});

test('an offer has its conditions and no seat map or fare-rule text', async () => {
  for (const offer of (await world.search()).offers) {
    expect(offer).toHaveProperty('conditions');
    expect(Object.keys(offer).filter((field) => /seat|rule|map/.test(field))).toEqual([]);
  }
});

test('a truncated ungrouped search says how many offers it left out', async () => {
  const whole = await world.search();
  const cut = await world.search({ limit: 2 });
  expect(cut.offers).toHaveLength(2);
  expect(cut.total_offers).toBe(whole.offers.length);
  expect(cut.total_offers).toBeGreaterThan(2);
});

test('an intent is active, then booked or refunded, and nothing else', async () => {
  const made = await told.intent(nextOffer());
  expect((await told.show(made)).status).toBe('active');
  await told.book(made);
  expect((await told.show(made)).status).toBe('active');
  await told.work();
  expect((await told.show(made)).status).toBe('booked');
  const other = await told.intent(nextOffer());
  await told.book(other);
  told.airline.script.price = '200.00';
  await told.work();
  expect((await told.show(other)).status).toBe('refunded');
});

test('the escrow amount is the ticket total for all passengers', async () => {
  const one = (await world.search()).offers.find((offer) => offer.total_currency === 'USD');
  const three = (await world.search({ adults: 3 })).offers.find(
    (offer) => offer.comparison_key === one?.comparison_key && offer.total_currency === 'USD',
  );
  const made = await world.intent(three?.offer_id ?? '');
  expect(made.passenger_count).toBe(3);
  expect(made.escrow.amount).toBe(three?.total_amount);
  expect(made.expected_ticket_amount_decimal).toBe(three?.total_amount_decimal);
});

const DISCLOSED = {
  offer: [
    ...['offer_id', 'comparison_key', 'owner_name', 'slices', 'fare_brand_name', 'cabin_class', 'conditions'],
    ...['checked_bags_included', 'total_amount_decimal', 'base_amount_decimal', 'tax_amount_decimal'],
    ...['total_emissions_kg', 'supported_loyalty_programmes', 'technical_stops', 'duration'],
  ],
  segment: [
    ...['departing_at', 'arriving_at', 'origin_time_zone', 'destination_time_zone', 'duration', 'aircraft_name'],
    ...['origin_terminal', 'destination_terminal', 'technical_stops', 'carrier_name', 'marketing_carrier_name'],
    ...['flight_number', 'operating_flight_number', 'fare_basis_code'],
  ],
  conditions: [
    ...['change_allowed', 'change_penalty_amount', 'change_penalty_currency'],
    ...['refund_allowed', 'refund_penalty_amount', 'refund_penalty_currency'],
  ],
};

test('an offer carries everything that the specification discloses', async () => {
  const found = (await world.search()).offers;
  for (const offer of found) {
    expect(Object.keys(offer)).toEqual(expect.arrayContaining(DISCLOSED.offer));
    for (const segment of offer.slices.flatMap((slice) => slice.segments)) {
      expect(Object.keys(segment)).toEqual(expect.arrayContaining(DISCLOSED.segment));
    }
    if (offer.conditions) {
      expect(Object.keys(offer.conditions)).toEqual(expect.arrayContaining(DISCLOSED.conditions));
    }
  }
  // Not only as a field that is always empty.
  expect(found.some((offer) => Number(offer.conditions?.change_penalty_amount ?? 0) > 0)).toBe(true);
  expect(found.some((offer) => (offer.total_emissions_kg ?? 0) > 0)).toBe(true);
  expect(found.some((offer) => offer.supported_loyalty_programmes.length > 0)).toBe(true);
  expect(found.some((offer) => (offer.checked_bags_included ?? 0) > 0)).toBe(true);
});

test('base and tax add up to the total of every offer that discloses them', async () => {
  const cents = (decimal: string) => Math.round(Number(decimal) * 100);
  const itemised = (await world.search()).offers.filter((offer) => offer.base_amount_decimal !== null);
  expect(itemised.length).toBeGreaterThan(3);
  for (const { base_amount_decimal, tax_amount_decimal, total_amount_decimal } of itemised) {
    expect(cents(base_amount_decimal ?? '') + cents(tax_amount_decimal ?? '')).toBe(cents(total_amount_decimal));
  }
});

test('extras are priced in offer-details and nowhere in a search', async () => {
  const found = await world.search();
  expect(JSON.stringify(found)).not.toContain('available_services');
  const services = [];
  for (const { offer_id } of found.offers.slice(0, 5)) {
    const answer = await world.paid<OfferDetailsResponse>('/air/offer-details', { offer_id });
    services.push(...answer.body.available_services);
  }
  expect(services.some((one) => one.type === 'baggage' && Number(one.total_amount_decimal) > 0)).toBe(true);
});

test('each of the seven base fields of a passenger is required', async () => {
  const made = await told.intent(nextOffer());
  expect(Object.keys(PASSENGER)).toHaveLength(7);
  for (const field of Object.keys(PASSENGER)) {
    const lacking = Object.fromEntries(Object.entries(PASSENGER).filter(([name]) => name !== field));
    const answer = await told.paid('/air/book', { intent_id: made.intent_id, passengers: [lacking] });
    expect([answer.status, answer.body.code], field).toEqual([400, 'invalid_request']);
    expect(JSON.stringify(answer.body.detail)).toContain(`passengers.0.${field}`);
  }
});

test('health, readiness, the description and an intent are read without any authentication', async () => {
  const made = await told.intent(nextOffer());
  for (const path of ['/health', '/ready', '/openapi.json', `/air/intents/${made.intent_id}`]) {
    const answer = await told.call(path);
    expect([path, answer.status]).toEqual([path, 200]);
    expect(answer.body).toBeTypeOf('object');
  }
});

test('a small limit keeps the cheapest fares, not the cheapest itineraries', async () => {
  const whole = (await world.search()).offers;
  const cut = (await world.search({ limit: 10 })).offers;
  expect(cut.map((offer) => offer.offer_id)).toEqual(whole.slice(0, 10).map((offer) => offer.offer_id));
  const itineraries = (from: typeof whole) => new Set(from.map((offer) => offer.comparison_key)).size;
  expect(itineraries(cut)).toBeLessThan(10);
  expect(itineraries(cut)).toBeLessThan(itineraries(whole));
});

test('a full answer can exceed 300 KB, and is read whole; grouped with a limit it is a fraction', async () => {
  const busy = { origin_iata: 'LHR', destination_iata: 'JFK', return_date: '2026-12-27' };
  const full = await world.search(busy);
  expect(JSON.stringify(full).length).toBeGreaterThan(300_000);
  expect(full.offers).toHaveLength(full.total_offers);
  const small = await world.search({ ...busy, cheapest_per_itinerary: true, limit: 5 });
  expect(JSON.stringify(small).length).toBeLessThan(100_000);
});

test('every paid answer carries PAYMENT-RESPONSE: the settlement, in base64', async () => {
  const { made, shown } = await bookedIntent();
  const identity = {
    'X-Customer-Support-Code': made.customer_support_code,
    'X-Passenger-Family-Name': PASSENGER.family_name,
  };
  const next = await told.intent(nextOffer());
  const answers = [
    await told.paid('/air/search', TRIP),
    await told.paid('/air/offer-details', { offer_id: 'off_1' }),
    await told.paid('/air/intents', { offer_id: nextOffer() }),
    await told.paid('/air/book', { intent_id: next.intent_id, passengers: [PASSENGER] }),
    await told.paid(`/air/orders/${shown.order_id}`, undefined, { headers: identity }),
    await told.paid('/air/refund-requests', { intent_id: made.intent_id, reason: 'Ill.' }, { headers: identity }),
  ];
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 201, 200, 200, 202]);
  for (const { headers } of answers) {
    const settlement = JSON.parse(Buffer.from(headers.get('payment-response') ?? '', 'base64').toString());
    expect(settlement).toMatchObject({ success: true, payer: told.wallet.address });
    expect(settlement.transaction).toMatch(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/);
  }
});

interface Challenge {
  readonly accepts: { amount: string; payTo: string; asset: string }[];
}

test('an intent costs 0.10, an order 0.01, whatever the load', async () => {
  const { made, shown } = await bookedIntent();
  for (let searches = 0; searches < 11; searches++) await told.search();
  expect((await told.call<Challenge>('/air/search', TRIP)).body.accepts[0]?.amount).not.toBe('100000');
  const body = { funding_wallet: told.wallet.address, offer_id: nextOffer() };
  expect((await told.call<Challenge>('/air/intents', body)).body.accepts[0]?.amount).toBe('100000');
  const headers = { 'X-Customer-Support-Code': made.customer_support_code };
  const order = await told.call<Challenge>(`/air/orders/${shown.order_id}`, undefined, { headers });
  expect(order.body.accepts[0]?.amount).toBe('10000');
});

test('a booking is paid to the escrow, in its mint, with its amount', async () => {
  const made = await told.intent(nextOffer());
  const body = { intent_id: made.intent_id, passengers: [PASSENGER] };
  const { accepts } = (await told.call<Challenge>('/air/book', body)).body;
  expect(accepts).toMatchObject([
    { payTo: made.escrow.address, asset: made.escrow.mint, amount: String(made.escrow.amount) },
  ]);
});

test('with booking switched off intents are still read and refund requests still taken', async () => {
  const { made } = await bookedIntent();
  await turnSwitch(told.store, 'booking', 'off');
  try {
    const another = { funding_wallet: told.wallet.address, offer_id: nextOffer() };
    expect((await told.paid('/air/intents', another)).body.code).toBe('booking_disabled');
    expect((await told.show(made)).status).toBe('booked');
    const headers = {
      'X-Customer-Support-Code': made.customer_support_code,
      'X-Passenger-Family-Name': PASSENGER.family_name,
    };
    const body = { intent_id: made.intent_id, reason: 'Ill.' };
    expect((await told.paid('/air/refund-requests', body, { headers })).status).toBe(202);
  } finally {
    await turnSwitch(told.store, 'booking', 'on');
  }
});

test('a search costs 0.10 to 5.00, however high the load', async () => {
  told.clock.advance(10 * 60_000);
  const price = async () => (await told.call<Challenge>('/air/search', TRIP)).body.accepts[0]?.amount;
  expect(await price()).toBe('100000');
  const nowMs = told.clock.now();
  const many = Array.from({ length: 700 }, (_, at) => ({ id: `load_${at}`, at_ms: nowMs }));
  await told.store.insertInto('search_completions').values(many).execute();
  expect(await price()).toBe('5000000');
  told.clock.advance(61_000);
  expect(await price()).toBe('100000');
});

test('tickets of exactly 10.00 and 10000.00 are escrowed', async () => {
  for (const [price, amount] of [
    ['10.00', 10_000_000],
    ['10000.00', 10_000_000_000],
  ] as const) {
    told.airline.script.price = price;
    expect((await told.intent(nextOffer())).escrow.amount).toBe(amount);
  }
});

test('no path has a version in it', async () => {
  const { paths } = (await world.call<{ paths: object }>('/openapi.json')).body;
  expect(Object.keys(paths).filter((path) => /\/v\d/.test(path))).toEqual([]);
});
