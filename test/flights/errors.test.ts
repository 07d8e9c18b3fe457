import type { Address } from '@solana/kit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { turnSwitch } from '../../src/flights/index.ts';
import { problem } from '../../src/kernel/problems.ts';
import type { CreatedIntent } from '../../src/wire/flights/index.ts';
import { type Answered, openWorld, PASSENGER, TRIP, type World } from './world.ts';

/**
 * Every error code of the flight service's endpoints, provoked over HTTP with a paying client: status, code, detail,
 * and what was charged (spec/flight-service.md, Errors).
 */

let world: World;
beforeAll(async () => {
  world = await openWorld({ airline: 'scripted' });
  shared = await world.intent(nextOffer());
});
afterAll(() => world.close());

/** An intent for what only reads. */
let shared: CreatedIntent;
let offers = 0;
const nextOffer = () => `off_${++offers}`;
const fresh = { price: '151.20', currency: 'USD', documents: false, passengerCount: 1, lifeMs: 20 * 60_000 };
beforeEach(() => {
  Object.assign(world.airline.script, fresh, { before: {}, status: 'ticketed' });
});

interface Case {
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail?: unknown;
  readonly headers?: Record<string, string | RegExp>;
  readonly act: () => Promise<Answered>;
}

/** Nothing leaves the wallet in any of these. */
function free(cases: readonly Case[]) {
  test.each(cases)('$status $code: $title', async ({ act, status, code, detail, headers }) => {
    const before = await world.usdc(world.wallet.address);
    const answer = await act();
    expect(answer.body).toMatchObject({ code, message: expect.any(String) });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
    if (detail !== undefined) expect(answer.body.detail).toEqual(detail);
    for (const [name, value] of Object.entries(headers ?? {})) {
      expect(answer.headers.get(name)).toEqual(value instanceof RegExp ? expect.stringMatching(value) : value);
    }
    const spent = before - (await world.usdc(world.wallet.address));
    expect(spent).toBe(0n);
  });
}

const issue = (path: string) => ({ issues: [{ path, message: expect.any(String) }] });
const fails = (code: Parameters<typeof problem>[0], retryAfter?: number) => () => {
  throw problem(code, retryAfter === undefined ? {} : { retryAfter });
};

describe('ground rules', () => {
  const big = JSON.stringify({ offer_id: 'x'.repeat(70_000) });
  free([
    { title: 'an unknown path', status: 404, code: 'not_found', act: () => world.call('/air/nothing') },
    {
      title: 'a method that the path does not have',
      status: 405,
      code: 'method_not_allowed',
      headers: { allow: 'POST' },
      act: () => world.call('/air/search'),
    },
    {
      title: 'DELETE on a read',
      status: 405,
      code: 'method_not_allowed',
      headers: { allow: 'GET, HEAD' },
      act: () => world.call('/air/intents/int_1', undefined, { method: 'DELETE' }),
    },
    {
      title: 'a body that is not JSON',
      status: 400,
      code: 'invalid_json',
      act: () => world.call('/air/search', '{"origin_iata":'),
    },
    { title: 'an empty body', status: 400, code: 'invalid_json', act: () => world.call('/air/book', '') },
    {
      title: 'an unknown field, named',
      status: 400,
      code: 'invalid_request',
      detail: issue('max_stop'),
      act: () => world.call('/air/search', { ...TRIP, max_stop: 0 }),
    },
    {
      title: 'an unknown field inside a passenger, named',
      status: 400,
      code: 'invalid_request',
      detail: issue('passengers.0.nickname'),
      act: () => world.call('/air/book', { intent_id: 'int_1', passengers: [{ ...PASSENGER, nickname: 'A' }] }),
    },
    {
      title: 'a filter in the query, where it would be ignored',
      status: 400,
      code: 'invalid_request',
      detail: issue('max_stops'),
      act: () => world.call('/air/search?max_stops=0', TRIP),
    },
    {
      title: 'another media type',
      status: 415,
      code: 'unsupported_media_type',
      act: () => world.call('/air/search', TRIP, { headers: { 'content-type': 'text/plain' } }),
    },
    {
      title: 'a body above 64 KiB',
      status: 413,
      code: 'payload_too_large',
      act: () => world.call('/air/offer-details', big),
    },
    {
      title: 'a chunked body above 64 KiB',
      status: 413,
      code: 'payload_too_large',
      act: () => chunked('/air/offer-details', big),
    },
  ]);

  test('HEAD on a paid read is refused like any other method; on a free one it has no body', async () => {
    const paid = await world.call('/air/orders/ord_1', undefined, { method: 'HEAD' });
    expect([paid.status, paid.headers.get('allow')]).toEqual([405, 'GET']);
    const health = await world.call('/health', undefined, { method: 'HEAD' });
    expect([health.status, health.body]).toEqual([200, null]);
  });

  test('an unexpected failure says nothing of the inside', async () => {
    const broken = world.service((ports) => ({
      ...ports,
      store: new Proxy(ports.store, {
        get: () => () => {
          throw new Error('secret path /var/lib');
        },
      }),
    }));
    const answer = await broken.call('/air/intents/int_1');
    expect(answer.status).toBe(500);
    expect(answer.body).toEqual({ code: 'internal_error', message: expect.not.stringContaining('secret') });
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
    const ready = await broken.call('/ready');
    expect(ready.status).toBe(503);
    expect(ready.body).toMatchObject({ status: 'not_ready', version: '1.0.0' });
    const { checks, ...health } = ready.body;
    expect(checks).toMatchObject({ database: 'internal_error', cluster: 'ok' });
    expect(Object.keys(health)).toEqual(Object.keys((await world.call('/health')).body));
  });

  test('503 not_ready: a database that is away, with when to ask again', async () => {
    const broken = world.service((ports) => ({
      ...ports,
      store: new Proxy(ports.store, {
        get: () => () => {
          throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
        },
      }),
    }));
    const calls = [
      broken.call('/air/intents/int_1'),
      broken.call('/affiliates/ABCDEFGHJK'),
      broken.call('/affiliates', { wallet: world.wallet.address }),
    ];
    for (const answer of await Promise.all(calls)) {
      expect([answer.status, answer.body.code, answer.headers.get('retry-after')]).toEqual([503, 'not_ready', '5']);
    }
  });
});

async function chunked(path: string, text: string): Promise<Answered> {
  const bytes = new TextEncoder().encode(text);
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(sent, sent + 4096));
      sent += 4096;
    },
  });
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, duplex: 'half' as const };
  const response = await world.app.fetch(new Request(`http://flights.test${path}`, init));
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown>,
    headers: response.headers,
  };
}

describe('payment', () => {
  test('402 carries the same challenge in the header and the body', async () => {
    const answer = await world.call('/air/search', TRIP);
    expect(answer.status).toBe(402);
    const header = answer.headers.get('payment-required') ?? '';
    expect(JSON.parse(Buffer.from(header, 'base64').toString())).toEqual(answer.body);
    expect(answer.body).toMatchObject({
      x402Version: 2,
      accepts: [{ scheme: 'exact', amount: '100000', payTo: world.treasury.address, asset: world.mint }],
    });
  });

  free([
    {
      title: 'a header that is not a payment',
      status: 400,
      code: 'invalid_payment_signature',
      act: () => world.call('/air/search', TRIP, { headers: { 'PAYMENT-SIGNATURE': 'bm8=' } }),
    },
  ]);

  test('402 payment_verification_failed: a payment made for another call', async () => {
    const before = await world.usdc(world.wallet.address);
    const payment = await world.sign(await world.call('/air/search', TRIP));
    const answer = await world.call(
      '/air/offer-details',
      { offer_id: 'off_1' },
      { headers: { 'PAYMENT-SIGNATURE': payment } },
    );
    expect(answer.status).toBe(402);
    expect(answer.body.error).toMatch(/^payment_verification_failed/);
    expect(await world.usdc(world.wallet.address)).toBe(before);
  });

  test('402 payment_verification_failed: a wallet with too little', async () => {
    const poor = world.newWallet();
    await world.cluster.airdropUsdc(poor.address, 99_999n);
    const answer = await world.paid('/air/search', TRIP, { payer: poor });
    expect(answer.status).toBe(402);
    expect(await world.usdc(poor.address)).toBe(99_999n);
  });
});

describe('POST /air/search', () => {
  const wrong = (title: string, body: object, ...paths: string[]): Case => ({
    title,
    status: 400,
    code: 'invalid_request',
    detail: { issues: paths.map((path) => ({ path, message: expect.any(String) })) },
    act: () => world.paid('/air/search', { ...TRIP, ...body }),
  });
  free([
    wrong('an airport that is not known', { origin_iata: 'ZZZ' }, 'origin_iata'),
    {
      ...wrong('the code of a city', { origin_iata: 'LON' }, 'origin_iata'),
      detail: { issues: [{ path: 'origin_iata', message: expect.stringContaining('is a city code (London)') }] },
    },
    wrong('the same airport twice', { destination_iata: 'LIS' }, 'destination_iata'),
    wrong('a date that does not exist', { depart_date: '2027-02-30' }, 'depart_date'),
    wrong('a past date', { depart_date: '2026-11-20' }, 'depart_date'),
    wrong('a date too far ahead', { depart_date: '2027-11-17' }, 'depart_date'),
    wrong('a return before the departure', { return_date: '2026-12-19' }, 'return_date'),
    wrong('no passengers', { adults: 0 }, 'adults'),
    wrong('too many passengers', { adults: 10 }, 'adults'),
    wrong('a limit of none', { limit: 0 }, 'limit'),
    wrong('a sort that is not known', { sort: 'best' }, 'sort'),
    wrong('two mistakes at once', { sort: 'best', limit: 501 }, 'sort', 'limit'),
    {
      title: 'no provider',
      status: 501,
      code: 'provider_not_configured',
      act: () => without().call('/air/search', TRIP),
    },
    {
      title: 'the provider fails after the payment was verified',
      status: 502,
      code: 'provider_failed',
      act: () => {
        world.airline.script.before.search = fails('provider_failed');
        return world.paid('/air/search', TRIP);
      },
    },
    {
      title: 'the provider slows us down after the payment was verified',
      status: 503,
      code: 'upstream_rate_limited',
      headers: { 'retry-after': '7' },
      act: () => {
        world.airline.script.before.search = fails('upstream_rate_limited', 7);
        return world.paid('/air/search', TRIP);
      },
    },
  ]);
});

const without = () => world.service((ports) => ({ ...ports, provider: null }));

describe('POST /air/offer-details', () => {
  free([
    {
      title: 'an offer that is not known',
      status: 404,
      code: 'offer_not_found',
      act: () => world.paid('/air/offer-details', { offer_id: 'nothing' }),
    },
    {
      title: 'a slower tier that is not served',
      status: 404,
      code: 'offer_not_found',
      act: () => world.paid('/air/offer-details', { offer_id: 'lowcost:ZX1' }),
    },
    {
      title: 'the provider slows us down',
      status: 503,
      code: 'upstream_rate_limited',
      headers: { 'retry-after': '7' },
      act: () => {
        world.airline.script.before.offer = fails('upstream_rate_limited', 7);
        return world.paid('/air/offer-details', { offer_id: 'off_1' });
      },
    },
  ]);
});

describe('POST /air/intents', () => {
  const create = (body: object = {}) =>
    world.paid('/air/intents', { funding_wallet: world.wallet.address, offer_id: nextOffer(), ...body });
  const scripted = (change: object) => () => {
    Object.assign(world.airline.script, change);
    return create();
  };
  free([
    {
      title: 'a wallet that is not base58 of 32 bytes',
      status: 400,
      code: 'invalid_wallet',
      detail: issue('funding_wallet'),
      act: () => create({ funding_wallet: 'not-a-wallet' }),
    },
    {
      title: "a program's address, off the curve, which nobody can sign for",
      status: 400,
      code: 'invalid_wallet',
      detail: issue('refund_wallet'),
      act: () => create({ refund_wallet: shared.escrow.address }),
    },
    {
      title: 'a referrer that is too long',
      status: 400,
      code: 'invalid_request',
      detail: issue('referrer'),
      act: () => create({ referrer: 'x'.repeat(65) }),
    },
    {
      title: 'an offer in another currency',
      status: 409,
      code: 'offer_unsupported',
      act: scripted({ currency: 'EUR' }),
    },
    { title: 'a price below 10.00', status: 409, code: 'offer_unsupported', act: scripted({ price: '9.99' }) },
    { title: 'a price above 10000.00', status: 409, code: 'offer_unsupported', act: scripted({ price: '10000.01' }) },
    {
      title: 'an offer that is sold out',
      status: 409,
      code: 'offer_unavailable',
      act: scripted({ before: { offer: fails('offer_unavailable') } }),
    },
    {
      title: 'a fast offer that is not known',
      status: 409,
      code: 'offer_unavailable',
      act: () => create({ offer_id: 'nothing' }),
    },
    {
      title: 'a lowcost offer that is not known',
      status: 404,
      code: 'offer_not_found',
      act: () => create({ offer_id: 'lowcost:ZX1##1' }),
    },
    { title: 'an offer that expired', status: 409, code: 'offer_expired', act: scripted({ lifeMs: -1 }) },
    {
      title: 'the provider fails',
      status: 502,
      code: 'provider_failed',
      act: scripted({ before: { offer: fails('provider_failed') } }),
    },
    {
      title: 'booking is switched off',
      status: 503,
      code: 'booking_disabled',
      headers: { 'retry-after': /^\d+$/ },
      act: () => switchedOff(() => create()),
    },
    {
      title: 'the escrow cannot be opened',
      status: 502,
      code: 'escrow_initialization_failed',
      act: () => {
        const weak = world.service((ports) => ({
          ...ports,
          cluster: { ...ports.cluster, send: () => Promise.reject(problem('transaction_failed')) },
        }));
        return world.paid(
          '/air/intents',
          { funding_wallet: world.wallet.address, offer_id: nextOffer() },
          { call: weak.call },
        );
      },
    },
  ]);

  test('409 intent_already_exists: the same wallet and offer, naming the intent', async () => {
    const made = await world.intent(nextOffer());
    const before = await world.usdc(world.wallet.address);
    const answer = await create({ offer_id: made.offer_id });
    expect([answer.status, answer.body.code, answer.body.detail]).toEqual([
      409,
      'intent_already_exists',
      { intent_id: made.intent_id },
    ]);
    expect(await world.usdc(world.wallet.address)).toBe(before);
  });
});

async function switchedOff<T>(act: () => Promise<T>): Promise<T> {
  await turnSwitch(world.store, 'booking', 'off');
  try {
    return await act();
  } finally {
    await turnSwitch(world.store, 'booking', 'on');
  }
}

describe('GET /air/intents/{intent_id}', () => {
  free([
    {
      title: 'an intent that is not known',
      status: 404,
      code: 'intent_not_found',
      act: () => world.call('/air/intents/int_nothing'),
    },
  ]);
});

describe('POST /air/book', () => {
  let made: CreatedIntent;
  const bookable = async (change: object = {}) => {
    Object.assign(world.airline.script, change);
    made = await world.intent(nextOffer());
    return made;
  };
  const book = async (passengers: object[] = [PASSENGER], after: () => void = () => undefined) => {
    made = await world.intent(nextOffer());
    after();
    return answerTo(made, passengers);
  };
  // What making the intent costs is not what is looked at here.
  const answerTo = async (intent: CreatedIntent, passengers: object[]) => {
    const before = await world.usdc(world.wallet.address);
    const answer = await world.paid('/air/book', { intent_id: intent.intent_id, passengers });
    expect(await world.usdc(world.wallet.address)).toBe(before);
    expect(await world.usdc(intent.escrow.address)).toBe(0n);
    return answer;
  };
  const documents = { nationality: 'PT', passport_number: 'AB123456', passport_expiry: '2031-01-01' };
  const passengers = (body: object): object[] => [{ ...PASSENGER, ...body }];

  interface BookCase extends Omit<Case, 'act'> {
    readonly act: () => Promise<Answered>;
  }
  const cases: readonly BookCase[] = [
    {
      title: 'a field that is not valid',
      status: 400,
      code: 'invalid_request',
      detail: issue('passengers.0.title'),
      act: () => book(passengers({ title: 'sir' })),
    },
    {
      title: 'a child below twelve',
      status: 400,
      code: 'invalid_request',
      detail: issue('passengers.0.born_on'),
      act: () => book(passengers({ born_on: '2020-01-01' })),
    },
    {
      title: 'more passengers than the intent is for',
      status: 400,
      code: 'passenger_count_mismatch',
      detail: { ...issue('passengers'), expected: 1, received: 2 },
      act: () => book([PASSENGER, { ...PASSENGER, given_name: 'Grace' }]),
    },
    {
      title: 'the same traveller twice, accents and case apart',
      status: 400,
      code: 'duplicate_passenger',
      detail: issue('passengers.1'),
      act: async () => {
        await bookable({ passengerCount: 2 });
        return answerTo(made, [PASSENGER, { ...PASSENGER, given_name: 'ÁDA' }]);
      },
    },
    {
      title: 'documents that the offer needs and are missing',
      status: 400,
      code: 'travel_document_required',
      act: async () => answerTo(await bookable({ documents: true }), [PASSENGER]),
    },
    {
      title: 'a passport that has expired',
      status: 400,
      code: 'travel_document_expired',
      detail: issue('passengers.0.passport_expiry'),
      act: async () =>
        answerTo(await bookable({ documents: true }), passengers({ ...documents, passport_expiry: '2026-11-20' })),
    },
    {
      title: 'an intent that is not known',
      status: 404,
      code: 'intent_not_found',
      act: () => world.paid('/air/book', { intent_id: 'int_nothing', passengers: [PASSENGER] }),
    },
    {
      title: 'the live offer expired',
      status: 409,
      code: 'offer_expired',
      act: () => book(undefined, () => Object.assign(world.airline.script, { lifeMs: -1 })),
    },
    {
      title: 'the offer is no longer sold',
      status: 409,
      code: 'offer_unavailable',
      act: () =>
        book(undefined, () => {
          world.airline.script.before.offer = fails('offer_unavailable');
        }),
    },
    {
      title: 'the price moved',
      status: 409,
      code: 'offer_repriced',
      detail: { expected_ticket_amount: '151.20', current_ticket_amount: '163.90' },
      act: () => book(undefined, () => Object.assign(world.airline.script, { price: '163.90' })),
    },
    {
      title: 'the provider fails',
      status: 502,
      code: 'provider_failed',
      act: () =>
        book(undefined, () => {
          world.airline.script.before.offer = fails('provider_failed');
        }),
    },
    {
      title: 'booking is switched off',
      status: 503,
      code: 'booking_disabled',
      act: () => switchedOff(() => answerTo(shared, [PASSENGER])),
    },
    {
      title: 'no provider',
      status: 501,
      code: 'provider_not_configured',
      act: () => without().call('/air/book', { intent_id: shared.intent_id, passengers: [PASSENGER] }),
    },
    {
      title: 'an escrow that is not on chain',
      status: 409,
      code: 'escrow_missing',
      act: async () => {
        await bookable();
        const nowhere = world.newWallet().address;
        await world.store
          .updateTable('intents')
          .set({ escrow_address: nowhere })
          .where('intent_id', '=', made.intent_id)
          .execute();
        return answerTo(made, [PASSENGER]);
      },
    },
  ];
  test.each(cases)('$status $code: $title', async ({ act, status, code, detail }) => {
    const answer = await act();
    expect(answer.body).toMatchObject({ code });
    expect(answer.status).toBe(status);
    if (detail !== undefined) expect(answer.body.detail).toEqual(detail);
  });

  test('409 booking_already_requested: a second call with a new payment is free and changes nothing', async () => {
    await bookable();
    await world.book(made);
    const before = await world.usdc(world.wallet.address);
    const again = await world.paid('/air/book', { intent_id: made.intent_id, passengers: [PASSENGER] });
    expect([again.status, again.body.code]).toEqual([409, 'booking_already_requested']);
    await world.work();
    expect((await world.show(made)).status).toBe('booked');
    const late = await world.paid('/air/book', { intent_id: made.intent_id, passengers: [PASSENGER] });
    expect([late.status, late.body.code]).toEqual([409, 'booking_already_requested']);
    expect(await world.usdc(world.wallet.address)).toBe(before);
  });

  test('409 intent_not_active: a refunded intent', async () => {
    await bookable();
    await world.book(made);
    world.airline.script.price = '200.00';
    await world.work();
    world.airline.script.price = '151.20';
    const answer = await answerTo(made, [PASSENGER]);
    expect([answer.status, answer.body.code]).toEqual([409, 'intent_not_active']);
  });

  test('409 escrow_funding_mismatch: a vault that holds less than was paid; the same payment goes on later', async () => {
    await bookable();
    let hidden = true;
    const blind = world.service((ports) => ({
      ...ports,
      cluster: {
        ...ports.cluster,
        tokenBalance: async (account) =>
          hidden && account === made.escrow.vault_address ? 1n : ports.cluster.tokenBalance(account),
      },
    }));
    const body = { intent_id: made.intent_id, passengers: [PASSENGER] };
    const payment = await world.sign(await world.call('/air/book', body));
    const headers = { 'PAYMENT-SIGNATURE': payment };
    const before = await world.usdc(world.wallet.address);
    const answer = await blind.call('/air/book', body, { headers });
    expect([answer.status, answer.body.code, answer.body.detail]).toEqual([
      409,
      'escrow_funding_mismatch',
      { expected: 151_200_000, observed: 1 },
    ]);
    hidden = false;
    const retried = await blind.call('/air/book', body, { headers });
    expect(retried.status).toBe(200);
    expect(retried.body).toMatchObject({ booking: { state: 'queued' } });
    expect(before - (await world.usdc(world.wallet.address))).toBe(151_200_000n);
  });

  // Moves the clock: last.
  test('409 intent_expired: the booking window has closed', async () => {
    await bookable({ lifeMs: 60_000 });
    world.clock.advance(61_000);
    const answer = await answerTo(made, [PASSENGER]);
    expect([answer.status, answer.body.code, answer.body.detail]).toEqual([
      409,
      'intent_expired',
      { expired_at: made.expires_at },
    ]);
    await world.work();
    const later = await answerTo(made, [PASSENGER]);
    expect([later.status, later.body.code]).toEqual([409, 'intent_expired']);
    expect(await world.cluster.tokenBalance(made.escrow.vault_address as Address)).toBeNull();
  });
});

describe('GET /air/orders/{order_id}', () => {
  let made: CreatedIntent;
  let orderId: string;
  beforeAll(async () => {
    Object.assign(world.airline.script, fresh);
    made = await world.intent(nextOffer());
    await world.book(made);
    await world.work();
    orderId = (await world.show(made)).order_id ?? '';
  });
  afterEach(() => {
    world.airline.script.before = {};
  });
  const read = (id: string, code?: string) =>
    world.paid(`/air/orders/${id}`, undefined, {
      headers: code === undefined ? {} : { 'X-Customer-Support-Code': code },
    });

  free([
    { title: 'no support code', status: 401, code: 'support_code_required', act: () => read(orderId) },
    {
      title: 'an order that is not known, whatever the code',
      status: 404,
      code: 'order_not_found',
      act: () => read('ord_nothing', 'FLK-0000-0000-0000-0000'),
    },
    {
      title: 'a wrong code',
      status: 403,
      code: 'support_code_mismatch',
      act: () => read(orderId, 'FLK-0000-0000-0000-0000'),
    },
    {
      title: 'the provider fails',
      status: 502,
      code: 'provider_failed',
      act: () => {
        world.airline.script.before.order = fails('provider_failed');
        return read(orderId, made.customer_support_code);
      },
    },
  ]);

  test('200 for the right code, however it was typed, for 0.01', async () => {
    const before = await world.usdc(world.wallet.address);
    const answer = await read(orderId, ` ${made.customer_support_code.toLowerCase()} `);
    expect(answer.body).toMatchObject({ order_id: orderId, booking_reference: 'ZX7QPL', status: 'ticketed' });
    expect(answer.headers.get('payment-response')).not.toBeNull();
    expect(before - (await world.usdc(world.wallet.address))).toBe(10_000n);
  });

  test('429 too_many_attempts: five wrong codes stop guessing for a while, also with the right one', async () => {
    for (let tries = 0; tries < 4; tries++) await read(orderId, `FLK-0000-0000-0000-000${tries}`);
    const stopped = await read(orderId, made.customer_support_code);
    expect([stopped.status, stopped.body.code]).toEqual([429, 'too_many_attempts']);
    expect(Number(stopped.headers.get('retry-after'))).toBeGreaterThan(60);
    world.clock.advance(16 * 60_000);
    expect((await read(orderId, made.customer_support_code)).status).toBe(200);
  });
});
