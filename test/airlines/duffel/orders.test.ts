import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migratedFile } from '../../service/migrated.ts';
import { airline, goodOffer, goodOrder, type Loose, refusal } from './samples.ts';
import { type DuffelWorld, duffelWorld, type Told } from './world.ts';

const home = mkdtempSync(join(tmpdir(), 'farelock-duffel-'));
let world: DuffelWorld;
beforeAll(async () => {
  world = await duffelWorld(await migratedFile(home));
});
afterAll(async () => {
  await world.close();
  rmSync(home, { recursive: true });
});

const order = (change: Loose) => {
  world.script.answer = () => ({ body: { data: goodOrder('int_1', change) } });
  return world.provider.order('ord_1');
};
/** The clock stands at 09:00; the order was paid ten seconds later, by Duffel's. */
const PAID = { awaiting_payment: false, paid_at: '2026-11-21T08:59:00Z' };
const LONG_PAID = { awaiting_payment: false, paid_at: '2026-11-21T08:29:59Z' };
const EASYJET = airline('U2', 'easyJet');
const two = [{ id: 'pas_0' }, { id: 'pas_1' }];
const ticket = (holders: readonly string[], number = '1') => ({
  type: 'electronic_ticket',
  unique_identifier: number,
  passenger_ids: holders,
});

test.each<[string, Loose, string]>([
  ['a ticket for its passenger', {}, 'ticketed'],
  [
    'tickets for both, with the same number',
    { passengers: two, documents: [ticket(['pas_0']), ticket(['pas_1'])] },
    'ticketed',
  ],
  ['one ticket for both', { passengers: two, documents: [ticket(['pas_0', 'pas_1'])] }, 'ticketed'],
  [
    'a ticket for one of two',
    { passengers: two, documents: [ticket(['pas_0'])], payment_status: LONG_PAID },
    'confirmed',
  ],
  [
    'two tickets of one passenger',
    { passengers: two, documents: [ticket(['pas_0']), ticket(['pas_0'], '2')] },
    'confirmed',
  ],
  [
    'tickets that do not say whose they are',
    {
      passengers: two,
      documents: [
        { type: 'electronic_ticket', unique_identifier: '1' },
        { type: 'electronic_ticket', unique_identifier: '2' },
      ],
    },
    'ticketed',
  ],
  ['paid a minute ago, no ticket yet', { documents: [], payment_status: PAID }, 'confirmed'],
  ['paid half an hour ago, no ticket ever', { documents: [], payment_status: LONG_PAID }, 'ticketed'],
  ['easyJet, paid', { documents: [], payment_status: PAID, owner: EASYJET, booking_reference: 'K1ABCDE' }, 'ticketed'],
  [
    'easyJet, not paid',
    { documents: [], payment_status: { awaiting_payment: false, paid_at: null }, owner: EASYJET },
    'confirmed',
  ],
  [
    'easyJet, without a booking reference',
    { documents: [], payment_status: PAID, owner: EASYJET, booking_reference: null },
    'pending',
  ],
  [
    'a hold that has lapsed',
    { documents: [], payment_status: { awaiting_payment: false, paid_at: null } },
    'confirmed',
  ],
  ['no documents field', { documents: undefined, payment_status: PAID }, 'confirmed'],
  [
    'a document of another kind',
    {
      documents: [
        { type: 'electronic_miscellaneous_document_associated', unique_identifier: '9', passenger_ids: ['pas_0'] },
      ],
      payment_status: PAID,
    },
    'confirmed',
  ],
  ['cancelled, with its tickets still there', { cancelled_at: '2026-11-21T09:01:00Z' }, 'cancelled'],
  ['cancelled at a moment that cannot be read', { cancelled_at: 'yesterday' }, 'cancelled'],
  [
    'nothing but an id',
    { documents: null, payment_status: null, booking_reference: undefined, passengers: null },
    'pending',
  ],
])('%s', async (_, change, status) => {
  expect((await order(change)).status).toBe(status);
});

test('references of 6 to 13 characters, documents, amounts and moments are mapped', async () => {
  for (const reference of ['RZPNX8', 'K1ABCDE', 'LA12345678901']) {
    expect(await order({ booking_reference: reference })).toMatchObject({
      providerOrderId: 'ord_1',
      reference: 'int_1',
      bookingReference: reference,
      documents: [{ type: 'electronic_ticket', number: '1' }],
      totalAmountDecimal: '151.20',
      totalCurrency: 'USD',
      createdAtMs: Date.UTC(2026, 10, 21, 9, 0, 10),
    });
  }
  expect((await order({})).slices).toHaveLength(2);
  expect(JSON.stringify(await order({}))).not.toMatch(/Lovelace|1990/);
});

test('an order is not lost over its itinerary; without an id, a price or our reference it cannot be read', async () => {
  expect((await order({ slices: [{ segments: [{}] }, ...(goodOffer().slices as unknown[])] })).slices).toEqual([]);
  for (const change of [
    { id: 'ord_2' },
    { total_amount: 151.2 },
    { total_currency: null },
    { metadata: {} },
    { created_at: 'x' },
  ]) {
    await expect(order(change)).rejects.toMatchObject({ code: 'provider_failed' });
  }
});

test('an order of nobody', async () => {
  world.script.answer = () => refusal('invalid_request_error', 'not_found', 404);
  await expect(world.provider.order('ord_1')).rejects.toMatchObject({ code: 'order_not_found' });
  const before = world.asked.length;
  await expect(world.provider.order('ord_1/../x')).rejects.toMatchObject({ code: 'order_not_found' });
  expect(world.asked).toHaveLength(before);
});

describe('a cancellation', () => {
  const QUOTE = {
    id: 'ore_1',
    order_id: 'ord_1',
    refund_amount: '101.20',
    refund_currency: 'USD',
    refund_to: 'balance',
    expires_at: '2026-11-21T10:00:00Z',
    confirmed_at: null,
  };

  /** An order, its quotes and what confirming one does. */
  function airlineWith(
    change: { order?: Loose; quote?: Loose; quoted?: Told; confirm?: (id: string) => Told | 'done but cut' } = {},
  ) {
    let cancelledAt: string | null = null;
    let quotes = 0;
    world.asked.length = 0;
    world.script.answer = ({ method, path }) => {
      if (path === '/air/orders/ord_1')
        return { body: { data: goodOrder('int_1', { ...change.order, cancelled_at: cancelledAt }) } };
      if (method === 'POST' && path === '/air/order_cancellations') {
        quotes += 1;
        return change.quoted ?? { status: 201, body: { data: { ...QUOTE, id: `ore_${quotes}`, ...change.quote } } };
      }
      const id = path.split('/')[3] ?? '';
      if (method === 'GET') return { body: { data: { ...QUOTE, id, ...change.quote } } };
      const told = change.confirm?.(id);
      if (told && told !== 'done but cut') return told;
      cancelledAt = '2026-11-21T09:05:00Z';
      return told ? 'cut' : { body: { data: { ...QUOTE, id, confirmed_at: cancelledAt } } };
    };
  }
  const confirmed = () =>
    world.asked.filter(({ path }) => path.endsWith('/confirm')).map(({ path }) => path.split('/')[3]);
  const stale = refusal('invalid_state_error', 'order_cancellation_stale');

  test("shows the airline's own quote, and changes nothing", async () => {
    airlineWith();
    expect(await world.provider.cancellationQuote?.('ord_1')).toEqual({
      quoteId: 'ore_1',
      refundAmountDecimal: '101.20',
      refundCurrency: 'USD',
      refundTo: 'balance',
      expiresAtMs: Date.UTC(2026, 10, 21, 10),
    });
    expect(confirmed()).toEqual([]);
  });

  test.each<[string, Loose, Loose]>([
    [
      'an amount that is not told is not zero',
      { refund_amount: null },
      { refundAmountDecimal: null, refundCurrency: null },
    ],
    ['an amount without its currency is not told', { refund_currency: null }, { refundAmountDecimal: null }],
    [
      'credits are named',
      { refund_to: 'airline_credits', refund_amount: '0.00' },
      { refundTo: 'airline_credits', refundAmountDecimal: '0.00' },
    ],
    ['no end is no end', { expires_at: null }, { expiresAtMs: null }],
  ])('%s', async (_, quote, expected) => {
    airlineWith({ quote });
    expect(await world.provider.cancellationQuote?.('ord_1')).toMatchObject(expected);
  });

  test('there is no quote where Duffel cannot cancel', async () => {
    airlineWith({ order: { available_actions: ['update'] } });
    expect(await world.provider.cancellationQuote?.('ord_1')).toBeNull();
    expect((await world.provider.cancel('ord_1')).status).toBe('ticketed');
    airlineWith({ quoted: refusal('invalid_state_error', 'order_not_cancellable') });
    expect(await world.provider.cancellationQuote?.('ord_1')).toBeNull();
    expect((await world.provider.cancel('ord_1')).status).toBe('ticketed');
    expect(confirmed()).toEqual([]);
  });

  test('takes whatever the airline gives where no quote is named, once', async () => {
    airlineWith();
    expect((await world.provider.cancel('ord_1')).status).toBe('cancelled');
    expect((await world.provider.cancel('ord_1')).status).toBe('cancelled');
    expect(confirmed()).toEqual(['ore_1']);
  });

  test('confirms exactly the quote that is named', async () => {
    airlineWith();
    expect((await world.provider.cancel('ord_1', 'ore_7')).status).toBe('cancelled');
    expect(confirmed()).toEqual(['ore_7']);
    expect(world.times('POST', /^\/air\/order_cancellations$/)).toBe(0);
  });

  test('a stale quote is not replaced by another one where it was named', async () => {
    airlineWith({ confirm: () => stale });
    await expect(world.provider.cancel('ord_1', 'ore_1')).rejects.toMatchObject({ code: 'plan_changed' });
    expect(confirmed()).toEqual(['ore_1']);
    airlineWith({ confirm: (id) => (id === 'ore_1' ? stale : 'done but cut') });
    expect((await world.provider.cancel('ord_1')).status).toBe('cancelled');
    expect(confirmed()).toEqual(['ore_1', 'ore_2']);
  });

  test('a quote of another order confirms nothing', async () => {
    airlineWith({ quote: { order_id: 'ord_2' } });
    await expect(world.provider.cancel('ord_1', 'ore_1')).rejects.toMatchObject({ code: 'plan_changed' });
    await expect(world.provider.cancel('ord_1', '../orders')).rejects.toMatchObject({ code: 'plan_changed' });
    expect(confirmed()).toEqual([]);
  });

  test('after a lost confirmation, and one that says it was cancelled before, the order tells', async () => {
    airlineWith({ confirm: () => 'done but cut' });
    expect((await world.provider.cancel('ord_1', 'ore_1')).status).toBe('cancelled');
    airlineWith({ confirm: () => 'cut' });
    await expect(world.provider.cancel('ord_1', 'ore_1')).rejects.toMatchObject({ code: 'provider_failed' });
    airlineWith({ confirm: () => refusal('invalid_state_error', 'already_cancelled') });
    await expect(world.provider.cancel('ord_1', 'ore_1')).rejects.toMatchObject({ code: 'provider_failed' });
  });

  test("Duffel's word counts where the order follows later", async () => {
    airlineWith({ confirm: (id) => ({ body: { data: { ...QUOTE, id, confirmed_at: '2026-11-21T09:05:00Z' } } }) });
    expect(await world.provider.cancel('ord_1', 'ore_1')).toMatchObject({
      status: 'cancelled',
      updatedAtMs: Date.UTC(2026, 10, 21, 9, 5),
    });
  });
});
