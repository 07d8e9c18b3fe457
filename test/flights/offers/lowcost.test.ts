import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Fulfiller } from '../../../src/airlines/fulfiller.ts';
import { turnSwitch } from '../../../src/flights/index.ts';
import type { Offer, OfferDetailsResponse, SearchUpdatesResponse } from '../../../src/wire/flights/index.ts';
import { openWorld, PASSENGER, TRIP, type World } from '../world.ts';

/** The lowcost tier over HTTP: offers that land later, fare menus, and what its websites do to a booking. */

const TRAVELLER = { ...PASSENGER, nationality: 'PT', passport_number: 'AB123456', passport_expiry: '2031-05-01' };
const nothing = { wallet: 0n, treasury: 0n, refund: 0n, vault: 0n };

let world: World;
beforeAll(async () => {
  world = await openWorld({ lowcostMs: 60_000, ticketingMs: 0 });
});
afterAll(() => world.close());

const updates = (searchId: string | undefined, cursor?: string, call = world.call) =>
  call<SearchUpdatesResponse>('/air/search-updates', {
    search_id: searchId,
    ...(cursor === undefined ? {} : { cursor }),
  });

const details = (offerId: string) => world.paid<OfferDetailsResponse>('/air/offer-details', { offer_id: offerId });

async function lowcostOffers(origin: string, destination: string, body: object = {}): Promise<Offer[]> {
  const search = await world.search({ origin_iata: origin, destination_iata: destination, ...body });
  world.clock.advance(60_000);
  return (await updates(search.search_id)).body.offers;
}

async function first(origin = 'LIS', destination = 'BER', body: object = {}): Promise<Offer> {
  const [offer] = await lowcostOffers(origin, destination, body);
  if (!offer) throw new Error('nothing landed');
  return offer;
}

async function openedMenu(offerId: string) {
  await details(offerId);
  world.clock.advance(30_000);
  const answer = await details(offerId);
  const menu = answer.body.fare_menu;
  if (answer.status !== 200 || !menu) throw new Error(JSON.stringify(answer.body));
  return menu;
}

async function fareOf(offerId: string, index = 2) {
  const fare = (await openedMenu(offerId)).fares.find((one) => one.fare_index === index);
  if (!fare) throw new Error('no such fare');
  return fare;
}

const ask = async (path: string, body: object) => {
  const before = await world.sums();
  const answer = await world.paid(path, body);
  expect(await world.sums()).toEqual(before);
  return [answer.status, answer.body.code];
};
const lock = (offerId: string) => ask('/air/intents', { funding_wallet: world.wallet.address, offer_id: offerId });

async function moved(from: Awaited<ReturnType<World['sums']>>, intent: Parameters<World['sums']>[0]) {
  const now = await world.sums(intent);
  expect(now.total).toBe(from.total);
  return {
    wallet: now.wallet - from.wallet,
    treasury: now.treasury - from.treasury,
    refund: now.refund - from.refund,
    vault: now.vault,
  };
}

test('the first answer is at once and enriching; later offers land by the clock, until complete', async () => {
  const search = await world.search();
  expect(search).toMatchObject({ status: 'enriching', search_id: expect.any(String), poll_after_ms: 1000 });
  expect(search.offers.some(({ offer_id: id }) => id.startsWith('lowcost:'))).toBe(false);
  const early = (await updates(search.search_id)).body;
  expect(early).toMatchObject({ status: 'enriching', offers: [], cursor: '0', poll_after_ms: expect.any(Number) });
  world.clock.advance(60_000);
  const late = (await updates(search.search_id, early.cursor)).body;
  expect(late.status).toBe('complete');
  expect(late).not.toHaveProperty('poll_after_ms');
  expect(late.offers.length).toBeGreaterThan(1);
  for (const offer of late.offers) {
    expect(offer.offer_id).toMatch(/^lowcost:[^#]+$/);
    expect(offer).toMatchObject({ cabin_class: 'economy', identity_documents_required: true });
  }
});

test('two processes page through one search: every offer once, in the same order', async () => {
  const { search_id: id } = await world.search();
  const others = [world.call, world.service().call];
  const seen: string[] = [];
  let cursor = '0';
  for (let i = 0; ; i++) {
    world.clock.advance(5_000);
    const { body } = await updates(id, cursor, others[i % 2]);
    seen.push(...body.offers.map((offer) => offer.offer_id));
    cursor = body.cursor;
    if (body.status === 'complete') break;
  }
  expect(new Set(seen).size).toBe(seen.length);
  const whole = (await updates(id)).body.offers.map((offer) => offer.offer_id);
  expect([...seen].sort()).toEqual([...whole].sort());
});

test('the filters of the search hold for what lands later', async () => {
  const all = await lowcostOffers('LIS', 'BER');
  const cheapest = Math.min(...all.map((offer) => offer.total_amount));
  const some = await lowcostOffers('LIS', 'BER', { max_price: cheapest / 1_000_000, limit: 1 });
  expect(some.map((offer) => offer.total_amount)).toEqual([cheapest]);
});

test('where the tier flies not, or not in that cabin, a search is complete at once', async () => {
  for (const body of [{ destination_iata: 'JFK' }, { cabin_class: 'business' }]) {
    const search = await world.search(body);
    expect(search).toMatchObject({ status: 'complete' });
    expect(search).not.toHaveProperty('search_id');
  }
});

test('an unknown search is 404, and so is one after 30 minutes', async () => {
  const { search_id: id } = await world.search();
  expect((await updates('sch_none')).body).toMatchObject({ code: 'search_not_found' });
  world.clock.advance(30 * 60_000);
  const answer = await updates(id);
  expect([answer.status, (answer.body as unknown as { code: string }).code]).toEqual([404, 'search_not_found']);
});

test('a pending menu is 202 and free, and the payment that waited for it is charged once when it is ready', async () => {
  const offer = await first();
  const before = await world.sums();
  const challenge = await world.call('/air/offer-details', { offer_id: offer.offer_id });
  const headers = { 'PAYMENT-SIGNATURE': await world.sign(challenge) };
  const pending = await world.call('/air/offer-details', { offer_id: offer.offer_id }, { headers });
  expect(pending.status).toBe(202);
  expect(pending.headers.get('PAYMENT-RESPONSE')).toBeNull();
  expect(pending.body).toMatchObject({
    fare_menu: { status: 'pending', fares: [] },
    poll_after_ms: expect.any(Number),
  });
  expect(await world.sums()).toEqual(before);
  world.clock.advance(30_000);
  const ready = await world.call<OfferDetailsResponse>('/air/offer-details', { offer_id: offer.offer_id }, { headers });
  expect(ready.status).toBe(200);
  expect(await moved(before, undefined)).toEqual({ ...nothing, wallet: -100_000n, treasury: 100_000n });
  const menu = ready.body.fare_menu;
  expect(menu?.fares.map((fare) => fare.fare_index)).toEqual([1, 2, 3, 4]);
  expect(menu?.fares[0]).toMatchObject({
    offer_id: `${offer.offer_id}##1`,
    total_amount_decimal: offer.total_amount_decimal,
  });
  expect(Date.parse(menu?.expires_at ?? '') - Date.parse(menu?.checked_at ?? '')).toBe(30 * 60_000);
});

test('a menu that takes long is opened once while it is asked for, and again if it was left', async () => {
  const { offer_id } = await first();
  const opened = new Set<number>();
  const { call } = world.service((ports) => ({
    ...ports,
    lowcost: ports.lowcost && {
      ...ports.lowcost,
      menu: async (id, openedAtMs) => {
        opened.add(openedAtMs);
        return (await ports.lowcost?.menu(id, openedAtMs + 10 * 60_000)) ?? { kind: 'offer_gone' };
      },
    },
  }));
  const ask = async () => {
    const headers = { 'PAYMENT-SIGNATURE': await world.sign(await call('/air/offer-details', { offer_id })) };
    return [(await call('/air/offer-details', { offer_id }, { headers })).status, opened.size];
  };
  const asked = [await ask()];
  for (const minutes of [6, 4, 4, 4]) {
    world.clock.advance(minutes * 60_000);
    asked.push(await ask());
  }
  expect(asked).toEqual([
    [202, 1],
    [202, 2],
    [202, 2],
    [202, 2],
    [200, 2],
  ]);
});

test('a menu opened again keeps the number of every fare', async () => {
  const offer = await first();
  const before = await openedMenu(offer.offer_id);
  world.clock.advance(30 * 60_000);
  expect((await openedMenu(offer.offer_id)).fares).toEqual(before.fares);
});

test('an offer whose fare its list does not tell is locked by a fare of its menu alone', async () => {
  const { offer_id: offerId } = await first();
  const silent = { fare_brand_name: null, checked_bags_included: null, carry_on_bags_included: null, conditions: null };
  const { call } = world.service((ports) => ({
    ...ports,
    lowcost: ports.lowcost && {
      ...ports.lowcost,
      offer: async (id) => {
        const live = await ports.lowcost?.offer(id);
        return live ? { ...live, offer: { ...live.offer, ...silent } } : null;
      },
    },
  }));
  const asked = await call<{ code?: string }>('/air/intents', { offer_id: offerId });
  expect([asked.status, asked.body.code]).toEqual([409, 'fare_menu_expired']);
  await openedMenu(offerId);
  expect((await call('/air/intents', { offer_id: `${offerId}##1` })).status).toBe(402);
});

test('a carrier that no card of the service can pay is looked at, and never locked nor booked', async () => {
  const { offer_id: offerId } = await first();
  const locked = await world.intent(offerId);
  const { call } = world.service((ports) => ({
    ...ports,
    lowcost: ports.lowcost && {
      ...ports.lowcost,
      offer: async (id) => {
        const live = await ports.lowcost?.offer(id);
        return live ? { ...live, isUnpayable: true } : null;
      },
    },
  }));
  expect((await openedMenu(offerId)).status).toBe('ready');
  const booking = { intent_id: locked.intent_id, passengers: [TRAVELLER] };
  for (const [path, body] of [
    ['/air/intents', { offer_id: offerId }],
    ['/air/intents', { offer_id: `${offerId}##1` }],
    ['/air/book', booking],
  ] as const) {
    const asked = await call<{ code?: string }>(path, body);
    expect([path, asked.status, asked.body.code]).toEqual([path, 409, 'lowcost_booking_unavailable']);
  }
});

test('what cannot be locked is refused free of charge, each with its code', async () => {
  const offer = await first();
  expect(await lock('lowcost:nothing')).toEqual([404, 'offer_not_found']);
  expect(await lock(`${offer.offer_id}x`)).toEqual([404, 'offer_not_found']);
  expect(await lock(`${offer.offer_id}##1`)).toEqual([409, 'fare_menu_expired']);
  await openedMenu(offer.offer_id);
  for (const n of ['0', '5', '01', 'x', '']) {
    expect(await lock(`${offer.offer_id}##${n}`)).toEqual([409, 'invalid_fare_index']);
  }
  await turnSwitch(world.store, 'lowcost', 'off');
  expect(await lock(`${offer.offer_id}##1`)).toEqual([409, 'lowcost_booking_unavailable']);
  await turnSwitch(world.store, 'lowcost', 'on');
  world.clock.advance(30 * 60_000);
  expect(await lock(`${offer.offer_id}##1`)).toEqual([409, 'fare_menu_expired']);
  world.clock.advance(30 * 60_000);
  expect(await lock(offer.offer_id)).toEqual([404, 'offer_not_found']);
});

test('a failed fare check is remembered for 30 minutes', async () => {
  const offer = await first('LTN', 'LGW');
  expect(await openedMenu(offer.offer_id)).toMatchObject({ status: 'failed', fares: [] });
  expect(await lock(`${offer.offer_id}##1`)).toEqual([409, 'fare_check_failed']);
  expect(await lock(offer.offer_id)).toEqual([409, 'fare_check_failed']);
  expect(await ask('/air/offer-details', { offer_id: offer.offer_id })).toEqual([409, 'fare_check_failed']);
  world.clock.advance(30 * 60_000);
  expect(await lock(`${offer.offer_id}##1`)).toEqual([409, 'fare_menu_expired']);
});

test('a menu that failed costs nothing: not to who waited for it, nor to copies, nor on another process, nor later', async () => {
  const offer = await first('LTN', 'LGW');
  const body = { offer_id: offer.offer_id };
  const before = await world.sums();
  const challenge = await world.call('/air/offer-details', body);
  const headers = { 'PAYMENT-SIGNATURE': await world.sign(challenge) };
  const second = { 'PAYMENT-SIGNATURE': await world.sign(await world.call('/air/offer-details', body)) };
  expect((await world.call('/air/offer-details', body, { headers })).status).toBe(202);
  world.clock.advance(30_000);
  const other = world.service().call;
  const calls = [world.call, other, world.call, other].map((call) =>
    call<OfferDetailsResponse>('/air/offer-details', body, { headers }),
  );
  const answers = [...(await Promise.all(calls)), await other('/air/offer-details', body, { headers })];
  for (const answer of answers) {
    expect([answer.status, answer.headers.get('PAYMENT-RESPONSE')]).toEqual([200, null]);
    expect(answer.body.fare_menu).toMatchObject({ status: 'failed', fares: [] });
  }
  // A second payment that was signed before the look failed is refused before it is settled.
  const late = await world.call('/air/offer-details', body, { headers: second });
  expect([late.status, late.body.code]).toEqual([409, 'fare_check_failed']);
  world.clock.advance(10 * 60_000);
  await world.paywall.recover();
  expect((await world.call('/air/offer-details', body, { headers })).headers.get('PAYMENT-RESPONSE')).toBeNull();
  expect(await world.sums()).toEqual(before);
});

test('a fare menu is fresh for 30 minutes: until then its fares are locked, and then no more', async () => {
  const offer = await first();
  const { fares } = await openedMenu(offer.offer_id);
  const second = fares[1]?.offer_id ?? '';
  const openedAtMs = world.clock.now();
  const locking = { funding_wallet: world.wallet.address, offer_id: second };
  world.clock.advance(30 * 60_000 - 45_000);
  expect((await world.paid('/air/intents', locking)).status).toBe(201);
  world.clock.advance(45_000 - (world.clock.now() - openedAtMs - (30 * 60_000 - 45_000)));
  expect(await lock(second)).toEqual([409, 'fare_menu_expired']);
});

test('a failed fare check blocks its offer for 30 minutes: until then, and no longer', async () => {
  const offer = await first('LTN', 'LGW');
  expect(await openedMenu(offer.offer_id)).toMatchObject({ status: 'failed' });
  const checkedAtMs = world.clock.now();
  const until = (ms: number) => world.clock.advance(checkedAtMs + ms - world.clock.now());
  until(30 * 60_000 - 45_000);
  expect(await lock(offer.offer_id)).toEqual([409, 'fare_check_failed']);
  until(30 * 60_000);
  const wallet = { funding_wallet: world.wallet.address, offer_id: offer.offer_id };
  expect((await world.paid('/air/intents', wallet)).status).toBe(201);
});

test('the escrow is for the price of the fare, for all travellers', async () => {
  const fare = await fareOf((await first('LIS', 'BER', { adults: 2 })).offer_id, 3);
  const made = await world.intent(fare.offer_id);
  expect(made.passenger_count).toBe(2);
  expect(made.escrow.amount).toBe(fare.total_amount);
});

test('travel documents are required, and refused before payment when they are missing or expired', async () => {
  const made = await world.intent((await first()).offer_id);
  const book = (passenger: object) => ask('/air/book', { intent_id: made.intent_id, passengers: [passenger] });
  expect(await book(PASSENGER)).toEqual([400, 'travel_document_required']);
  expect(await book({ ...TRAVELLER, passport_expiry: '2026-11-01' })).toEqual([400, 'travel_document_expired']);
});

async function journey(origin: string, destination: string, service?: ReturnType<World['service']>) {
  const fare = await fareOf((await first(origin, destination)).offer_id);
  const made = await world.intent(fare.offer_id);
  const before = await world.sums();
  await world.book(made, [TRAVELLER]);
  await world.work(5 * 60_000, service?.worker);
  return { made, before, amount: BigInt(fare.total_amount) };
}

const bookingOf = (intentId: string) =>
  world.store.selectFrom('bookings').selectAll().where('intent_id', '=', intentId).executeTakeFirstOrThrow();

test.each([
  ['an ordinary website', 'LIS', 'BER'],
  ['late_confirmation', 'LCY', 'LTN'],
])('%s: captured once the ticket exists, for the fare alone', async (_name, origin, destination) => {
  const { made, before, amount } = await journey(origin, destination);
  const shown = await world.show(made);
  expect(shown).toMatchObject({ status: 'booked', refund_reason: null });
  expect(await moved(before, made)).toEqual({ ...nothing, wallet: -amount, treasury: amount });
  const order = await world.paid(`/air/orders/${shown.order_id}`, undefined, {
    headers: { 'X-Customer-Support-Code': made.customer_support_code },
  });
  expect(order.body).toMatchObject({
    status: 'ticketed',
    booking_reference: expect.stringMatching(/^\w{6}$/),
    total_amount_decimal: made.expected_ticket_amount_decimal,
    documents: [{ type: 'itinerary_receipt' }],
  });
});

test.each([
  ['price_differs_at_till', 'LTN', 'STN', 'offer_repriced'],
  ['form_rejected', 'STN', 'LTN', 'form_rejected'],
  ['captcha', 'LGW', 'LTN', 'captcha'],
  ['account_wall', 'LHR', 'LTN', 'account_wall'],
  ['sold_out', 'LCY', 'LGW', 'offer_unavailable'],
])('%s: nothing was bought, so the money goes back', async (_name, origin, destination, reason) => {
  const { made, before, amount } = await journey(origin, destination);
  expect(await world.show(made)).toMatchObject({ status: 'refunded', refund_reason: reason, order_id: null });
  expect(await moved(before, made)).toEqual({ ...nothing, wallet: -amount, refund: amount });
});

test('pay pressed and no confirmation: never tried again, never refunded; a person decides', async () => {
  const { made, before, amount } = await journey('LCY', 'STN');
  world.clock.advance(26 * 3_600_000);
  await world.work();
  expect(await world.show(made)).toMatchObject({ status: 'active', refund_tx_hash: null, captured_at: null });
  expect(await moved(before, made)).toEqual({ ...nothing, wallet: -amount, vault: amount });
  expect(await bookingOf(made.intent_id)).toMatchObject({
    state: 'stuck',
    last_error: 'payment_pressed_no_confirmation',
  });
  const effects = await world.store
    .selectFrom('effects')
    .selectAll()
    .where('subject', '=', made.intent_id)
    .where('kind', '=', 'airline_order')
    .execute();
  expect(effects).toMatchObject([{ state: 'stuck', live_key: `airline_order:${made.intent_id}` }]);
});

/** A service whose fulfiller loses its answers, or dies, as told. */
const unlucky = (change: (fulfiller: Fulfiller) => Partial<Fulfiller>) =>
  world.service((ports) => ({ ...ports, lowcost: ports.lowcost && { ...ports.lowcost, ...change(ports.lowcost) } }));

test('the answer to a purchase is lost: it is asked about, and bought once', async () => {
  let pressed = 0;
  const service = unlucky((fulfiller) => ({
    async book(purchase) {
      pressed++;
      await fulfiller.book(purchase);
      throw new Error('the connection broke');
    },
    async find(reference) {
      return fulfiller.find(reference);
    },
  }));
  const { made, before, amount } = await journey('LIS', 'BER', service);
  expect((await world.show(made)).status).toBe('booked');
  expect(pressed).toBe(1);
  expect(await moved(before, made)).toEqual({ ...nothing, wallet: -amount, treasury: amount });
});

test('while nobody can say what became of a purchase, it is neither repeated nor refunded', async () => {
  let pressed = 0;
  const service = unlucky((fulfiller) => ({
    async book(purchase) {
      pressed++;
      await fulfiller.book(purchase);
      throw new Error('the browser died');
    },
    async find() {
      throw new Error('nobody answers');
    },
  }));
  const { made, before, amount } = await journey('LIS', 'BER', service);
  expect(pressed).toBe(1);
  expect(await moved(before, made)).toEqual({ ...nothing, wallet: -amount, vault: amount });
  // Another process, whose fulfiller answers, finds the ticket.
  world.clock.advance(60_000);
  await world.work();
  expect((await world.show(made)).status).toBe('booked');
  expect(await moved(before, made)).toEqual({ ...nothing, wallet: -amount, treasury: amount });
});

test('a trip there and back is one offer with two directions', async () => {
  const offer = await first('LIS', 'BER', { ...TRIP, return_date: '2026-12-27' });
  expect(offer.slices.map((slice) => slice.origin_iata)).toEqual(['LIS', 'BER']);
});
