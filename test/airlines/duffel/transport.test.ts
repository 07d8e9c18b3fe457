import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { offer as offerSchema } from '../../../src/wire/flights/offers.ts';
import { migratedFile } from '../../service/migrated.ts';
import { queryOf } from '../queries.ts';
import { goodOffer, refusal } from './samples.ts';
import { type Asked, type DuffelWorld, duffelWorld, TOKEN, type Told } from './world.ts';

const home = mkdtempSync(join(tmpdir(), 'farelock-duffel-'));
let world: DuffelWorld;
beforeAll(async () => {
  world = await duffelWorld(await migratedFile(home));
});
afterAll(async () => {
  await world.close();
  rmSync(home, { recursive: true });
});
/** Each test has a provider of its own: limits are kept in the process. */
let provider: DuffelWorld['provider'];
beforeEach(() => {
  provider = world.another();
  world.asked.length = 0;
  world.lines.length = 0;
});

const QUERY = queryOf({
  origin: 'LIS',
  destination: 'BER',
  departDate: '2026-12-20',
  returnDate: '2026-12-27',
  adults: 2,
});

/** A search that finds these offers, so many a page. */
const finding =
  (offers: readonly unknown[], aPage = 200) =>
  ({ method, path, query }: Asked): Told | undefined => {
    if (method === 'POST' && path === '/air/offer_requests') return { status: 201, body: { data: { id: 'orq_1' } } };
    if (path !== '/air/offers') return undefined;
    const from = Number(query.get('after') ?? 0);
    const next = from + aPage;
    const after = next < offers.length ? String(next) : null;
    return { body: { data: offers.slice(from, next), meta: { limit: aPage, before: null, after } } };
  };

test('a search asks for adults, then reads every page', async () => {
  world.script.answer = finding([goodOffer('off_1'), goodOffer('off_2'), goodOffer('off_3')], 2);
  const offers = await provider.search(QUERY);
  expect(offers.map(({ offer_id }) => offer_id)).toEqual(['off_1', 'off_2', 'off_3']);
  const [request, page] = world.asked;
  expect(request?.query.get('return_offers')).toBe('false');
  expect(request?.data).toEqual({
    slices: [
      { origin: 'LIS', destination: 'BER', departure_date: '2026-12-20' },
      { origin: 'BER', destination: 'LIS', departure_date: '2026-12-27' },
    ],
    passengers: [{ type: 'adult' }, { type: 'adult' }],
    cabin_class: 'economy',
  });
  expect(request?.headers).toMatchObject({ authorization: `Bearer ${TOKEN}`, 'duffel-version': 'v2' });
  expect(request?.headers['accept-encoding']).toContain('gzip');
  expect(Object.fromEntries(page?.query ?? [])).toEqual({
    offer_request_id: 'orq_1',
    limit: '200',
    sort: 'total_amount',
  });
});

test('what cannot be shown is dropped and counted, the rest is sold', async () => {
  world.script.answer = finding([
    goodOffer('off_1'),
    { ...goodOffer('off_2'), expires_at: null },
    7,
    { ...goodOffer('off_4'), total_currency: 'GBP' },
  ]);
  const offers = await provider.search(QUERY);
  expect(offers.map(({ offer_id, total_currency }) => [offer_id, total_currency])).toEqual([
    ['off_1', 'USD'],
    ['off_4', 'GBP'],
  ]);
  expect(world.lines.filter((line) => line.includes('duffel_offers_dropped'))).toEqual([
    expect.stringContaining('"missing":"expires_at","offers":1'),
    expect.stringContaining('"missing":"id","offers":1'),
  ]);
});

test('offers of which none can be read are no empty search: nothing is sold', async () => {
  world.script.answer = finding([{ ...goodOffer('off_1'), expires_at: null }, 7]);
  await expect(provider.search(QUERY)).rejects.toMatchObject({ code: 'provider_failed' });
});

test('a search says how long airlines may take, and ends before its payment does', async () => {
  const offers = [goodOffer('off_1'), goodOffer('off_2'), goodOffer('off_3')];
  const answer = finding(offers, 1);
  world.script.answer = (asked) => {
    if (asked.query.get('after') === '1') world.clock.advance(46_000);
    return answer(asked);
  };
  const found = await provider.search(QUERY);
  // The page that took too long is the last one; a payment lives 60 seconds.
  expect(found.map(({ offer_id }) => offer_id)).toEqual(['off_1', 'off_2']);
  expect(world.asked[0]?.query.get('supplier_timeout')).toBe('20000');
  world.script.answer = (asked) => {
    world.clock.advance(46_000);
    return answer(asked);
  };
  world.asked.length = 0;
  await expect(provider.search(QUERY)).rejects.toMatchObject({ code: 'provider_failed' });
  expect(world.asked).toHaveLength(1);
});

test('nothing found is an empty answer', async () => {
  world.script.answer = finding([]);
  expect(await provider.search(QUERY)).toEqual([]);
});

test('an answer of 3 MB with 1,000 offers is mapped without loss', async () => {
  const offers = Array.from({ length: 1_000 }, (_, index) => ({
    ...goodOffer(),
    id: `off_${index}`,
    total_amount: `${100 + index}.${String(index % 100).padStart(2, '0')}`,
  }));
  expect(JSON.stringify(offers).length).toBeGreaterThan(3_000_000);
  world.script.answer = finding(offers, 1_000);
  const found = await provider.search(QUERY);
  expect(found.map(({ offer_id, total_amount_decimal }) => [offer_id, total_amount_decimal])).toEqual(
    offers.map(({ id, total_amount }) => [id, total_amount]),
  );
  for (const offer of found) offerSchema.parse(offer);
});

test.each<[string, Told, string]>([
  ['429', { ...refusal('rate_limit_error', 'rate_limit_exceeded', 429) }, 'upstream_rate_limited'],
  ['a code that is a number', refusal('invalid_request_error', 400, 400), 'provider_failed'],
  ['plain text', { status: 403, body: 'Forbidden' }, 'provider_failed'],
  ["a gateway's HTML", { status: 502, body: '<html>Bad gateway</html>' }, 'provider_failed'],
  ['a timeout of its own', refusal('api_error', 'supplier_timeout', 504), 'provider_failed'],
  ['HTML with 200', { body: '<html>' }, 'provider_failed'],
  ['no data', { body: { meta: null } }, 'provider_failed'],
  ['data of the wrong kind', { body: { data: [] } }, 'provider_failed'],
  ['a search without an id', { body: { data: { id: 7 } } }, 'provider_failed'],
  ['no answer', 'cut', 'provider_failed'],
  ['half an answer', 'half', 'provider_failed'],
])('a search that is answered with %s', async (_, told, code) => {
  world.script.answer = () => told;
  await expect(provider.search(QUERY)).rejects.toMatchObject({ code });
});

test('the request id is kept for the operator, and nothing of their sentences', async () => {
  world.script.answer = () => refusal('api_error', 'internal_server_error', 500);
  await expect(provider.search(QUERY)).rejects.toMatchObject({
    detail: { airline_status: 500, airline_code: 'internal_server_error', airline_request_id: 'req-1' },
  });
  expect(world.lines.join()).toContain('req-1');
  expect(world.lines.join()).not.toMatch(/Lovelace|X1234567/);
});

test('no connection, and an answer that takes too long, are failures', async () => {
  await expect(world.another({ url: 'http://nobody.invalid' }).search(QUERY)).rejects.toMatchObject({
    code: 'provider_failed',
    detail: { airline_code: expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN)$/) },
  });
  world.script.answer = () => 'silence';
  const late = world.another({ timeoutMs: 50 }).search(QUERY);
  // A call without an end fails this test by itself, not by its time-out.
  const waits = new Promise((resolve) => setTimeout(resolve, 20_000, 'waits').unref());
  expect(await Promise.race([late.catch((error: unknown) => error), waits])).toMatchObject({
    code: 'provider_failed',
    detail: { airline_code: 'TimeoutError' },
  });
});

test('after a 429 nothing is sent until the reset that it names', async () => {
  const nowMs = world.clock.now();
  const limited = {
    ...refusal('rate_limit_error', 'rate_limit_exceeded', 429),
    headers: {
      // By their clock, which is an hour ahead of ours.
      date: new Date(nowMs + 3_600_000).toUTCString(),
      'ratelimit-reset': new Date(nowMs + 3_600_000 + 42_000).toUTCString(),
    },
  };
  world.script.answer = () => limited;
  await expect(provider.search(QUERY)).rejects.toMatchObject({ code: 'upstream_rate_limited', retryAfter: 42 });
  world.clock.advance(41_000);
  await expect(provider.search(QUERY)).rejects.toMatchObject({ code: 'upstream_rate_limited', retryAfter: 1 });
  expect(world.asked).toHaveLength(1);
  world.clock.advance(1_000);
  world.script.answer = finding([goodOffer()]);
  expect(await provider.search(QUERY)).toHaveLength(1);
});

test('the last call of a limit keeps the next one back, and searches do not keep back what is about orders', async () => {
  const spent = {
    'ratelimit-remaining': '0',
    'ratelimit-reset': new Date(world.clock.now() + 30_000).toUTCString(),
    date: new Date(world.clock.now()).toUTCString(),
  };
  world.script.answer = (asked) => {
    const told = finding([goodOffer()])(asked);
    return asked.method === 'POST' && typeof told === 'object' ? { ...told, headers: spent } : told;
  };
  expect(await provider.search(QUERY)).toHaveLength(1);
  const before = world.asked.length;
  await expect(provider.search(QUERY)).rejects.toMatchObject({ code: 'upstream_rate_limited', retryAfter: 30 });
  expect(world.asked).toHaveLength(before);
  await expect(provider.order('ord_1')).rejects.toMatchObject({ code: 'provider_failed' });
  expect(world.asked).toHaveLength(before + 1);
  world.clock.advance(30_000);
});

test('after five failures in a row reads are refused for a while; a question about an order never is', async () => {
  world.script.answer = () => ({ status: 503, body: '<html>down</html>' });
  for (let i = 0; i < 5; i++) await expect(provider.search(QUERY)).rejects.toMatchObject({ code: 'provider_failed' });
  expect(world.asked).toHaveLength(5);
  await expect(provider.search(QUERY)).rejects.toMatchObject({ detail: { airline_code: 'breaker_open' } });
  await expect(provider.offer('off_1')).rejects.toMatchObject({ code: 'provider_failed' });
  expect(world.asked).toHaveLength(5);
  await expect(provider.order('ord_1')).rejects.toMatchObject({ code: 'provider_failed' });
  expect(world.asked).toHaveLength(6);
  world.clock.advance(31_000);
  world.script.answer = finding([goodOffer()]);
  expect(await provider.search(QUERY)).toHaveLength(1);
  expect(await provider.search(QUERY)).toHaveLength(1);
});

test.each<[string, Told, string]>([
  ['gone', refusal('invalid_state_error', 'offer_no_longer_available'), 'offer_unavailable'],
  ['expired', refusal('invalid_state_error', 'offer_expired'), 'offer_expired'],
  ['unknown', refusal('invalid_request_error', 'not_found', 404), 'offer_not_found'],
  ['unknown to a gateway alone', { status: 404, body: 'no' }, 'provider_failed'],
  ['another one', { body: { data: goodOffer('off_2') } }, 'provider_failed'],
  ['unreadable', { body: { data: { ...goodOffer('off_1'), total_amount: 7 } } }, 'provider_failed'],
])('an offer that is %s', async (_, told, code) => {
  world.script.answer = () => told;
  await expect(provider.offer('off_1')).rejects.toMatchObject({ code });
});

test('an offer is read with its bags and how many it is for; an id of nobody is not asked about', async () => {
  world.script.answer = ({ path, query }) =>
    path === '/air/offers/off_1' && query.get('return_available_services') === 'true'
      ? { body: { data: goodOffer('off_1', 2) } }
      : undefined;
  expect(await provider.offer('off_1')).toMatchObject({ passengerCount: 2, offer: { offer_id: 'off_1' } });
  for (const id of ['lowcost:1', 'off_1/../orders', 'off_1?x=1', '']) {
    await expect(provider.offer(id)).rejects.toMatchObject({ code: 'offer_not_found' });
  }
  expect(world.asked).toHaveLength(1);
});

test('an airport is known with its zone', () => {
  expect(provider.airport('LIS')).toMatchObject({ city: 'Lisbon', country: 'PT', timeZone: 'Europe/Lisbon' });
  expect(provider.airport('QQQ')).toBeNull();
});

test('a live token sells real flights, any other is a sandbox', () => {
  expect(provider).toMatchObject({ name: 'duffel', isSandbox: true });
  expect(world.another({ token: 'duffel_live_x' }).isSandbox).toBe(false);
});

test('a token that is refused is told, looked at once a minute, and right again when it works', async () => {
  world.script.answer = () => refusal('authentication_error', 'access_token_not_found', 401);
  const trouble = async () => provider.trouble?.();
  expect(await Promise.all([trouble(), trouble()])).toEqual([
    expect.stringContaining('access_token_not_found'),
    expect.stringContaining('access_token_not_found'),
  ]);
  world.script.answer = () => ({ body: { data: [] } });
  world.clock.advance(59_999);
  expect(await trouble()).toContain('access_token_not_found');
  expect(world.asked).toHaveLength(1);
  world.clock.advance(1);
  expect(await trouble()).toBeNull();
  // Whoever else refuses says nothing about the token.
  world.script.answer = () => ({ status: 401, body: 'Who are you?' });
  world.clock.advance(60_000);
  expect(await trouble()).toBeNull();
  expect(world.asked).toHaveLength(3);
});
