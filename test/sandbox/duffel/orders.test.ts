import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAirlines } from '../../../src/sandbox/airline/world.ts';
import { diceOf } from '../../../src/sandbox/duffel/ids.ts';
import { handClock } from './clock.ts';
import { type Answer, found, orderOf, type ServedDuffel, searched, serveDuffel, traveller } from './served.ts';
import type { Books, Offer, Order, WebhookEvent } from './shapes.ts';

/** Orders of the sandbox of the Duffel API: what it refuses, what it makes, and what it says of both. */

const DATE = '2027-01-20';
const STEP_MS = 2_000;
let clock: ReturnType<typeof handClock>;
let duffel: ServedDuffel;
beforeAll(async () => {
  clock = handClock();
  duffel = await serveDuffel({ clock, stepMs: STEP_MS });
});
afterAll(() => duffel.close());

const codesOf = ({ body }: Pick<Answer<unknown>, 'body'>): string[] => body.errors.map(({ code }) => code);
const zzOffers = (origin = 'VIE', destination = 'LIS', more: object = {}) =>
  searched(duffel, origin, destination, DATE, more, 'ZZ');
const post = (offer: Offer, reference: string, more: object = {}) =>
  duffel.call('POST', '/air/orders', orderOf(offer, reference, more));
/** What is in the books of the search of an offer. */
const madeOf = async ({ passengers: [{ id }] }: Offer): Promise<Books['orders']> =>
  (await duffel.admin('/orders')).orders.filter(({ offer_id }) => offer_id.slice(8, 14) === id.slice(8, 14));
const listed = async (offer: Offer): Promise<Order[]> =>
  (await duffel.call<Order[]>('GET', `/air/orders?offer_id=${offer.id}`)).body.data;

test('an order is 201 with its ticket, and is found by its offer, its locator and a name', async () => {
  const [offer] = await zzOffers();
  const { status, body } = await post(offer, 'ref-1');
  expect(status).toBe(201);
  expect(body.data).toMatchObject({
    offer_id: offer.id,
    metadata: { reference: 'ref-1' },
    total_amount: offer.total_amount,
    documents: [{ type: 'electronic_ticket', unique_identifier: '1' }],
    payment_status: { awaiting_payment: false },
    passengers: [{ given_name: 'Amelia', family_name: 'Earhart' }],
  });
  expect(body.data.id).toMatch(/^ord_0000[0-9A-Za-z]{18}$/);
  for (const query of [
    `offer_id=${offer.id}`,
    `booking_reference=${body.data.booking_reference}`,
    'passenger_name[]=amelia&passenger_name[]=earhart',
    'created_at[after]=2026-11-22T11:59:00Z',
  ]) {
    const { data } = (await duffel.call<Order[]>('GET', `/air/orders?${query}`)).body;
    expect([query, data.map(({ id }) => id)]).toEqual([query, [body.data.id]]);
  }
  for (const query of [
    'booking_reference=NOBODY',
    'passenger_name[]=lindbergh',
    'created_at[before]=2026-11-22T11:59:00Z',
    'awaiting_payment=true',
  ])
    expect((await duffel.call<Order[]>('GET', `/air/orders?${query}`)).body.data).toEqual([]);
});

test('a ticket comes later, or never, and the order is paid all the same', async () => {
  await duffel.admin('/behaviours', { order: ['ticket_later', 'ticketless'] });
  const [later] = await zzOffers();
  const [never] = await zzOffers('VIE', 'BCN');
  const ids = [];
  for (const offer of [later, never]) {
    const { body } = await post(offer, offer.id);
    expect(body.data.documents).toEqual([]);
    expect(body.data.payment_status.paid_at).not.toBeNull();
    ids.push(body.data.id);
  }
  clock.forward(STEP_MS);
  const documents = [];
  for (const id of ids) documents.push((await duffel.call('GET', `/air/orders/${id}`)).body.data.documents.length);
  expect(documents).toEqual([1, 0]);
});

/** An offer of any of these, from its hub to wherever it flies. */
async function offerOf(airlines: readonly { code: string; hubs: readonly string[] }[]): Promise<Offer> {
  for (const { code, hubs } of airlines)
    for (const hub of hubs)
      for (const to of ['VIE', 'JFK', 'SIN']) {
        const offers = hub === to ? [] : await searched(duffel, hub, to, DATE);
        const offer = offers.find(({ owner }) => owner.iata_code === code);
        if (offer) return offer;
      }
  throw new Error('none of them flies anywhere');
}

test.each([
  ['issues no tickets, and its locators have seven characters', 0, 7, 0],
  ['has locators of thirteen characters', 1, 13, 1],
])('one sandbox airline %s', async (_what, oddity, length, tickets) => {
  const odd = readAirlines().filter(({ code }) => diceOf(code, 'oddity') % 10 === oddity);
  const offer = await offerOf(odd);
  const document = { type: 'passport', unique_identifier: 'X1', issuing_country_code: 'GB' };
  const identity_documents = [{ ...document, expires_on: '2032-01-01' }];
  const passengers = offer.passengers.map(({ id }) => ({ ...traveller(id), identity_documents }));
  const { body } = await post(offer, `odd ${oddity}`, { passengers });
  expect([body.data.booking_reference.length, body.data.documents.length]).toEqual([length, tickets]);
});

test.each<[string, (offer: Offer) => object, string]>([
  [
    'a wrong amount',
    (o) => ({ payments: [{ type: 'balance', amount: '1.00', currency: o.total_currency }] }),
    'payment_amount_does_not_match_order_amount',
  ],
  [
    'another currency',
    (o) => ({ payments: [{ type: 'balance', amount: o.total_amount, currency: 'GBP' }] }),
    'payment_currency_does_not_match_order_currency',
  ],
  ['a hold that is paid at once', () => ({ type: 'hold' }), 'validation_length'],
  ['nobody', () => ({ passengers: [] }), 'validation_length'],
  ['a stranger', () => ({ passengers: [traveller('pas_0000')] }), 'linked_record_not_found'],
  [
    'a long name',
    (o) => ({ passengers: [{ ...traveller(o.passengers[0].id), given_name: 'Bartholomew Maximilian' }] }),
    'validation_length',
  ],
  [
    'letters that are not flown',
    (o) => ({ passengers: [{ ...traveller(o.passengers[0].id), family_name: 'Þórsson' }] }),
    'validation_format',
  ],
  [
    'no title',
    (o) => ({ passengers: [{ ...traveller(o.passengers[0].id), title: undefined }] }),
    'validation_required',
  ],
  [
    'a child as an adult',
    (o) => ({ passengers: [{ ...traveller(o.passengers[0].id), born_on: '2015-01-01' }] }),
    'passenger_age_mismatch',
  ],
  [
    'a national number',
    (o) => ({ passengers: [{ ...traveller(o.passengers[0].id), phone_number: '02080160509' }] }),
    'validation_format',
  ],
  [
    'a country of three letters',
    (o) => ({
      passengers: [
        {
          ...traveller(o.passengers[0].id),
          identity_documents: [
            { type: 'passport', unique_identifier: 'X', issuing_country_code: 'GBR', expires_on: '2032-01-01' },
          ],
        },
      ],
    }),
    'validation_format',
  ],
  ['an old service', () => ({ services: [{ id: 'ase_0000', quantity: 1 }] }), 'linked_record_not_found'],
  ['numbers in the metadata', () => ({ metadata: { reference: 7 } }), 'validation_format'],
  ['another offer', () => ({ selected_offers: ['off_0000'] }), 'linked_record_not_found'],
])('an order with %s is refused, and nothing is made', async (_what, wrong, code) => {
  const [offer] = await zzOffers();
  const answer = await post(offer, 'wrong', wrong(offer));
  expect([answer.status, codesOf(answer)]).toEqual([422, [code]]);
  expect(await madeOf(offer)).toEqual([]);
  // What was refused here never reached an airline: the same offer can be ordered still.
  expect((await post(offer, 'right')).status).toBe(201);
});

test('two passengers of one name are refused, and a child has to be as old as searched', async () => {
  const party = { passengers: [{ type: 'adult' }, { age: 9 }] };
  const [offer] = await zzOffers('VIE', 'LIS', party);
  const [adult, child] = offer.passengers;
  const twins = { passengers: [traveller(adult.id), { ...traveller(child.id), born_on: '2017-12-01' }] };
  expect(codesOf(await post(offer, 'twins', twins))).toEqual(['duplicate_passenger_name']);
  const aged = (born_on: string) => ({ passengers: [traveller(adult.id), { ...traveller(child.id, 1), born_on }] });
  expect(codesOf(await post(offer, 'ten', aged('2017-01-01')))).toEqual(['passenger_age_mismatch']);
  expect((await post(offer, 'nine', aged('2017-12-01'))).status).toBe(201);
});

test('services are paid to the cent', async () => {
  const [offer] = await zzOffers();
  const read = await duffel.call('GET', `/air/offers/${offer.id}?return_available_services=true`);
  const services = [{ id: read.body.data.available_services[0].id, quantity: 1 }];
  expect(codesOf(await post(offer, 'short', { services }))).toEqual(['payment_amount_does_not_match_order_amount']);
  const amount = (Number(offer.total_amount) + 20).toFixed(2);
  const payments = [{ type: 'balance', amount, currency: 'USD' }];
  const { status, body } = await post(offer, 'with bag', { services, payments });
  expect([status, body.data.total_amount, body.data.services[0].total_amount]).toEqual([201, amount, '20.00']);
});

test('an offer request is booked once, whichever offer', async () => {
  const [first, second] = await zzOffers();
  expect((await post(first, 'one')).status).toBe(201);
  expect(codesOf(await post(second, 'two'))).toEqual(['offer_request_already_booked']);
  expect(codesOf(await post(first, 'one'))).toEqual(['offer_request_already_booked']);
  expect(await madeOf(first)).toHaveLength(1);
});

test('two orders at once for one offer are one order', async () => {
  const [offer] = await zzOffers();
  const answers = await Promise.all([1, 2, 3].map((at) => post(offer, `at once ${at}`)));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422]);
  expect(await madeOf(offer)).toHaveLength(1);
});

test('an airline knows its passengers again on the same flight, however they come', async () => {
  const direct = async () =>
    found(
      await searched(duffel, 'LHR', 'SFO', DATE),
      ({ owner, passenger_identity_documents_required }) =>
        owner.iata_code !== null && owner.iata_code !== 'ZZ' && !passenger_identity_documents_required,
    );
  expect((await post(await direct(), 'one')).status).toBe(201);
  expect(codesOf(await post(await direct(), 'two'))).toEqual(['duplicate_booking']);
});

test('a balance that is too low makes no order; one that is enough is drawn from', async () => {
  const [offer] = await zzOffers();
  await duffel.admin('/settings', { balance: '1.00' });
  expect(codesOf(await post(offer, 'poor'))).toEqual(['insufficient_balance']);
  await duffel.admin('/settings', { balance: '5000.00' });
  expect((await post(offer, 'rich')).status).toBe(201);
  const { balance } = await duffel.admin('/orders');
  expect(balance).toBe((5000 - Number(offer.total_amount)).toFixed(2));
  await duffel.admin('/settings', { balance: null });
});

test('202: the order is there later, found by its offer and never before', async () => {
  await duffel.admin('/behaviours', { order: ['accepted'] });
  const [offer] = await zzOffers();
  expect((await post(offer, 'later')).status).toBe(202);
  expect(await listed(offer)).toEqual([]);
  expect(codesOf(await post(offer, 'later'))).toEqual(['order_creation_already_attempted']);
  clock.forward(STEP_MS);
  expect((await listed(offer)).map(({ metadata }) => metadata)).toEqual([{ reference: 'later' }]);
});

test('202: the order fails in the end, and only a webhook says so', async () => {
  await duffel.admin('/behaviours', { order: ['accepted_failed'] });
  const [offer] = await zzOffers();
  expect((await post(offer, 'failing')).status).toBe(202);
  const failed = async (): Promise<WebhookEvent[]> =>
    (await duffel.call<WebhookEvent[]>('GET', '/air/webhooks/events?type=order.creation_failed')).body.data;
  expect(await failed()).toEqual([]);
  clock.forward(STEP_MS);
  expect((await failed())[0]?.data.object).toMatchObject({ offer_id: offer.id, metadata: { reference: 'failing' } });
  expect(await listed(offer)).toEqual([]);
  expect(await madeOf(offer)).toEqual([]);
});

test.each([
  ['cut_before', null, 0, 0],
  ['cut_after', null, 1, 1],
  ['cut_late', null, 0, 1],
  ['internal_error', 500, 0, 0],
  ['internal_error_made', 500, 0, 1],
  ['order_not_created', 502, 0, 0],
  ['airline_unknown', 502, 0, 0],
  ['airline_unknown_made', 502, 0, 1],
  ['airline_unknown_stray', 502, 0, 0],
  ['unavailable', 503, 0, 0],
  ['gateway_timeout', 504, 0, 0],
  ['gateway_timeout_made', 504, 0, 1],
  ['html', 502, 0, 0],
  ['html_made', 502, 1, 1],
  ['rate_limited', 429, 0, 0],
  ['insufficient_balance', 422, 0, 0],
  ['price_changed', 422, 0, 0],
  ['offer_gone', 422, 0, 0],
  ['created_unreadable', 200, 0, 1],
])('%s: %s, with %s orders listed at once and %s later', async (behaviour, status, atOnce, later) => {
  await duffel.admin('/behaviours', { order: [behaviour] });
  const [offer] = await zzOffers();
  const answer = await post(offer, behaviour).catch(() => null);
  expect(answer?.status ?? null).toBe(status);
  expect(await listed(offer)).toHaveLength(atOnce);
  clock.forward(STEP_MS);
  expect(await listed(offer)).toHaveLength(later);
  expect(await madeOf(offer)).toHaveLength(behaviour === 'airline_unknown_stray' ? 1 : later);
  const { attempts } = await duffel.admin('/orders');
  expect(attempts.filter(({ offer_id }) => offer_id === offer.id)).toMatchObject([
    { reference: behaviour, behaviour, status: status ?? 0 },
  ]);
});

test('a slow order is made though nobody waits for it', async () => {
  await duffel.admin('/behaviours', { order: ['slow'] });
  const [offer] = await zzOffers();
  const startMs = clock.now();
  expect((await post(offer, 'slow')).status).toBe(201);
  expect(clock.now() - startMs).toBe(3_000);
});

test.each([
  ['LHR', 'LGW', 502, 'airline_unknown'],
  ['LGW', 'STN', 422, 'insufficient_balance'],
  ['LTN', 'STN', 200, null],
  ['SEN', 'STN', 202, null],
  ['LCY', 'STN', 202, null],
])('an order from %s to %s is %s %s', async (origin, destination, status, code) => {
  const [offer] = await zzOffers(origin, destination);
  const answer = await post(offer, 'route');
  expect([answer.status, answer.body.errors?.[0].code ?? null]).toEqual([status, code]);
});
