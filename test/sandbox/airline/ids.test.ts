import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { isProblem } from '../../../src/kernel/problems.ts';
import { createSandboxProvider } from '../../../src/sandbox/airline/index.ts';
import type { Offer } from '../../../src/wire/flights/index.ts';
import { openSandbox, query } from './world.ts';

const sandbox = openSandbox();
afterAll(() => sandbox.close());
const { provider, clock } = sandbox;

describe('the world', () => {
  test('is the same for every instance with its seed, to the last field', async () => {
    for (const asked of [
      query('LHR', 'JFK'),
      query('FAE', 'PPT'),
      query('LIS', 'BER', '2027-03-28', { returnDate: '2027-04-03' }),
    ]) {
      expect(await sandbox.another().search(asked)).toEqual(await provider.search(asked));
    }
  });

  test('does not depend on what was asked before', async () => {
    const fresh = sandbox.another();
    await fresh.search(query('SYD', 'LHR'));
    await fresh.search(query('JFK', 'LHR'));
    expect(await fresh.search(query('LHR', 'JFK'))).toEqual(await provider.search(query('LHR', 'JFK')));
  });

  test('is another one with another seed', async () => {
    const other = createSandboxProvider({ seed: 'other', clock, ticketingMs: 0, orders: sandbox.orders });
    const [ours, theirs] = [await provider.search(query('LHR', 'JFK')), await other.search(query('LHR', 'JFK'))];
    expect(theirs.map((offer) => offer.total_amount)).not.toEqual(ours.map((offer) => offer.total_amount));
    expect(theirs[0]?.departing_at).not.toBe(undefined);
  });

  test('repeats its schedule every week: a flight number keeps its time', async () => {
    const timesOn = async (date: string) =>
      new Map(
        (await provider.search(query('LIS', 'BER', date)))
          .flatMap((offer) => offer.slices[0]?.segments ?? [])
          .map((one) => [`${one.operating_flight_number} ${one.origin_iata}`, one.departing_at.slice(11)]),
      );
    const [week, next, other] = await Promise.all(['2026-12-21', '2026-12-28', '2026-12-23'].map(timesOn));
    expect(next).toEqual(week);
    for (const [flight, time] of other ?? []) expect(week?.get(flight) ?? time).toBe(time);
  });
});

describe('a price', () => {
  test('is the same again within a minute, moves within a day, and never inside an offer', async () => {
    const sandbox2 = openSandbox();
    const priced = async () =>
      new Map((await sandbox2.provider.search(query('LHR', 'JFK'))).map((offer) => [keyOf(offer), offer.total_amount]));
    const first = await priced();
    const [offer] = await sandbox2.provider.search(query('LHR', 'JFK'));
    sandbox2.clock.advance(20_000);
    expect(await priced()).toEqual(first);
    sandbox2.clock.advance(19 * 60_000);
    const live = await sandbox2.provider.offer(offer?.offer_id ?? '');
    expect(live.offer).toEqual(offer);
    sandbox2.clock.advance(8 * 3_600_000);
    const later = await priced();
    const moved = [...first].filter(([key, amount]) => later.get(key) !== amount);
    expect(moved.length).toBeGreaterThan(first.size / 2);
    for (const [key, amount] of first) {
      const now = later.get(key) ?? amount;
      expect(Math.abs(now - amount) / amount).toBeLessThan(0.12);
    }
    await sandbox2.close();
  });
});

const keyOf = (offer: Offer) =>
  [offer.comparison_key, offer.owner_name, offer.fare_brand_name, offer.slices[0]?.segments[0]?.flight_number].join(
    '|',
  );

describe('an offer id', () => {
  test('brings back the very offer, with extras, in any process', async () => {
    const offers = await provider.search(query('LHR', 'SYD', '2026-12-21', { returnDate: '2027-01-05', adults: 9 }));
    for (const offer of offers.slice(0, 40)) {
      const live = await sandbox.another().offer(offer.offer_id);
      expect(live.offer).toEqual(offer);
      expect(live.passengerCount).toBe(9);
      expect(live.availableServices.length).toBeGreaterThan(0);
    }
  });

  test('is honoured 20 to 45 minutes, then has expired', async () => {
    const own = openSandbox();
    const offers = await own.provider.search(query('LIS', 'BER'));
    for (const offer of offers) {
      const minutes = (Date.parse(offer.expires_at) - own.clock.now()) / 60_000;
      expect(minutes).toBeGreaterThanOrEqual(20);
      expect(minutes).toBeLessThanOrEqual(45);
    }
    const [offer] = offers;
    own.clock.set(Date.parse(offer?.expires_at ?? '') - 1);
    await own.provider.offer(offer?.offer_id ?? '');
    own.clock.advance(1);
    await expect(own.provider.offer(offer?.offer_id ?? '')).rejects.toMatchObject({ code: 'offer_expired' });
    await own.close();
  });

  test('that was tampered with, in any character, is not found', async () => {
    const [offer] = await provider.search(query('LIS', 'BER'));
    const id = offer?.offer_id ?? '';
    for (let at = 0; at < id.length; at++) {
      const other = id.charAt(at) === 'A' ? 'B' : 'A';
      const forged = id.slice(0, at) + other + id.slice(at + 1);
      await expect(provider.offer(forged), forged).rejects.toMatchObject({ code: 'offer_not_found' });
    }
    for (const forged of [id.slice(0, -1), `${id}A`, `${id}=`, id.toLowerCase(), id.replace('off_', ''), `${id} `]) {
      await expect(provider.offer(forged)).rejects.toMatchObject({ code: 'offer_not_found' });
    }
  });

  test('of another world is not found', async () => {
    const [offer] = await provider.search(query('LIS', 'BER'));
    const other = createSandboxProvider({ seed: 'other', clock, ticketingMs: 0, orders: sandbox.orders });
    await expect(other.offer(offer?.offer_id ?? '')).rejects.toMatchObject({ code: 'offer_not_found' });
  });

  test('from the future is not found: it would outlive its lifetime', async () => {
    const own = openSandbox();
    own.clock.advance(3_600_000);
    const [offer] = await own.provider.search(query('LIS', 'BER'));
    own.clock.set(own.clock.now() - 3_600_000);
    await expect(own.provider.offer(offer?.offer_id ?? '')).rejects.toMatchObject({ code: 'offer_not_found' });
    await own.close();
  });

  test('that is any other text is not found, and nothing worse', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ maxLength: 300 }),
          fc.uint8Array({ maxLength: 120 }).map((bytes) => `off_${Buffer.from(bytes).toString('base64url')}`),
        ),
        async (id) => {
          const error = await provider.offer(id).catch((caught: unknown) => caught);
          expect(isProblem(error, 'offer_not_found')).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('of a flight that is about to leave is unavailable', async () => {
    const own = openSandbox();
    const offers = await own.provider.search(query('MAD', 'BCN', '2026-11-21'));
    const soonest = offers.reduce((a, b) => (a.departing_at < b.departing_at ? a : b));
    const departureMs = Date.parse(`${soonest.departing_at}Z`) - 3_600_000;
    const lastMs = Date.parse(soonest.expires_at) - 1;
    own.clock.set(Math.min(lastMs, departureMs));
    const outcome = await own.provider.offer(soonest.offer_id).catch((error: unknown) => error);
    const tooLate = departureMs - own.clock.now() < 45 * 60_000;
    expect(isProblem(outcome, 'offer_unavailable')).toBe(tooLate);
    await own.close();
  });
});
