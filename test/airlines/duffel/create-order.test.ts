import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAttempts } from '../../../src/airlines/duffel/creations.ts';
import { migratedFile } from '../../service/migrated.ts';
import { goodOffer, goodOrder, type Loose, refusal, TRAVELLER } from './samples.ts';
import { type DuffelWorld, duffelWorld, isOrderPost, REQUEST, TOKEN, type Told, withOffer } from './world.ts';

const home = mkdtempSync(join(tmpdir(), 'farelock-duffel-'));
let world: DuffelWorld;
beforeAll(async () => {
  world = await duffelWorld(await migratedFile(home));
});
afterAll(async () => {
  await world.close();
  rmSync(home, { recursive: true });
});
beforeEach(() => world.reset());

const posts = () => world.times('POST', /^\/air\/orders$/);
const answering = (told: Told) => withOffer((asked) => (isOrderPost(asked) ? told : undefined));
const made = (change: Loose = {}) => ({ status: 201, body: { data: goodOrder('int_1', change) } });
const listed = (orders: readonly unknown[]) =>
  withOffer(({ method, path }) =>
    method === 'GET' && path === '/air/orders' ? { body: { data: orders, meta: { after: null } } } : undefined,
  );
const createOrder = () => world.provider.createOrder(REQUEST);
const verdict = async () => (await world.attempts()).map((row) => row.verdict);

test('an order is paid at once from the balance, exactly the price, with our reference', async () => {
  world.script.answer = answering(made());
  const order = await createOrder();
  expect(order).toMatchObject({
    providerOrderId: 'ord_1',
    reference: 'int_1',
    status: 'ticketed',
    bookingReference: 'RZPNX8',
    totalAmountDecimal: '151.20',
  });
  expect(world.asked.find(isOrderPost)?.data).toEqual({
    type: 'instant',
    selected_offers: ['off_1'],
    passengers: [
      {
        id: 'pas_0',
        title: 'ms',
        gender: 'f',
        given_name: 'Ada',
        family_name: 'Lovelace',
        born_on: '1990-12-10',
        email: 'ada@example.com',
        phone_number: '+351912345678',
        identity_documents: [
          { type: 'passport', unique_identifier: 'X1234567', issuing_country_code: 'PT', expires_on: '2031-05-01' },
        ],
      },
    ],
    payments: [{ type: 'balance', amount: '151.20', currency: 'USD' }],
    metadata: { reference: 'int_1' },
  });
  expect(await world.attempts()).toMatchObject([
    { reference: 'int_1', attempt: 1, offer_id: 'off_1', verdict: 'ordered', order_id: 'ord_1', request_id: 'req-2' },
  ]);
});

test.each<[string, Loose, number]>([
  ['supported', { supported_passenger_identity_document_types: ['passport'] }, 1],
  ['not taken', { supported_passenger_identity_document_types: [] }, 0],
  ['not taken, as null', { supported_passenger_identity_document_types: null }, 0],
])('a passport is sent only where it is %s', async (_, change, documents) => {
  world.script.answer = withOffer(
    (asked) => (isOrderPost(asked) ? made() : undefined),
    () => ({ ...goodOffer(), ...change }),
  );
  await createOrder();
  const { passengers } = (world.asked.find(isOrderPost)?.data ?? {}) as { passengers?: Loose[] };
  expect(passengers?.filter(({ identity_documents: sent }) => sent !== undefined)).toHaveLength(documents);
});

describe('nothing is sent where', () => {
  test.each<[string, Loose, Loose]>([
    [
      'the price is another one',
      { total_amount: '151.21' },
      { code: 'offer_repriced', detail: { expected_ticket_amount: '151.2', current_ticket_amount: '151.21' } },
    ],
    [
      'the currency is another one',
      { total_currency: 'GBP' },
      { code: 'offer_repriced', detail: { current_ticket_currency: 'GBP' } },
    ],
    ['the offer has expired', { expires_at: '2026-11-21T08:59:00Z' }, { code: 'offer_expired' }],
    [
      'it is for more travellers',
      { passengers: goodOffer('off_1', 2).passengers },
      { reason: 'form_rejected', mayPass: false },
    ],
    ['two of its travellers have one id', { passengers: [{ id: '' }] }, { reason: 'form_rejected' }],
  ])('%s', async (_, change, error) => {
    world.script.answer = withOffer(undefined, () => ({ ...goodOffer(), ...change }));
    await expect(createOrder()).rejects.toMatchObject(error);
    expect(posts()).toBe(0);
    expect(await world.attempts()).toEqual([]);
    expect(await world.provider.findOrder('int_1', 'off_1')).toBeNull();
  });

  test('the offer asks for a document that is none of ours, as is said before it is locked', async () => {
    world.script.answer = withOffer(undefined, () => ({
      ...goodOffer(),
      passenger_identity_documents_required: true,
      supported_passenger_identity_document_types: ['tax_id'],
    }));
    expect(await world.provider.offer('off_1')).toMatchObject({ isUnpayable: true });
    await expect(createOrder()).rejects.toMatchObject({ reason: 'form_rejected' });
    expect(posts()).toBe(0);
  });

  test('the offer asks for a passport that is missing', async () => {
    world.script.answer = withOffer(undefined, () => ({ ...goodOffer(), passenger_identity_documents_required: true }));
    const { passport_number: _, ...without } = TRAVELLER;
    await expect(world.provider.createOrder({ ...REQUEST, passengers: [without] })).rejects.toMatchObject({
      reason: 'form_rejected',
    });
    expect(posts()).toBe(0);
  });

  test.each<[string, Told, string]>([
    ['gone', refusal('invalid_state_error', 'offer_no_longer_available'), 'offer_unavailable'],
    ['unknown', refusal('invalid_request_error', 'not_found', 404), 'offer_not_found'],
    ['not answered for', { status: 500, body: 'oops' }, 'provider_failed'],
  ])('the offer is %s', async (_, told, code) => {
    world.script.answer = () => told;
    await expect(createOrder()).rejects.toMatchObject({ code });
    world.script.answer = withOffer();
    expect(await world.provider.findOrder('int_1', 'off_1')).toBeNull();
  });
});

/** docs/duffel.md, the table of orders: what is certain. */
const NOTHING_ORDERED: [string, Told, Loose][] = [
  ['401', refusal('authentication_error', 'access_token_not_found', 401), { reason: 'provider_failed', mayPass: true }],
  [
    '400 with a number for a code',
    refusal('invalid_request_error', 400, 400),
    { reason: 'form_rejected', mayPass: false },
  ],
  [
    '422 for a passenger',
    refusal('validation_error', 'validation_format'),
    { reason: 'form_rejected', mayPass: false },
  ],
  [
    '422 for equal names',
    refusal('airline_error', 'duplicate_passenger_name'),
    { reason: 'form_rejected', mayPass: false },
  ],
  ['422 gone', refusal('airline_error', 'offer_no_longer_available'), { code: 'offer_unavailable' }],
  ['422 expired', refusal('invalid_state_error', 'offer_expired'), { code: 'offer_expired' }],
  ['404 of Duffel', refusal('invalid_request_error', 'not_found', 404), { code: 'offer_unavailable' }],
  [
    '422 for a balance that is too low',
    refusal('invalid_state_error', 'insufficient_balance'),
    { reason: 'provider_balance_low', mayPass: true },
  ],
  [
    '422 for another price',
    refusal('airline_error', 'price_changed'),
    { code: 'offer_repriced', detail: { current_ticket_amount: '151.2' } },
  ],
  [
    '422 for an amount that does not match',
    refusal('validation_error', 'payment_amount_does_not_match_order_amount'),
    { code: 'offer_repriced' },
  ],
  [
    '502 order_not_created',
    refusal('airline_error', 'order_not_created', 502),
    { reason: 'provider_failed', mayPass: true },
  ],
  ['503', refusal('api_error', 'service_unavailable', 503), { reason: 'provider_failed', mayPass: true }],
];

describe('certain that nothing was ordered', () => {
  test.each(NOTHING_ORDERED)('%s', async (_, told, error) => {
    world.script.answer = answering(told);
    const refused: unknown = await createOrder().catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject(error);
    // For a person who has to ask.
    if (error.reason) expect(refused).toMatchObject({ cause: { detail: { airline_request_id: 'req-2' } } });
    expect(await verdict()).toEqual(['none']);
    expect(await world.provider.findOrder('int_1', 'off_1')).toBeNull();
    // The same reference may be asked for once more, as a new attempt.
    world.script.answer = answering(made());
    expect(await createOrder()).toMatchObject({ providerOrderId: 'ord_1' });
    expect(await verdict()).toEqual(['none', 'ordered']);
    expect(posts()).toBe(2);
  });

  test.each<[string, Told]>([
    ['401', refusal('authentication_error', 'access_token_not_found', 401)],
    ['403', refusal('authentication_error', 'insufficient_permissions', 403)],
    ['503', refusal('api_error', 'service_unavailable', 503)],
    ['422', refusal('validation_error', 'validation_format')],
  ])('%s: its orders are listed before a second POST and before a refund, and an order wins', async (_, told) => {
    world.script.answer = answering(told);
    await createOrder().catch(() => undefined);
    const before = world.times('GET', /^\/air\/orders$/);
    expect(await world.provider.findOrder('int_1', 'off_1')).toBeNull();
    expect(world.times('GET', /^\/air\/orders$/)).toBe(before + 1);
    world.script.answer = withOffer(({ method, path }) =>
      method === 'GET' && path === '/air/orders'
        ? { body: { data: [goodOrder('int_1')], meta: { after: null } } }
        : undefined,
    );
    expect(await createOrder()).toMatchObject({ providerOrderId: 'ord_1', reference: 'int_1' });
    expect(posts()).toBe(1);
    expect(await verdict()).toEqual(['ordered']);
    expect(world.lines.join()).toContain('duffel_order_against_verdict');
  });

  test('a list that is not answered keeps the second POST back', async () => {
    world.script.answer = answering(refusal('api_error', 'service_unavailable', 503));
    await expect(createOrder()).rejects.toMatchObject({ mayPass: true });
    world.script.answer = withOffer(({ path }) =>
      path === '/air/orders' ? { status: 403, body: '<html>' } : undefined,
    );
    await expect(createOrder()).rejects.toMatchObject({ code: 'provider_failed' });
    await expect(world.provider.findOrder('int_1', 'off_1')).rejects.toMatchObject({ code: 'provider_failed' });
    expect(posts()).toBe(1);
  });

  test('no connection', async () => {
    // The offer is read; then nobody listens any more.
    world.script.answer = async (asked) => {
      await world.stopListening();
      return withOffer()(asked);
    };
    await expect(createOrder()).rejects.toMatchObject({ reason: 'provider_failed', mayPass: true });
    expect(posts()).toBe(0);
    expect(await world.attempts()).toMatchObject([{ verdict: 'none', code: 'not_sent' }]);
    expect(await world.provider.findOrder('int_1', 'off_1')).toBeNull();
  });

  test('a price that changed is told as it is now', async () => {
    let total = '151.20';
    world.script.answer = withOffer(
      (asked) => {
        if (!isOrderPost(asked)) return undefined;
        total = '161.20';
        return refusal('airline_error', 'price_changed');
      },
      () => ({ ...goodOffer(), total_amount: total }),
    );
    await expect(createOrder()).rejects.toMatchObject({
      code: 'offer_repriced',
      detail: { current_ticket_amount: '161.20' },
    });
    expect(await verdict()).toEqual(['none']);
  });

  test('a limit that is reached keeps the order back', async () => {
    world.script.answer = withOffer(({ path }) =>
      path.startsWith('/air/offers/')
        ? {
            body: { data: goodOffer() },
            headers: {
              'ratelimit-remaining': '0',
              date: new Date(world.clock.now()).toUTCString(),
              'ratelimit-reset': new Date(world.clock.now() + 7_000).toUTCString(),
            },
          }
        : undefined,
    );
    await expect(createOrder()).rejects.toMatchObject({ code: 'upstream_rate_limited', retryAfter: 7 });
    expect(posts()).toBe(0);
    expect(await verdict()).toEqual(['none']);
    world.clock.advance(7_000);
    expect(await world.provider.findOrder('int_1', 'off_1')).toBeNull();
  });
});

const OUTCOME_OPEN: [string, Told][] = [
  ['429', refusal('rate_limit_error', 'rate_limit_exceeded', 429)],
  ['500', refusal('api_error', 'internal_server_error', 500)],
  ['502 airline_unknown', refusal('airline_error', 'airline_unknown', 502)],
  ['502 of a gateway', { status: 502, body: '<html>' }],
  ['503 of a gateway', { status: 503, body: '<html>' }],
  ['401 of a gateway', { status: 401, body: '<html><h1>401 Authorization Required</h1></html>' }],
  ['403 of a gateway', { status: 403, body: '<html><h1>403 Forbidden</h1></html>' }],
  ['403 as plain text', { status: 403, body: 'Forbidden' }],
  ["403 in a gateway's JSON", { status: 403, body: { errors: [{ message: 'Forbidden' }] } }],
  [
    "422 in the airline's form without a request id",
    { status: 422, body: { errors: [{ type: 'validation_error', code: 'x' }], meta: { status: 422 } } },
  ],
  [
    '422 whose form is of another status',
    { ...refusal('authentication_error', 'insufficient_permissions', 403), status: 422 },
  ],
  ['504', refusal('api_error', 'gateway_timeout', 504)],
  ['202', { status: 202, body: { data: { id: 'por_1' } } }],
  ['201 without an order', { status: 201, body: {} }],
  ['201 that is no JSON', { status: 201, body: '{"data":{"id":"ord_' }],
  ['201 with the order of somebody else', { status: 201, body: { data: goodOrder('int_9') } }],
  ['422 with a code that nobody has described', refusal('airline_error', 'a_new_code')],
  ['404 of a gateway', { status: 404, body: 'not here' }],
  ['302', { status: 302, body: '', headers: { location: 'http://127.0.0.1:1/' } }],
  ['no answer', 'cut'],
  ['half an answer', 'half'],
];

describe('nobody knows', () => {
  test.each(OUTCOME_OPEN)('%s: never asked for again; found once it is shown', async (_, told) => {
    world.script.answer = answering(told);
    await expect(createOrder()).rejects.toMatchObject({
      code: 'provider_failed',
      detail: { airline_request_id: typeof told === 'string' ? null : 'req-2', offer_id: 'off_1' },
    });
    expect(await verdict()).toEqual(['open']);
    world.clock.advance(11_000);
    // An empty list proves nothing, however often it is read, and whoever asks.
    for (let i = 0; i < 3; i++) expect(await world.provider.findOrder('int_1', 'off_1')).toBe('unknown');
    await expect(createOrder()).rejects.toMatchObject({ code: 'provider_failed' });
    await expect(world.another().createOrder(REQUEST)).rejects.toMatchObject({ code: 'provider_failed' });
    expect(posts()).toBe(1);
    world.script.answer = listed([goodOrder('int_9', { id: 'ord_9' }), goodOrder('int_1')]);
    expect(await world.provider.findOrder('int_1', 'off_1')).toMatchObject({
      providerOrderId: 'ord_1',
      status: 'ticketed',
    });
    expect(await verdict()).toEqual(['ordered']);
    expect(world.asked.at(-1)?.query.get('offer_id')).toBe('off_1');
    world.script.answer = ({ path }) =>
      path === '/air/orders/ord_1' ? { body: { data: goodOrder('int_1') } } : undefined;
    expect(await createOrder()).toMatchObject({ providerOrderId: 'ord_1' });
    expect(posts()).toBe(1);
  });

  test('a limit that keeps the question back does not say that nothing was ordered', async () => {
    const spent = {
      'ratelimit-remaining': '0',
      date: new Date(world.clock.now()).toUTCString(),
      'ratelimit-reset': new Date(world.clock.now() + 7_000).toUTCString(),
    };
    for (const told of [refusal('api_error', 'x', 500), refusal('invalid_state_error', 'duplicate_booking')]) {
      world.script.answer = answering({ ...told, headers: spent });
      await expect(createOrder()).rejects.toMatchObject({ code: 'provider_failed' });
      await expect(createOrder()).rejects.toMatchObject({ code: 'provider_failed' });
      await expect(world.provider.findOrder('int_1', 'off_1')).rejects.toMatchObject({ code: 'upstream_rate_limited' });
      expect(await verdict()).toEqual(['open']);
      await world.reset();
    }
    world.script.answer = answering({ ...made(), headers: spent });
    await createOrder();
    await expect(createOrder()).rejects.toMatchObject({ code: 'provider_failed' });
    await world.reset();
  });

  test('an answer that takes too long', async () => {
    world.script.answer = answering('silence');
    // On a busy machine the price may take longer, too: then nothing was sent, and it is tried with more patience.
    for (let timeoutMs = 100; posts() === 0; timeoutMs *= 4) {
      const hasty = world.another({ timeoutMs });
      await expect(hasty.createOrder(REQUEST)).rejects.toMatchObject({ code: 'provider_failed' });
    }
    expect(await verdict()).toEqual(['open']);
    expect(await world.provider.findOrder('int_1', 'off_1')).toBe('unknown');
  });

  test('an order whose answer lacks a field is ordered, and read by its id', async () => {
    world.script.answer = answering(made({ total_amount: null }));
    await expect(createOrder()).rejects.toMatchObject({ code: 'provider_failed' });
    expect(await verdict()).toEqual(['ordered']);
    world.script.answer = ({ path }) =>
      path === '/air/orders/ord_1' ? { body: { data: goodOrder('int_1') } } : undefined;
    expect(await world.provider.findOrder('int_1', 'off_1')).toMatchObject({ providerOrderId: 'ord_1' });
  });

  test('a list is read to its end', async () => {
    world.script.answer = answering('cut');
    await expect(createOrder()).rejects.toMatchObject({ code: 'provider_failed' });
    world.script.answer = ({ query }) =>
      query.get('after') === 'next'
        ? { body: { data: [goodOrder('int_1')], meta: { after: null } } }
        : { body: { data: [goodOrder('int_9')], meta: { after: 'next' } } };
    expect(await world.provider.findOrder('int_1', 'off_1')).toMatchObject({ providerOrderId: 'ord_1' });
  });
});

describe.each(['offer_request_already_booked', 'order_creation_already_attempted', 'duplicate_booking'])(
  '422 %s',
  (code) => {
    const conflict = refusal('invalid_state_error', code);

    test('an order with our reference is ours', async () => {
      world.script.answer = withOffer((asked) => {
        if (isOrderPost(asked)) return conflict;
        return asked.path === '/air/orders'
          ? { body: { data: [goodOrder('int_1')], meta: { after: null } } }
          : undefined;
      });
      expect(await createOrder()).toMatchObject({ providerOrderId: 'ord_1' });
      expect(await verdict()).toEqual(['ordered']);
    });

    test('without any order that is seen it is open', async () => {
      world.script.answer = answering(conflict);
      await expect(createOrder()).rejects.toMatchObject({ code: 'provider_failed' });
      expect(await verdict()).toEqual(['open']);
      expect(await world.provider.findOrder('int_1', 'off_1')).toBe('unknown');
    });

    /** Another reference has the other fare of the search, as comes to light between our look and our order. */
    async function overtakenBy(verdict: 'open' | 'ordered') {
      const others = createAttempts(world);
      world.script.answer = async (asked) => {
        if (!isOrderPost(asked)) return withOffer()(asked);
        const row = await others.begin({ reference: 'int_2', attempt: 1, offerId: 'off_2', searchKey: 'pas_2' });
        await world.store
          .updateTable('duffel_attempts')
          .set({ search_key: 'pas_0' })
          .where('reference', '=', 'int_2')
          .execute();
        if (row && verdict === 'ordered') await others.endInOrder(row, 'ord_2', {});
        return conflict;
      };
    }

    test('an order of another reference of ours on the same search means: refused', async () => {
      await overtakenBy('ordered');
      for (let i = 0; i < 2; i++) await expect(createOrder()).rejects.toMatchObject({ code: 'offer_unavailable' });
      expect(posts()).toBe(1);
      expect(await world.provider.findOrder('int_1', 'off_1')).toBeNull();
    });

    test('it is open while that other one is, and refused once that one is ordered', async () => {
      await overtakenBy('open');
      await expect(createOrder()).rejects.toMatchObject({ code: 'provider_failed' });
      expect(await world.provider.findOrder('int_1', 'off_1')).toBe('unknown');
      const [theirs] = await createAttempts(world).of('int_2');
      if (theirs) await createAttempts(world).endInOrder(theirs, 'ord_2', {});
      expect(await world.provider.findOrder('int_1', 'off_1')).toBeNull();
      await expect(createOrder()).rejects.toMatchObject({ code: 'offer_unavailable' });
      expect(posts()).toBe(1);
    });

    test('of a second attempt it proves nothing', async () => {
      world.script.answer = answering(refusal('api_error', 'service_unavailable', 503));
      await expect(createOrder()).rejects.toMatchObject({ mayPass: true });
      await overtakenBy('ordered');
      await expect(createOrder()).rejects.toMatchObject({ code: 'provider_failed' });
      expect(await world.provider.findOrder('int_1', 'off_1')).toBe('unknown');
    });
  },
);

test('one offer is asked for by one reference at a time, and sold once', async () => {
  world.script.answer = answering('cut');
  await expect(createOrder()).rejects.toMatchObject({ code: 'provider_failed' });
  const other = { ...REQUEST, reference: 'int_2' };
  await expect(world.provider.createOrder(other)).rejects.toMatchObject({ reason: 'provider_failed', mayPass: true });
  world.script.answer = listed([goodOrder('int_1')]);
  await world.provider.findOrder('int_1', 'off_1');
  await expect(world.provider.createOrder(other)).rejects.toMatchObject({ code: 'offer_unavailable' });
  expect(posts()).toBe(1);
});

test('the token, names, contacts and passports appear in no line of the log, no error and no row', async () => {
  const errors: unknown[] = [];
  const longLived = () => ({ ...goodOffer(), expires_at: '2026-11-23T09:30:00Z' });
  for (const [, told] of [...NOTHING_ORDERED, ...OUTCOME_OPEN]) {
    world.script.answer = withOffer((asked) => (isOrderPost(asked) ? told : undefined), longLived);
    const request = { ...REQUEST, reference: `int_${errors.length}` };
    errors.push(await world.provider.createOrder(request).catch((error: unknown) => error));
    await world.store.updateTable('duffel_attempts').set({ verdict: 'none', live_key: null }).execute();
    world.clock.advance(600_000);
  }
  expect(posts()).toBe(errors.length);
  const shown = [
    ...errors.map((error) => `${JSON.stringify(error)} ${String(error)} ${String((error as Error).cause)}`),
    ...world.lines,
    JSON.stringify(await world.attempts()),
  ].join('\n');
  expect(shown).toContain('duffel_order_unknown');
  for (const secret of [TOKEN, 'Ada', 'Lovelace', 'X1234567', 'ada@example.com', '912345678', '1990-12-10']) {
    expect(shown).not.toContain(secret);
  }
});
