import { afterEach, beforeEach, expect, test } from 'vitest';
import { createOperatorKeys } from '../../src/flights/desk/keys.ts';
import { randomIds } from '../../src/kernel/ids.ts';
import { parseUsdc } from '../../src/kernel/money.ts';
import type { Intent, Offer, OfferDetailsResponse, Order, SeatMap, SeatMapSeat } from '../../src/wire/flights/index.ts';
import * as wire from '../../src/wire/flights/schema.ts';
import { openWorld, PASSENGER, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await openWorld({ lowcostMs: 0 });
});
afterEach(() => world.close());

const PEOPLE = [PASSENGER, { ...PASSENGER, given_name: 'Grace' }];
const PRICES = (map: SeatMap | undefined) => (map?.cabins ?? []).flatMap(({ rows }) => rows.flat(2)).filter(isSeat);
const isSeat = (element: SeatMapSeat | string): element is SeatMapSeat => typeof element !== 'string';
const usual = (map: SeatMap | undefined) => PRICES(map).filter(({ prices, disclosures }) => prices[0] && !disclosures);

const details = async (offerId: string) =>
  (await world.paid<OfferDetailsResponse>('/air/offer-details', { offer_id: offerId, seats: true })).body;

/** The first offer in USD that shows seats on each flight, and whose refund has a penalty. */
async function seated(body: object = {}): Promise<{ offer: Offer; maps: SeatMap[] }> {
  const { offers } = await world.search({ destination_iata: 'JFK', ...body });
  const able = offers.filter(
    ({ total_currency, conditions }) => total_currency === 'USD' && Number(conditions?.refund_penalty_amount) > 0,
  );
  for (const offer of able.slice(0, 8)) {
    const answer = await details(offer.offer_id);
    const flights = offer.slices.flatMap(({ segments }) => segments).length;
    if (answer.seat_maps?.length === flights)
      return { offer, maps: wire.offerDetailsResponse.parse(answer).seat_maps ?? [] };
  }
  throw new Error('no offer shows seats');
}

const sat = (map: SeatMap, ...seats: readonly (SeatMapSeat | undefined)[]) =>
  seats.map((seat, passenger_index) => ({
    passenger_index,
    segment_index: map.segment_index,
    designator: seat?.designator ?? '',
  }));
const priceOf = (...seats: readonly (SeatMapSeat | undefined)[]) =>
  seats.reduce((sum, seat) => sum + parseUsdc(seat?.prices[0]?.total_amount_decimal ?? ''), 0n);

test('lock, escrow, order and refund are fare, bags and seats, to the unit; a sold seat is then taken', async () => {
  const { offer, maps } = await seated({ adults: 2 });
  const [map] = maps as [SeatMap];
  const [a, b, c] = usual(map).filter((seat) => priceOf(seat) > 0n);
  const asked = { bags: { checked: 2 }, seats: sat(map, a, b) };
  const made = await world.intent(offer.offer_id, asked);
  const bags = BigInt(made.bags?.total_amount ?? -1);
  expect(bags > 0n).toBe(true);
  const total = parseUsdc(offer.total_amount_decimal) + bags + priceOf(a, b);
  expect(made).toMatchObject({ escrow: { amount: Number(total) }, expected_ticket_amount: Number(total) });
  expect(made.seats).toMatchObject({ total_amount: Number(priceOf(a, b)), chosen: asked.seats });
  const rival = await world.search({ destination_iata: 'JFK' });
  const same = rival.offers.find(
    ({ comparison_key, offer_id, owner_name }) =>
      comparison_key === offer.comparison_key && owner_name === offer.owner_name && offer_id !== offer.offer_id,
  ) as Offer;
  const other = await world.intent(same.offer_id, { seats: sat(map, b) });

  const before = await world.sums();
  await world.book(made, PEOPLE);
  await world.work();
  const booked = await world.show(made);
  expect(booked).toMatchObject({ status: 'booked', seats: made.seats });
  expect((await world.sums(made)).treasury - before.treasury).toBe(total);
  const headers = { 'X-Customer-Support-Code': made.customer_support_code };
  const { body: order } = await world.paid<Order>(`/air/orders/${booked.order_id}`, undefined, { headers });
  expect(wire.order.parse(order).seats).toEqual(asked.seats);
  expect(parseUsdc(order.total_amount_decimal)).toBe(total);

  // Another lock of that seat is refused before it is paid, and so is a new one.
  const sums = await world.sums(other);
  const refused = await world.paid('/air/book', { intent_id: other.intent_id, passengers: [PASSENGER] });
  expect([refused.status, refused.body.code]).toEqual([409, 'seat_unavailable']);
  expect(await world.sums(other)).toEqual(sums);
  const gone = PRICES((await details(same.offer_id)).seat_maps?.[0]).find(
    ({ designator }) => designator === b?.designator,
  );
  expect(gone?.prices).toEqual([]);

  const penalty = parseUsdc(offer.conditions?.refund_penalty_amount ?? '');
  // The second traveller alone: its own seat is part of its share, and sold again; the first one keeps its own.
  const { passengers } = (await world.call<Intent>(`/air/intents/${made.intent_id}`, undefined, { headers })).body;
  const [first, second] = passengers?.map(({ paid_amount }) => BigInt(paid_amount ?? 0)) ?? [];
  expect((second ?? 0n) - (first ?? 0n)).toBe(priceOf(b) - priceOf(a));
  const alone = await refund(made, [2]);
  const left = await world.paid<Order>(`/air/orders/${booked.order_id}`, undefined, { headers });
  expect(left.body.seats).toEqual(asked.seats.slice(0, 1));
  const isSold = async (designator: string | undefined) =>
    PRICES((await details(same.offer_id)).seat_maps?.[0]).find((seat) => seat.designator === designator)?.prices
      .length === 0;
  expect([await isSold(a?.designator), await isSold(b?.designator)]).toEqual([true, false]);
  expect(alone + (await refund(made))).toBe(total - penalty);
  // The airline sells the seat of a cancelled order again.
  expect(await isSold(a?.designator)).toBe(false);
  expect(c).toBeDefined();
});

test('a seat is refused before the first charge: taken, unknown, twice, of an infant, or where none are sold', async () => {
  const { offer, maps } = await seated({ adults: 1, child_ages: [1, 8] });
  const [map] = maps as [SeatMap];
  const [free] = usual(map);
  const exit = PRICES(map).find(({ disclosures, prices }) => disclosures && prices.length > 0);
  const taken = PRICES(map).find(({ prices }) => prices.length === 0);
  const place = (designator: string | undefined, passenger_index = 0, segment_index = map.segment_index) => ({
    ...{ passenger_index, segment_index, designator },
  });
  const search = await world.search();
  const before = await world.sums();
  const codes = async (...seats: object[]) => {
    const { status, body } = await world.paid('/air/intents', { offer_id: offer.offer_id, seats });
    return [status, body.code];
  };
  expect(await codes(place(taken?.designator))).toEqual([409, 'seat_unavailable']);
  expect(await codes(place('99Z'))).toEqual([409, 'seat_unavailable']);
  expect(await codes(place(free?.designator), place(free?.designator, 2))).toEqual([400, 'invalid_request']);
  expect(await codes(place(free?.designator, 1))).toEqual([400, 'invalid_request']);
  expect(await codes(place(free?.designator, 3))).toEqual([400, 'invalid_request']);
  expect(await codes(place(free?.designator, 0, 7))).toEqual([400, 'invalid_request']);
  expect(await codes(place('12a'))).toEqual([400, 'invalid_request']);
  // An exit row is for grown-ups: its price names them alone.
  expect(exit?.prices.map(({ passenger_indexes }) => passenger_indexes)).toEqual([[0]]);
  expect(await codes(place(exit?.designator, 2))).toEqual([409, 'seat_unavailable']);
  const agency = search.offers.find(({ owner_name }) => owner_name === 'Wayloft');
  const none = { offer_id: agency?.offer_id, seats: [place('1A')] };
  expect((await world.paid('/air/intents', none)).body.code).toBe('seats_unavailable');
  const shown = await world.paid('/air/offer-details', { offer_id: agency?.offer_id, seats: true });
  expect([shown.status, shown.body.code]).toEqual([409, 'seats_unavailable']);
  expect(await world.sums()).toEqual(before);
  const made = await world.intent(offer.offer_id, { seats: [place(exit?.designator)] });
  expect(made.seats?.chosen[0]?.disclosures?.[0]).toMatch(/^Exit row/);
});

test('a low-cost menu has no seats to choose, which is said free of charge', async () => {
  const { search_id } = await world.search();
  const { body } = await world.call<{ offers: Offer[] }>('/air/search-updates', { search_id });
  const [flight] = body.offers;
  const answer = await world.call('/air/offer-details', { offer_id: flight?.offer_id, seats: true });
  expect([answer.status, answer.body.code]).toEqual([409, 'seats_unavailable']);
});

/** @returns the amount that came back to the refund wallet */
async function refund(
  made: { intent_id: string; customer_support_code: string },
  passengers?: readonly number[],
): Promise<bigint> {
  const headers = { 'X-Customer-Support-Code': made.customer_support_code, 'X-Passenger-Family-Name': 'Lovelace' };
  const asked = { intent_id: made.intent_id, reason: 'ill', ...(passengers && { passengers }) };
  expect((await world.paid('/air/refund-requests', asked, { headers })).status).toBe(202);
  const keys = createOperatorKeys({ ...world, ids: randomIds(world.clock.now) });
  const { key } = await keys.issue({ keyId: 'key_0', name: 'first' }, 'ana', 'req_1');
  const before = await world.usdc(world.refundWallet.address);
  const desk = { headers: { Authorization: `Bearer ${key}` } };
  expect((await world.call(`/operator/refund-requests/${made.intent_id}/approve`, {}, desk)).status).toBe(200);
  await world.work();
  return (await world.usdc(world.refundWallet.address)) - before;
}
