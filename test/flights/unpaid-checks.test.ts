import { afterEach, beforeEach, expect, test } from 'vitest';
import { problem } from '../../src/kernel/problems.ts';
import { cases, proofTest } from '../proof-only.ts';
import { openWorld, PASSENGER, TRIP, type World } from './world.ts';

/** Calls that pay nothing must not wear the airline's patience out, nor raise anybody's price. */

let world: World;
/** Offers that the airline was asked for, in order; and what it does then. */
let asked: string[];
let airline: (() => void) | null;
beforeEach(async () => {
  world = await openWorld({ airline: 'scripted' });
  asked = [];
  airline = null;
  world.airline.script.before = {
    offer: () => {
      asked.push('offer');
      airline?.();
    },
    search: () => {
      asked.push('search');
    },
  };
});
afterEach(() => world.close());

/** A call as it comes through the HTTP server, which knows the address of the connection. */
async function from(address: string, path: string, body: object, headers: Record<string, string> = {}) {
  const request = new Request(`http://flights.test${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const answer = await world.app.fetch(request, { clientAddress: address });
  const text = (await answer.json()) as Record<string, unknown>;
  return { status: answer.status, headers: answer.headers, body: text };
}
const intentOn = (offerId: string) => ({
  funding_wallet: world.wallet.address,
  refund_wallet: world.refundWallet.address,
  offer_id: offerId,
});
const searchPrice = async () =>
  Number(((await from('198.51.100.1', '/air/search', TRIP)).body.accepts as { amount: string }[])[0]?.amount);
const slowDown = () => {
  throw problem('upstream_rate_limited', { retryAfter: 7 });
};

test('an unpaid search never reaches the airline', async () => {
  expect((await from('198.51.100.7', '/air/search', TRIP)).status).toBe(402);
  expect(asked).toEqual([]);
});

test('a rate limit that an unpaid call meets is told to its caller, and raises nobody’s price', async () => {
  const intent = await world.intent('off_locked');
  const calls: [string, object][] = [
    ['/air/intents', intentOn('off_1')],
    ['/air/book', { intent_id: intent.intent_id, passengers: [PASSENGER] }],
  ];
  for (const [path, body] of calls) {
    world.clock.advance(60_000);
    airline = slowDown;
    const answer = await from('198.51.100.7', path, body);
    expect([path, answer.status, answer.body.code]).toEqual([path, 503, 'upstream_rate_limited']);
    expect(answer.headers.get('retry-after')).toBe('7');
    airline = null;
    expect(await searchPrice()).toBe(100_000);
  }
});

test('while the airline asks us to slow down, unpaid calls leave it in peace and are challenged all the same', async () => {
  airline = slowDown;
  await from('198.51.100.7', '/air/intents', intentOn('off_1'));
  asked = [];
  for (let n = 0; n < 10; n++) {
    expect((await from('198.51.100.8', '/air/intents', intentOn(`off_other_${n}`))).status).toBe(402);
  }
  expect(asked).toEqual([]);
  world.clock.advance(7_001);
  await from('198.51.100.8', '/air/intents', intentOn('off_later'));
  expect(asked).toEqual(['offer']);
});

test('many unpaid calls about one offer ask the airline once, at the same moment and within seconds', async () => {
  await Promise.all(Array.from({ length: 20 }, (_, n) => from(`203.0.113.${n}`, '/air/intents', intentOn('off_1'))));
  for (let n = 0; n < 20; n++) await from('198.51.100.7', '/air/intents', intentOn('off_1'));
  expect(asked).toEqual(['offer']);
  for (let n = 0; n < 20; n++) {
    expect((await from('198.51.100.7', '/air/intents', intentOn('gone'))).body.code).toBe('offer_unavailable');
  }
  expect(asked).toEqual(['offer', 'offer']);
});

test('the seats of an offer are read once for many unpaid calls, too', async () => {
  const sold = [{ passenger_index: 0, amount: 5_000_000n, currency: 'USD' }];
  const seat = { designator: '12A', name: null, disclosures: [], sold };
  world.airline.script.seatMaps = async () => {
    asked.push('seats');
    return [{ segment_index: 0, cabins: [{ deck: 0, cabin_class: null, rows: [[[seat]]] }] }];
  };
  const seats = [{ passenger_index: 0, segment_index: 0, designator: '12A' }];
  for (let n = 0; n < 10; n++) {
    const locked = await from(`203.0.113.${n}`, '/air/intents', { ...intentOn('off_1'), seats });
    const shown = await from(`203.0.113.${n}`, '/air/offer-details', { offer_id: 'off_1', seats: true });
    expect([locked.status, shown.status]).toEqual([402, 402]);
  }
  expect(asked).toEqual(['offer', 'seats']);
});

test('a client whose unpaid calls ask too often leaves the airline in peace, and is challenged all the same', async () => {
  for (let n = 0; n < 40; n++) {
    expect((await from('203.0.113.5', '/air/intents', intentOn(`off_${n}`))).status).toBe(402);
  }
  expect(asked.length).toBeLessThanOrEqual(31);
  const before = asked.length;
  await from('203.0.113.5', '/air/intents', intentOn('off_more'));
  expect(asked).toHaveLength(before);
  await from('203.0.113.6', '/air/intents', intentOn('off_y'));
  expect(asked).toHaveLength(before + 1);
  world.clock.advance(60_000);
  await from('203.0.113.5', '/air/intents', intentOn('off_z'));
  expect(asked).toHaveLength(before + 2);
});

test('an IPv6 client is its network, however many addresses it has there', async () => {
  for (let n = 0; n < 40; n++) await from(`2001:db8:1:2::${n + 1}`, '/air/intents', intentOn(`off_${n}`));
  expect(asked.length).toBeLessThanOrEqual(31);
});

test('many addresses together do not reach the airline without end, and shut nobody out', async () => {
  await world.close();
  world = await openWorld({ airline: 'scripted', options: { freeChecksPerMinute: 1 } });
  world.airline.script.before = { offer: () => void asked.push('offer') };
  for (let n = 0; n < 100; n++) {
    const answer = await from(`10.${n >> 8}.${n & 255}.9`, '/air/intents', intentOn(n % 2 ? `off_${n}` : `no_${n}`));
    expect([402, 409]).toContain(answer.status);
  }
  expect(asked.length).toBeLessThanOrEqual(3);
  asked = [];
  // An honest one is challenged, pays, and is checked before anything is settled.
  const before = await world.sums();
  const gone = intentOn('no_such_offer');
  const challenge = await from('198.51.100.9', '/air/intents', gone);
  expect(challenge.status).toBe(402);
  const refused = await from('198.51.100.9', '/air/intents', gone, {
    'PAYMENT-SIGNATURE': await world.sign(challenge as never),
  });
  expect([refused.status, refused.body.code]).toEqual([409, 'offer_unavailable']);
  expect(await world.sums()).toEqual(before);
  const wanted = intentOn('off_wanted');
  const payment = await world.sign((await from('198.51.100.9', '/air/intents', wanted)) as never);
  const made = await from('198.51.100.9', '/air/intents', wanted, { 'PAYMENT-SIGNATURE': payment });
  expect(made.status).toBe(201);
  expect(asked.length).toBeGreaterThanOrEqual(2);
});

test('the check of a paid call asks anew and is not limited by what its address did', async () => {
  const wanted = intentOn('off_wanted');
  const payment = await world.sign((await from('203.0.113.5', '/air/intents', wanted)) as never);
  for (let n = 0; n < 40; n++) await from('203.0.113.5', '/air/intents', intentOn(`off_${n}`));
  asked = [];
  const made = await from('203.0.113.5', '/air/intents', wanted, { 'PAYMENT-SIGNATURE': payment });
  expect(made.status).toBe(201);
  expect(asked).toEqual(['offer']);
});

proofTest('a payment that is none is no way around the limit', async () => {
  const other = await world.sign((await from('203.0.113.5', '/air/search', TRIP)) as never);
  const poor = world.newWallet();
  for (let n = 0; n < 45; n++) {
    const body = intentOn(`off_${n}`);
    const challenge = await from(`192.0.2.${n}`, '/air/search', TRIP);
    const headers = { 'PAYMENT-SIGNATURE': n % 2 ? other : await world.sign(challenge as never, poor) };
    expect((await from('203.0.113.5', '/air/intents', body, headers)).status).toBe(402);
  }
  expect(asked.length).toBeLessThanOrEqual(32);
});

test.each(
  cases<'/air/intents' | '/air/offer-details' | '/air/book'>(['/air/intents'], ['/air/offer-details', '/air/book']),
)('a payer whose good payments end in free refusals is slowed down: 429 too_many_requests of %s', async (path) => {
  await world.close();
  // Unpaid calls have nobody asked, so that each is challenged.
  world = await openWorld({ airline: 'scripted', lowcostMs: 20, options: { freeChecksPerClient: 0 } });
  const body = {
    '/air/intents': intentOn('no_such_offer'),
    '/air/offer-details': { offer_id: 'lowcost:unknown' },
    '/air/book': { intent_id: (await world.intent('off_1')).intent_id, passengers: [PASSENGER] },
  }[path] as object;
  const payment = await world.sign((await from('203.0.113.5', path, body)) as never);
  world.airline.script.before = {
    offer: () => {
      throw problem('offer_expired');
    },
  };
  let last = await from('203.0.113.5', path, body);
  // A slow machine gives some of them back before it has asked for all.
  for (let n = 0; n < 400 && last.status !== 429; n++) {
    last = await from(`203.0.113.${n % 250}`, path, body, { 'PAYMENT-SIGNATURE': payment });
  }
  expect([last.status, last.body.code]).toEqual([429, 'too_many_requests']);
  expect(last.headers.get('retry-after')).toMatch(/^[1-9]/);
});

test.each(['/air/book', '/air/offer-details'])(
  'every unpaid call that has the airline asked is limited: %s',
  async (path) => {
    await world.close();
    world = await openWorld({ airline: 'scripted', lowcostMs: 60_000, options: { freeChecksPerClient: 3 } });
    world.airline.script.before = { offer: () => void asked.push('offer') };
    const intents = [await world.intent('off_1'), await world.intent('off_2'), await world.intent('off_3')];
    // Those were asked from elsewhere.
    world.clock.advance(10_000);
    for (const n of [1, 2]) await from('203.0.113.5', '/air/intents', intentOn(`off_other_${n}`));
    asked = [];
    const statuses: number[] = [];
    for (const [n, { intent_id }] of intents.entries()) {
      const body = path === '/air/book' ? { intent_id, passengers: [PASSENGER] } : { offer_id: `lowcost:unknown_${n}` };
      statuses.push((await from('203.0.113.5', path, body)).status);
    }
    // The one that is left is asked; the others are challenged without a question.
    expect(statuses).toEqual([path === '/air/book' ? 402 : 404, 402, 402]);
    expect(asked).toHaveLength(path === '/air/book' ? 1 : 0);
  },
);
