import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createOperatorKeys } from '../../src/flights/desk/keys.ts';
import { randomIds } from '../../src/kernel/ids.ts';
import { parseUsdc } from '../../src/kernel/money.ts';
import type { CreatedIntent, Offer, Order, RefundPlan, SearchResponse } from '../../src/wire/flights/index.ts';
import { searched } from '../sandbox/duffel/served.ts';
import type { Offer as DuffelOffer } from '../sandbox/duffel/shapes.ts';
import { openStage } from './duffel-journeys.ts';
import { mortal } from './mortal.ts';
import { PASSENGER } from './world.ts';

/** Bags of an airline API that sells them as services: Duffel Airways sells one of 23 kg for 20.00 to each traveller. */

const BAG = 20_000_000n;
const DATE = '2027-01-20';
const PEOPLE = [PASSENGER, { ...PASSENGER, given_name: 'Grace' }];

let stage: Awaited<ReturnType<typeof openStage>>;
beforeAll(async () => {
  stage = await openStage('bags');
});
afterAll(() => stage.close());

let next: ReturnType<typeof stage.service>;
beforeEach(async () => {
  next = stage.service();
  await stage.duffel.admin('/behaviours', { offer: 'normal', order: 'normal', cancellation: 'normal' });
});

/** An offer of Duffel Airways for two, which includes a bag each. */
const anOffer = async (): Promise<DuffelOffer> => {
  const [offer] = await searched(
    stage.duffel,
    'LIS',
    'BER',
    DATE,
    { passengers: PEOPLE.map(() => ({ type: 'adult' })) },
    'ZZ',
  );
  return offer as DuffelOffer;
};

const lock = (offerId: string, bags: object = { checked: 2 }) =>
  stage.world.paid<CreatedIntent>(
    '/air/intents',
    { offer_id: offerId, refund_wallet: stage.world.refundWallet.address, bags },
    { call: next.call },
  );

const book = (made: CreatedIntent) =>
  stage.world.paid('/air/book', { intent_id: made.intent_id, passengers: PEOPLE }, { call: next.call });

const ordersOf = async ({ intent_id }: CreatedIntent) =>
  (await stage.duffel.admin('/orders')).orders.filter(({ reference }) => reference === intent_id);

test('the order is made with the services of its own last read, the total is fare and bags, and all of it comes back', async () => {
  const { world, duffel } = stage;
  const offer = await anOffer();
  const total = parseUsdc(offer.total_amount) + 2n * BAG;
  const { status, body: made } = await lock(offer.id);
  expect([status, made.escrow.amount, made.bags?.total_amount]).toEqual([201, Number(total), Number(2n * BAG)]);
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

  const booked = (await next.call<CreatedIntent>(`/air/intents/${made.intent_id}`)).body;
  expect(booked.status).toBe('booked');
  const [ordered, ...others] = await ordersOf(made);
  expect(others).toEqual([]);
  const { body: shown } = await duffel.call<{ services: object[]; total_amount: string }>(
    'GET',
    `/air/orders/${ordered?.order_id}`,
  );
  expect(shown.data.services).toMatchObject([{ quantity: 1 }, { quantity: 1 }]);
  expect(parseUsdc(shown.data.total_amount)).toBe(total);
  const headers = { 'X-Customer-Support-Code': made.customer_support_code };
  const { body: order } = await world.paid<Order>(`/air/orders/${booked.order_id}`, undefined, {
    headers,
    call: next.call,
  });
  expect(order.bags).toEqual([{ type: 'checked', quantity: 2 }]);

  // Duffel cancels whole orders: one traveller is refused before anything is charged.
  const spent = await world.usdc(world.wallet.address);
  const alone = await world.paid<{ code: string; next?: string[] }>(
    '/air/refund-requests',
    { intent_id: made.intent_id, reason: 'Grace is ill.', passengers: [2] },
    { headers: { ...headers, 'X-Passenger-Family-Name': 'Lovelace' }, call: next.call },
  );
  expect([alone.status, alone.body.code]).toEqual([409, 'passenger_refund_unavailable']);
  expect(await world.usdc(world.wallet.address)).toBe(spent);

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
  ['a bag that costs more', 'bags_up', 'offer_repriced'],
  ['a bag that is gone', 'bags_gone', 'bags_unavailable'],
])('%s before the payment is refused, and the escrow stays empty', async (_what, behaviour, code) => {
  const { body: made } = await lock((await anOffer()).id);
  const before = await stage.world.usdc(stage.world.wallet.address);
  await stage.duffel.admin('/behaviours', { offer: [behaviour] });
  const answer = await book(made);
  expect([answer.status, answer.body.code]).toEqual([409, code]);
  expect(await stage.world.usdc(stage.world.wallet.address)).toBe(before);
});

test.each([
  ['costs more', 'bags_up', 'offer_repriced'],
  ['is gone', 'bags_gone', 'bags_unavailable'],
])(
  'a bag that %s after the payment: nothing is ordered, and fare and bags come back',
  async (_what, behaviour, why) => {
    const { world } = stage;
    const offer = await anOffer();
    const { body: made } = await lock(offer.id);
    expect((await book(made)).status).toBe(200);
    const before = await world.usdc(world.refundWallet.address);
    await stage.duffel.admin('/behaviours', { offer: [behaviour] });
    await world.work(undefined, next.worker);
    const ended = (await next.call<CreatedIntent>(`/air/intents/${made.intent_id}`)).body;
    expect([ended.status, ended.refund_reason]).toEqual(['refunded', why]);
    expect(await ordersOf(made)).toEqual([]);
    expect((await world.usdc(world.refundWallet.address)) - before).toBe(parseUsdc(offer.total_amount) + 2n * BAG);
  },
);

test('more bags than are sold are refused free of charge', async () => {
  const before = await stage.world.usdc(stage.world.wallet.address);
  const answer = await lock((await anOffer()).id, { checked: 3 });
  expect(answer).toMatchObject({ status: 409, body: { code: 'bags_unavailable' } });
  expect(await stage.world.usdc(stage.world.wallet.address)).toBe(before);
});

test('a search reads the bags of a few offers alone, shows no price for the others, and ranks them last', async () => {
  const body = { origin_iata: 'LIS', destination_iata: 'BER', depart_date: DATE, cheapest_per_itinerary: true };
  const search = async (bags: object) =>
    (await stage.world.paid<SearchResponse>('/air/search', { ...body, bags }, { call: next.call })).body.offers;
  const offers = (await search({ checked: 2 })).filter(({ total_currency }) => total_currency === 'USD');
  const ways = offers.map(({ with_bags }) => with_bags?.way ?? '');
  expect(ways.filter((way) => way === 'service').length).toBeGreaterThan(0);
  expect(ways.filter((way) => way === 'service').length).toBeLessThanOrEqual(4);
  expect(ways.indexOf('unknown')).toBe(ways.findLastIndex((way) => way !== 'unknown') + 1);
  const unknown = offers.find(({ with_bags }) => with_bags?.way === 'unknown') as Offer;
  expect(unknown.with_bags).toMatchObject({ total_amount: null, total_amount_decimal: null });
});
