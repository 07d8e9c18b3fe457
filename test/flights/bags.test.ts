import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createOperatorKeys } from '../../src/flights/desk/keys.ts';
import { randomIds } from '../../src/kernel/ids.ts';
import { parseUsdc } from '../../src/kernel/money.ts';
import type { Offer, OfferDetailsResponse, Order, RefundPlan } from '../../src/wire/flights/index.ts';
import * as wire from '../../src/wire/flights/schema.ts';
import { openWorld, PASSENGER, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await openWorld({ lowcostMs: 0 });
});
afterEach(() => world.close());

const ONE = { checked: 1 };
const TWO = { checked: 2 };
const searched = (body: object = {}) => world.search({ bags: ONE, cheapest_per_itinerary: true, ...body });
const priceOf = ({ with_bags }: Pick<Offer, 'with_bags'>) => BigInt(with_bags?.total_amount ?? -1);

describe('a search with bags', () => {
  test('shows the cheapest way to carry them, and ranks by it', async () => {
    const { offers } = wire.searchResponse.parse(await searched({ destination_iata: 'JFK', bags: TWO }));
    const dollars = offers.filter(({ total_currency }) => total_currency === 'USD');
    const known = dollars.filter(({ with_bags }) => with_bags?.way !== 'unknown');
    expect(new Set(known.map(({ with_bags }) => with_bags?.way))).toEqual(new Set(['fare', 'service']));
    for (const offer of known) {
      const bags = parseUsdc(offer.with_bags?.bags_amount_decimal ?? '');
      expect(priceOf(offer)).toBe(parseUsdc(offer.total_amount_decimal) + bags);
      expect(bags > 0n).toBe(offer.with_bags?.way === 'service');
      const others = offer.fare_options ?? [];
      expect(others.every((fare) => fare.with_bags && priceOf(fare) >= priceOf(offer))).toBe(true);
    }
    expect(known).toEqual(known.toSorted((a, b) => Number(priceOf(a) - priceOf(b))));
  });

  test('is the same search without any', async () => {
    const plain = await world.search({ cheapest_per_itinerary: true });
    const none = await world.search({ cheapest_per_itinerary: true, bags: { checked: 0, carry_on: 0 } });
    expect(none.offers).toEqual(plain.offers);
    expect(plain.offers.some(({ with_bags }) => with_bags)).toBe(false);
  });

  test('takes max_price as the price with them, and a bag never makes a flight cheaper', async () => {
    const [plain, one, two] = [
      await world.search(),
      await world.search({ bags: ONE }),
      await world.search({ bags: { checked: 2 } }),
    ];
    const by = ({ offers }: typeof plain, { offer_id }: Offer) => offers.find((offer) => offer.offer_id === offer_id);
    for (const offer of one.offers) {
      expect(priceOf(offer)).toBeGreaterThanOrEqual(BigInt(by(plain, offer)?.total_amount ?? 0));
      const more = by(two, offer)?.with_bags?.total_amount;
      if (more != null) expect(BigInt(more)).toBeGreaterThanOrEqual(priceOf(offer));
    }
    const most = '180.00';
    const cut = await world.search({ bags: ONE, max_price: most });
    expect(cut.offers.length).toBeGreaterThan(0);
    expect(cut.offers.every((offer) => priceOf(offer) <= parseUsdc(most))).toBe(true);
    const lost = plain.offers.filter((offer) => offer.total_amount <= 180_000_000 && !by(cut, offer));
    expect(lost.length).toBeGreaterThan(0);
  });
});

/** The cheapest offer for which one bag each is bought beside an included one, with a penalty for a refund. */
async function bareOffer(body: object = {}): Promise<Offer> {
  const { offers } = await world.search({ bags: TWO, ...body });
  const found = offers.find(
    ({ with_bags, conditions, total_currency }) =>
      with_bags?.way === 'service' && total_currency === 'USD' && Number(conditions?.refund_penalty_amount) > 0,
  );
  if (!found) throw new Error('no fare sells a bag');
  return found;
}

const paidOrder = (made: { customer_support_code: string }, orderId: string | null) =>
  world.paid<Order>(`/air/orders/${orderId}`, undefined, {
    headers: { 'X-Customer-Support-Code': made.customer_support_code },
  });

describe('bags are bought with the fare', () => {
  test('lock, escrow, payment, order and refund are the fare and its bags, to the unit', async () => {
    const offer = await bareOffer({ adults: 2 });
    const { body: details } = await world.paid<OfferDetailsResponse>('/air/offer-details', {
      offer_id: offer.offer_id,
      bags: TWO,
    });
    expect(details.offer.with_bags).toEqual(offer.with_bags);
    const bag = details.available_services
      .filter((one) => one.baggage_type === 'checked')
      .map((one) => parseUsdc(one.total_amount_decimal))
      .sort((a, b) => Number(a - b))[0];
    const total = parseUsdc(offer.total_amount_decimal) + 2n * (bag ?? -1n);
    expect(priceOf(offer)).toBe(total);

    const made = await world.intent(offer.offer_id, { bags: TWO });
    expect(made).toMatchObject({ escrow: { amount: Number(total) }, expected_ticket_amount: Number(total) });
    expect(made.bags).toMatchObject({ checked: 2, carry_on: 0, total_amount: Number(2n * (bag ?? -1n)) });
    const before = await world.sums();
    await world.book(made, [PASSENGER, { ...PASSENGER, given_name: 'Grace' }]);
    expect((await world.sums(made)).vault).toBe(total);
    await world.work();
    const booked = await world.show(made);
    expect(booked).toMatchObject({ status: 'booked', bags: made.bags });
    expect((await world.sums(made)).treasury - before.treasury).toBe(total);
    const { body: order } = await paidOrder(made, booked.order_id);
    expect(wire.order.parse(order)).toMatchObject({ bags: [{ type: 'checked', quantity: 2 }] });
    expect(parseUsdc(order.total_amount_decimal)).toBe(total);

    const refunded = await refund(made);
    const penalty = parseUsdc(offer.conditions?.refund_penalty_amount ?? '');
    expect(refunded).toBe(total - penalty);
  });

  test('a dearer fare that includes them is locked at its own price', async () => {
    const { offers } = await searched();
    const offer = offers.find(({ with_bags }) => with_bags?.way === 'fare');
    const made = await world.intent(offer?.offer_id ?? '', { bags: ONE });
    expect(made).toMatchObject({ escrow: { amount: offer?.total_amount }, bags: { total_amount: 0 } });
    await world.book(made);
    await world.work();
    const { body: order } = await paidOrder(made, (await world.show(made)).order_id);
    expect(order).not.toHaveProperty('bags');
  });

  test('bags that are not sold are refused before the first charge', async () => {
    const offer = await bareOffer();
    const before = await world.sums();
    const asked = await world.paid('/air/intents', { offer_id: offer.offer_id, bags: { checked: 5 } });
    expect([asked.status, asked.body.code]).toEqual([409, 'bags_unavailable']);
    expect(await world.sums()).toEqual(before);
    const wrong = await world.call('/air/intents', { offer_id: offer.offer_id, bags: { checked: 1, hold: 1 } });
    expect([wrong.status, wrong.body.code]).toEqual([400, 'invalid_request']);
  });

  test('the same offer with other bags is the same lock', async () => {
    const offer = await bareOffer();
    const made = await world.intent(offer.offer_id, { bags: ONE });
    const again = await world.paid('/air/intents', { funding_wallet: world.wallet.address, offer_id: offer.offer_id });
    expect(again).toMatchObject({ status: 409, body: { code: 'intent_already_exists' } });
    expect(again.body.detail).toEqual({ intent_id: made.intent_id });
  });

  test('a low-cost menu shows its fares with bags, sells an extra one, and confirms the sum', async () => {
    const first = await world.search({ bags: ONE });
    const updates = await world.call<{ offers: Offer[] }>('/air/search-updates', { search_id: first.search_id });
    const [flight] = updates.body.offers;
    expect(flight?.with_bags?.way).toBe('service');
    const asked = { offer_id: flight?.offer_id, bags: ONE };
    const { body: details } = await world.paid<OfferDetailsResponse>('/air/offer-details', asked);
    const { fares } = wire.offerDetailsResponse.parse(details).fare_menu ?? { fares: [] };
    expect(fares.map(({ with_bags }) => with_bags?.way)).toEqual(['service', 'service', 'fare', 'fare']);
    const [bare] = fares;
    const made = await world.intent(bare?.offer_id ?? '', { bags: ONE });
    const total =
      parseUsdc(bare?.total_amount_decimal ?? '') +
      parseUsdc(details.available_services[0]?.total_amount_decimal ?? '');
    expect(made).toMatchObject({ escrow: { amount: Number(total) } });
    await world.book(made, [
      { ...PASSENGER, nationality: 'PT', passport_number: 'X1234567', passport_expiry: '2032-01-01' },
    ]);
    await world.work();
    const booked = await world.show(made);
    expect(booked.status).toBe('booked');
    const { body: order } = await paidOrder(made, booked.order_id);
    expect(order.bags).toEqual([{ type: 'checked', quantity: 1 }]);
    expect(parseUsdc(order.total_amount_decimal)).toBe(total);
  });
});

/** @returns the amount that came back to the refund wallet */
async function refund(made: { intent_id: string; customer_support_code: string }): Promise<bigint> {
  const headers = { 'X-Customer-Support-Code': made.customer_support_code, 'X-Passenger-Family-Name': 'Lovelace' };
  const asked = await world.paid('/air/refund-requests', { intent_id: made.intent_id, reason: 'ill' }, { headers });
  expect(asked.status).toBe(202);
  const keys = createOperatorKeys({ ...world, ids: randomIds(world.clock.now) });
  const { key } = await keys.issue({ keyId: 'key_0', name: 'first' }, 'ana', 'req_1');
  const before = await world.usdc(world.refundWallet.address);
  const path = `/operator/refund-requests/${made.intent_id}/approve`;
  const desk = { headers: { Authorization: `Bearer ${key}` } };
  const plan = await world.call<RefundPlan>(path, { dry_run: true }, desk);
  expect(plan.status).toBe(200);
  expect((await world.call(path, {}, desk)).status).toBe(200);
  await world.work();
  return (await world.usdc(world.refundWallet.address)) - before;
}
