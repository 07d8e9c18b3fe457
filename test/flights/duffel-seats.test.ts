import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createOperatorKeys } from '../../src/flights/desk/keys.ts';
import { randomIds } from '../../src/kernel/ids.ts';
import { parseUsdc } from '../../src/kernel/money.ts';
import type {
  CreatedIntent,
  OfferDetailsResponse,
  Order,
  RefundPlan,
  SeatMapSeat,
} from '../../src/wire/flights/index.ts';
import * as wire from '../../src/wire/flights/schema.ts';
import { searched } from '../sandbox/duffel/served.ts';
import type { Offer as DuffelOffer } from '../sandbox/duffel/shapes.ts';
import { openStage } from './duffel-journeys.ts';
import { mortal } from './mortal.ts';
import { PASSENGER } from './world.ts';

/** Seats of an airline API that sells them as services: 30.00 in the two front rows, else 12.00, one exit row. */

const DATE = '2027-01-20';
const BAGS = 40_000_000n;
const PEOPLE = [PASSENGER, { ...PASSENGER, given_name: 'Grace' }];

let stage: Awaited<ReturnType<typeof openStage>>;
beforeAll(async () => {
  stage = await openStage('seats');
});
afterAll(() => stage.close());

let next: ReturnType<typeof stage.service>;
beforeEach(async () => {
  next = stage.service();
  await stage.duffel.admin('/behaviours', { offer: 'normal', order: 'normal', cancellation: 'normal' });
});

const anOffer = async (passengers: readonly object[] = PEOPLE.map(() => ({ type: 'adult' }))) => {
  const [offer] = await searched(stage.duffel, 'LIS', 'BER', DATE, { passengers }, 'ZZ');
  return offer as DuffelOffer;
};

const paid = <T>(path: string, body: object) => stage.world.paid<T>(path, body, { call: next.call });
const lock = (offerId: string, seats: object, more: object = {}) =>
  paid<CreatedIntent>('/air/intents', {
    offer_id: offerId,
    refund_wallet: stage.world.refundWallet.address,
    seats,
    ...more,
  });
const book = (made: CreatedIntent, passengers: readonly object[] = PEOPLE) =>
  paid<{ code?: string }>('/air/book', { intent_id: made.intent_id, passengers });
const show = async ({ intent_id }: CreatedIntent) => (await next.call<CreatedIntent>(`/air/intents/${intent_id}`)).body;
const ordersOf = async ({ intent_id }: CreatedIntent) =>
  (await stage.duffel.admin('/orders')).orders.filter(({ reference }) => reference === intent_id);

/** The seats that are free on the first flight, front rows first. */
async function freeSeats(offer: DuffelOffer): Promise<SeatMapSeat[]> {
  const { status, body } = await paid<OfferDetailsResponse>('/air/offer-details', { offer_id: offer.id, seats: true });
  expect(status).toBe(200);
  const [map] = wire.offerDetailsResponse.parse(body).seat_maps ?? [];
  return (map?.cabins ?? [])
    .flatMap(({ rows }) => rows.flat(2))
    .filter((element) => typeof element !== 'string')
    .filter(({ prices }) => prices.length > 0);
}

const sat = (...seats: readonly (SeatMapSeat | undefined)[]) =>
  seats.map((seat, passenger_index) => ({ passenger_index, segment_index: 0, designator: seat?.designator ?? '' }));
const costOf = (...seats: readonly (SeatMapSeat | undefined)[]) =>
  seats.reduce((sum, seat) => sum + parseUsdc(seat?.prices[0]?.total_amount_decimal ?? ''), 0n);

test('seats and bags are services of the reads before the order; all of it is the total, and comes back', async () => {
  const { world, duffel } = stage;
  const offer = await anOffer();
  const free = await freeSeats(offer);
  const chosen = sat(free[0], free.at(-1));
  const total = parseUsdc(offer.total_amount) + BAGS + costOf(free[0], free.at(-1));
  const { status, body: made } = await lock(offer.id, chosen, { bags: { checked: 2 } });
  expect([status, made.escrow.amount, made.seats?.chosen]).toMatchObject([201, Number(total), chosen]);
  expect((await book(made)).status).toBe(200);
  // The first worker dies between the price check and the order; the next one finds the services anew.
  const { wrap, died } = mortal(12);
  await stage
    .service(wrap)
    .worker.runDue()
    .catch(() => undefined);
  expect(died()).toBe(true);
  world.clock.advance(61_000);
  await world.work(undefined, next.worker);
  const booked = await show(made);
  expect(booked.status).toBe('booked');
  const [ordered, ...others] = await ordersOf(made);
  expect(others).toEqual([]);
  const { body: shown } = await duffel.call<{ services: { type: string }[]; total_amount: string }>(
    'GET',
    `/air/orders/${ordered?.order_id}`,
  );
  expect(shown.data.services.map(({ type }) => type).sort()).toEqual(['baggage', 'baggage', 'seat', 'seat']);
  expect(parseUsdc(shown.data.total_amount)).toBe(total);
  const headers = { 'X-Customer-Support-Code': made.customer_support_code };
  const asked = { headers, call: next.call };
  const { body: order } = await world.paid<Order>(`/air/orders/${booked.order_id}`, undefined, asked);
  expect(order).toMatchObject({ seats: chosen, bags: [{ type: 'checked', quantity: 2 }] });

  const before = await world.usdc(world.refundWallet.address);
  expect(await approvedRefund(made)).toBe(200);
  await world.work(undefined, next.worker);
  expect((await world.usdc(world.refundWallet.address)) - before).toBe(total);
});

async function approvedRefund(made: CreatedIntent): Promise<number> {
  const { world } = stage;
  const headers = { 'X-Customer-Support-Code': made.customer_support_code, 'X-Passenger-Family-Name': 'Lovelace' };
  const reason = { intent_id: made.intent_id, reason: 'I broke a leg.' };
  expect((await world.paid('/air/refund-requests', reason, { headers, call: next.call })).status).toBe(202);
  const keys = createOperatorKeys({ ...world, ids: randomIds(world.clock.now) });
  const { key } = await keys.issue({ keyId: 'key_0', name: 'first' }, 'ana', 'req_1');
  const desk = { headers: { Authorization: `Bearer ${key}` } };
  const path = `/operator/refund-requests/${made.intent_id}/approve`;
  const { body: plan } = await next.call<RefundPlan>(path, { dry_run: true }, desk);
  const { quote_id, refund_amount_decimal } = plan.airline_quote ?? {};
  const payout_amount = Number(parseUsdc(refund_amount_decimal ?? ''));
  return (await next.call(path, { payout_amount, quote_id, note: 'as quoted' }, desk)).status;
}

test.each([
  ['costs more', 'seats_up', 'offer_repriced'],
  ['is gone', 'seats_gone', 'seat_unavailable'],
])(
  'a seat that %s: before the payment it is refused, after it nothing is ordered and all comes back',
  async (_what, behaviour, code) => {
    const { world, duffel } = stage;
    const [first, second] = [await anOffer(), await anOffer()];
    const [seat] = await freeSeats(first);
    const { body: early } = await lock(first.id, sat(seat));
    const wallet = await world.usdc(world.wallet.address);
    await duffel.admin('/behaviours', { offer: [behaviour] });
    const answer = await book(early);
    expect([answer.status, answer.body.code]).toEqual([409, code]);
    expect(await world.usdc(world.wallet.address)).toBe(wallet);

    const { body: made } = await lock(second.id, sat(seat));
    expect((await book(made)).status).toBe(200);
    const before = await world.usdc(world.refundWallet.address);
    await duffel.admin('/behaviours', { offer: [behaviour] });
    await world.work(undefined, next.worker);
    const ended = await show(made);
    expect([ended.status, ended.refund_reason]).toEqual(['refunded', code]);
    expect(await ordersOf(made)).toEqual([]);
    expect((await world.usdc(world.refundWallet.address)) - before).toBe(parseUsdc(second.total_amount) + costOf(seat));
  },
);

test('of two who paid for the same seat one is booked, and the other has the money back', async () => {
  const { world } = stage;
  const [first, second] = [await anOffer(), await anOffer()];
  const [seat] = await freeSeats(first);
  const made = [(await lock(first.id, sat(seat))).body, (await lock(second.id, sat(seat))).body];
  for (const one of made) expect((await book(one)).status).toBe(200);
  await world.work(undefined, next.worker);
  const ended = await Promise.all(made.map(show));
  expect(ended.map(({ status }) => status).sort()).toEqual(['booked', 'refunded']);
  expect(ended.find(({ status }) => status === 'refunded')?.refund_reason).toBe('seat_unavailable');
  const orders = await Promise.all(made.map(ordersOf));
  expect(orders.map((all) => all.length).sort()).toEqual([0, 1]);
});

test('a child has a seat outside of exit rows, and an infant has none', async () => {
  const offer = await anOffer([{ type: 'adult' }, { age: 8 }, { age: 1 }]);
  const free = await freeSeats(offer);
  const exit = free.find(({ disclosures }) => disclosures);
  expect(exit).toMatchObject({ designator: expect.stringMatching(/^5/), prices: [{ passenger_indexes: [0] }] });
  expect(free[0]?.prices).toEqual([{ total_amount_decimal: '30.00' }]);
  const at = (designator: string | undefined, passenger_index: number) => [
    { passenger_index, segment_index: 0, designator },
  ];
  expect((await lock(offer.id, at(exit?.designator, 1))).body).toMatchObject({ code: 'seat_unavailable' });
  expect((await lock(offer.id, at(free[0]?.designator, 2))).body).toMatchObject({ code: 'invalid_request' });
});

test('a seller without a seat map is said to have none, free of charge', async () => {
  const [offer] = await searched(stage.duffel, 'BTS', 'ABV', DATE, { passengers: [{ type: 'adult' }] });
  const before = await stage.world.usdc(stage.world.wallet.address);
  const shown = await paid('/air/offer-details', { offer_id: offer?.id, seats: true });
  const locked = await lock(offer?.id ?? '', [{ passenger_index: 0, segment_index: 0, designator: '1A' }]);
  expect([shown.body, locked.body]).toMatchObject([{ code: 'seats_unavailable' }, { code: 'seats_unavailable' }]);
  expect(await stage.world.usdc(stage.world.wallet.address)).toBe(before);
});
