import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { CreatedIntent } from '../../src/wire/flights/index.ts';
import { openWorld, PASSENGER, type World } from './world.ts';

/**
 * Guessing at POST /air/refund-requests (spec/flight-service.md, Refunds): after five wrong tries 429 with Retry-After,
 * longer each time, and the owner is let in when it is the owner's turn. All of it is before the price: nothing is paid.
 */

const MINUTE_MS = 60_000;
/** What a right try comes to: the price. It is not paid here, so that the same request can be tried again. */
const LET_IN = [402, undefined, null];
const WRONG = [403, 'identity_mismatch', null];

let world: World;
let booked: CreatedIntent[];
beforeAll(async () => {
  world = await openWorld({ airline: 'scripted' });
  await world.cluster.airdropUsdc(world.wallet.address, 10_000_000_000n);
  booked = [];
  for (let made = 0; made < 6; made++) {
    const intent = await world.intent(`off_${made}`);
    await world.book(intent);
    booked.push(intent);
  }
  await world.work();
});
afterAll(() => world.close());
// A day later nobody's mistakes are remembered.
beforeEach(() => world.clock.advance(25 * 60 * MINUTE_MS));

let addresses = 0;
const newClient = () => `198.51.100.${++addresses}`;
const intentOf = (index = 0): CreatedIntent => {
  const intent = booked[index];
  if (!intent) throw new Error('that many are not booked');
  return intent;
};

/** Asks from an address, as the HTTP server tells the service; answers with status, code and Retry-After. */
async function ask(client: string, intent: CreatedIntent, who: { code?: string; name?: string } = {}) {
  const request = new Request('http://flights.test/air/refund-requests', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'X-Customer-Support-Code': who.code ?? intent.customer_support_code,
      'X-Passenger-Family-Name': who.name ?? PASSENGER.family_name,
    },
    body: JSON.stringify({ intent_id: intent.intent_id, reason: 'I broke a leg.' }),
  });
  const response = await world.app.fetch(request, { clientAddress: client });
  const { code } = (await response.json()) as { code?: string };
  const after = response.headers.get('retry-after');
  return [response.status, code, after === null ? null : Number(after)];
}
const stopped = (seconds: number) => [429, 'too_many_attempts', seconds];

test('429 too_many_attempts: five wrong names on one intent, then neither a wrong nor the right one is told apart', async () => {
  const client = newClient();
  const before = await world.sums();
  for (const name of ['Byron', 'King', 'Noel', 'Gordon']) {
    expect(await ask(client, intentOf(), { name })).toEqual(WRONG);
  }
  // Four are a traveller who mistypes.
  expect(await ask(client, intentOf())).toEqual(LET_IN);
  expect(await ask(client, intentOf(), { name: 'Milbanke' })).toEqual(WRONG);
  expect(await ask(client, intentOf(), { name: 'Babbage' })).toEqual(stopped(900));
  expect(await ask(client, intentOf())).toEqual(stopped(900));
  expect(await world.sums()).toEqual(before);
});

test('wrong support codes count as wrong names do, and Retry-After is when the owner is let in again', async () => {
  const client = newClient();
  for (let n = 0; n < 5; n++) {
    expect(await ask(client, intentOf(), { code: `FLK-0000-0000-0000-000${n}` })).toEqual(WRONG);
  }
  const [, , after] = await ask(client, intentOf());
  world.clock.advance((Number(after) - 2) * 1000);
  expect((await ask(client, intentOf()))[0]).toBe(429);
  world.clock.advance(3_000);
  expect(await ask(client, intentOf())).toEqual(LET_IN);
});

test('five wrong tries of one client over several intents stop it at all of them, and nobody else', async () => {
  const client = newClient();
  for (let n = 0; n < 5; n++) expect(await ask(client, intentOf(n), { name: 'Byron' })).toEqual(WRONG);
  expect(await ask(client, intentOf(5))).toEqual(stopped(900));
  expect(await ask(newClient(), intentOf(5))).toEqual(LET_IN);
  expect(await ask(newClient(), intentOf(0))).toEqual(LET_IN);
});

test('five wrong tries on one intent from five clients stop a sixth that is wrong; the owner is let in', async () => {
  for (let n = 0; n < 5; n++) expect(await ask(newClient(), intentOf(), { name: 'Byron' })).toEqual(WRONG);
  const sixth = newClient();
  expect((await ask(sixth, intentOf(), { name: 'King' })).slice(0, 2)).toEqual([429, 'too_many_attempts']);
  expect((await ask(sixth, intentOf()))[0]).toBe(429);
  expect(await ask(newClient(), intentOf())).toEqual(LET_IN);
  expect((await ask(sixth, intentOf(1)))[0]).toBe(402);
});

test('who goes on guessing waits longer each time; the owner is let in between any two guesses', async () => {
  const client = newClient();
  const waits: number[] = [];
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 5; n++) await ask(client, intentOf(), { name: `Guess${round}${n}` });
    const [status, , after] = await ask(client, intentOf());
    expect(status).toBe(429);
    expect(await ask(newClient(), intentOf())).toEqual(LET_IN);
    waits.push(Number(after));
    world.clock.advance(Number(after) * 1000);
  }
  const [first = 0, second = 0, third = 0] = waits;
  expect(second).toBeGreaterThan(first);
  expect(third).toBeGreaterThan(second);
  expect(third).toBeLessThanOrEqual(4 * 3_600);
});
