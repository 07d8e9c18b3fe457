import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOperatorKeys } from '../../../src/flights/desk/keys.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import type { Switches } from '../../../src/wire/flights/index.ts';
import { openWorld, PASSENGER, type World } from '../world.ts';

/** The operator's switches, turned over POST /operator/switches: what each stops, and that stopping is free. */

const TRAVELLER = { ...PASSENGER, nationality: 'PT', passport_number: 'AB123456', passport_expiry: '2031-05-01' };

let world: World;
let key: string;
beforeAll(async () => {
  world = await openWorld({ lowcostMs: 60_000, ticketingMs: 0 });
  const keys = createOperatorKeys({ ...world, ids: randomIds(world.clock.now) });
  key = (await keys.issue({ keyId: 'key_0', name: 'first' }, 'ana', 'req_1')).key;
});
afterAll(() => world.close());

async function turn(switches: Partial<Switches>, call = world.call): Promise<void> {
  const headers = { Authorization: `Bearer ${key}` };
  const turned = await call('/operator/switches', switches, { headers });
  expect([turned.status, turned.body]).toEqual([200, { booking: 'on', lowcost: 'on', ...switches }]);
}

/** The status and code of a call that pays when asked to; nothing may be paid. */
async function refusal(path: string, body: object) {
  const before = await world.sums();
  const answer = await world.paid(path, body);
  expect(await world.sums()).toEqual(before);
  return [answer.status, answer.body.code];
}

async function lowcostOffers(of = world): Promise<string[]> {
  const { search_id } = await of.search();
  of.clock.advance(60_000);
  const { body } = await of.call<{ offers: { offer_id: string }[] }>('/air/search-updates', { search_id });
  return body.offers.map((offer) => offer.offer_id);
}

const lock = (offerId: string) => ({ funding_wallet: world.wallet.address, offer_id: offerId });
const fastOffers = async (): Promise<string[]> =>
  (await world.search()).offers.filter((one) => one.total_currency === 'USD').map((one) => one.offer_id);

test('the lowcost switch stops intents and bookings on lowcost offers alone, free of charge, until it is on again', async () => {
  const [first = '', second = ''] = await lowcostOffers();
  const [fast = ''] = await fastOffers();
  const made = await world.intent(first);
  await turn({ lowcost: 'off' }, world.service().call);
  expect(await refusal('/air/intents', lock(second))).toEqual([409, 'lowcost_booking_unavailable']);
  const booking = { intent_id: made.intent_id, passengers: [TRAVELLER] };
  expect(await refusal('/air/book', booking)).toEqual([409, 'lowcost_booking_unavailable']);
  expect((await world.intent(fast)).status).toBe('active');
  await turn({ lowcost: 'on' });
  expect((await world.intent(second)).status).toBe('active');
});

test('the booking switch stops every intent and booking, free of charge, until it is on again', async () => {
  const [, fast = '', other = ''] = await fastOffers();
  const [later = ''] = await lowcostOffers();
  const made = await world.intent(fast);
  await turn({ booking: 'off' }, world.service().call);
  for (const offerId of [other, later]) {
    expect(await refusal('/air/intents', lock(offerId))).toEqual([503, 'booking_disabled']);
  }
  const booking = { intent_id: made.intent_id, passengers: [PASSENGER] };
  expect(await refusal('/air/book', booking)).toEqual([503, 'booking_disabled']);
  await turn({ booking: 'on' });
  await world.book(made);
  await world.work();
  expect((await world.show(made)).status).toBe('booked');
});

test.each([
  ['bookingDisabled', { booking: 'off', lowcost: 'on' }, 'booking_disabled'],
  ['lowcostDisabled', { booking: 'on', lowcost: 'off' }, 'lowcost_booking_unavailable'],
] as const)('a service with the setting %s is off whatever the switch says', async (option, shown, code) => {
  const own = await openWorld({ lowcostMs: 60_000, ticketingMs: 0, options: { [option]: true } });
  try {
    const keys = createOperatorKeys({ ...own, ids: randomIds(own.clock.now) });
    const issued = await keys.issue({ keyId: 'key_0', name: 'first' }, 'ana', 'req_1');
    const headers = { Authorization: `Bearer ${issued.key}` };
    const turned = await own.call('/operator/switches', { booking: 'on', lowcost: 'on' }, { headers });
    expect(turned.body).toEqual(shown);
    const [offer = ''] = await lowcostOffers(own);
    const answer = await own.call('/air/intents', { ...lock(offer), funding_wallet: own.wallet.address });
    expect(answer.body.code).toBe(code);
  } finally {
    await own.close();
  }
});
