import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { airlineKnown } from '../../../src/kernel/domain/airline-table.ts';
import { filterOffers as filtered, type OfferFilters } from '../../../src/kernel/domain/offer-filters.ts';
import { byPrice, minutesOf, sortOffers } from '../../../src/kernel/domain/offers.ts';
import type { Conditions, Offer } from '../../../src/wire/flights/index.ts';
import { anOffer, offers, sorts } from '../offer-samples.ts';

const filterOffers = (all: readonly Offer[], asked: OfferFilters) => filtered(all, asked).passed;

describe('filters', () => {
  test('max_stops holds for every direction, and technical stops are not stops', () => {
    const direct = anOffer({ stops: [0, 0], technicalStops: 2 });
    const oneBack = anOffer({ stops: [0, 1] });
    expect(filterOffers([direct, oneBack], { max_stops: 0 })).toEqual([direct]);
    expect(filterOffers([direct, oneBack], { max_stops: 1 })).toEqual([direct, oneBack]);
  });

  test('departure_after and departure_before are inclusive and about the outbound departure', () => {
    const at = (time: string) => anOffer({ departingAt: `2026-12-20T${time}:00` });
    const all = [at('06:00'), at('09:30'), at('21:15')];
    expect(filterOffers(all, { departure_after: '09:30' })).toEqual([all[1], all[2]]);
    expect(filterOffers(all, { departure_before: '09:30' })).toEqual([all[0], all[1]]);
    expect(filterOffers(all, { departure_after: '09:30', departure_before: '09:30' })).toEqual([all[1]]);
    const back = anOffer({ departingAt: '2026-12-20T09:00:00', stops: [0, 0], returningAt: '2026-12-27T23:00:00' });
    expect(filterOffers([back], { departure_before: '10:00' })).toEqual([back]);
  });

  test('max_price is inclusive, exact to the cent, a number or a decimal string, in dollars', () => {
    const price = (cents: number, currency = 'USD') => anOffer({ cents, currency });
    const all = [price(19_999), price(20_000), price(20_001), price(100, 'EUR')];
    expect(filterOffers(all, { max_price: 200 })).toEqual([all[0], all[1]]);
    expect(filterOffers(all, { max_price: '200.00' })).toEqual([all[0], all[1]]);
    expect(filterOffers(all, { max_price: 199.99 })).toEqual([all[0]]);
    expect(filterOffers(all, { max_price: '200.01' })).toEqual([all[0], all[1], all[2]]);
  });

  test('each other filter keeps what it is about; the undisclosed is hidden too, and counted apart', () => {
    const refund = (refund_allowed: boolean | null) => ({ ...anOffer().conditions, refund_allowed }) as Conditions;
    const brand = (name: string | null, sold = 'E0100', owner = 'Wayloft') => {
      const offer = anOffer();
      const [slice] = offer.slices;
      const segment = { ...slice?.segments[0], flight_number: sold, operating_flight_number: null };
      return {
        ...offer,
        owner_name: owner,
        slices: [{ ...slice, fare_brand_name: name, segments: [segment] }],
      } as Offer;
    };
    const arriving = (arriving_at: string): Offer => ({ ...anOffer(), arriving_at });
    const cases: [OfferFilters, kept: Offer[], hidden: Offer[], unknown: Offer[]][] = [
      [{ max_duration: 'PT4H' }, [anOffer({ minutes: 240 })], [anOffer({ minutes: 241 })], []],
      [{ max_duration: 'PT4H' }, [], [anOffer({ minutes: 60, stops: [0, 0], minutesBack: 241 })], []],
      [{ airlines: ['E0', 'L1'] }, [anOffer()], [brand('Any', 'Q1100')], [brand('Any', '1100')]],
      [{ not_airlines: ['E0'] }, [brand('Any', 'Q1100')], [anOffer()], [brand('Any', '1100')]],
      [{ alliance: 'star' }, [anOffer()], [brand('Any', 'H0100')], [brand('Any', '1100')]],
      [
        { no_basic: true },
        [brand('Classic'), brand('Go Bag', 'K1100'), brand('Standard', 'B5100'), brand('Basic', 'K0100')],
        [brand('Discount'), brand('Business Discount'), brand('Light', 'SN1'), brand('Value', 'K0100')],
        [brand(null)],
      ],
      // The brand is the seller's where an airline sells the flight of another one.
      [{ no_basic: true }, [brand('Light', 'L1100', 'Lusavia')], [brand('Discount', 'L1100', 'Lusavia')], []],
      [
        { refundable: true },
        [anOffer({ conditions: refund(true) })],
        [anOffer({ conditions: refund(false) })],
        [anOffer({ conditions: refund(null) }), anOffer({ conditions: null })],
      ],
      [{ with_bag: true }, [anOffer({ bags: 2 })], [anOffer({ bags: 0 })], [anOffer({ bags: null })]],
      [
        { arrival_before: '18:00' },
        [arriving('2026-12-20T18:00:00')],
        [arriving('2026-12-20T18:05:00'), arriving('2026-12-21T06:00:00')],
        [],
      ],
      [
        { arrival_after: '06:00+1', arrival_before: '09:30+1' },
        [arriving('2026-12-21T06:00:00'), arriving('2026-12-21T09:30:00')],
        [arriving('2026-12-20T09:00:00'), arriving('2026-12-22T07:00:00')],
        [],
      ],
      [{ refundable: false, no_basic: false }, [anOffer({ conditions: null })], [], []],
    ];
    for (const [asked, kept, hidden, unknown] of cases) {
      const found = filtered([...unknown, ...hidden, ...kept], asked, airlineKnown);
      expect(found.passed, JSON.stringify(asked)).toEqual(kept);
      expect(found.hidden.reduce((sum, { count }) => sum + count, 0)).toBe(hidden.length);
      expect(found.hidden.reduce((sum, one) => sum + one.unknown, 0)).toBe(unknown.length);
    }
  });

  test('keep the order, invent nothing, and keep all without a filter', () => {
    const filters: fc.Arbitrary<OfferFilters> = fc.record(
      {
        max_stops: fc.integer({ min: 0, max: 3 }),
        departure_after: fc.constantFrom('00:00', '08:00', '12:30'),
        departure_before: fc.constantFrom('09:00', '18:45', '23:59'),
        max_price: fc.constantFrom(50, 120.5, '400.00'),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(offers, filters, (given, asked) => {
        const kept = filterOffers(given, asked);
        expect(given.filter((offer) => kept.includes(offer))).toEqual(kept);
        expect(filterOffers(kept, asked)).toEqual(kept);
        expect(filterOffers(given, {})).toEqual(given);
        for (const offer of kept) {
          const time = offer.departing_at.slice(11, 16);
          if (asked.departure_after) expect(time >= asked.departure_after).toBe(true);
          if (asked.departure_before) expect(time <= asked.departure_before).toBe(true);
          for (const { stops } of offer.slices) expect(stops).toBeLessThanOrEqual(asked.max_stops ?? 99);
        }
      }),
    );
  });
});

describe('sorting', () => {
  test('is ascending, unknown last, ties by price then id', () => {
    const a = anOffer({ id: 'a', cents: 300, emissions: null, minutes: 100 });
    const b = anOffer({ id: 'b', cents: 200, emissions: 90, minutes: 100 });
    const c = anOffer({ id: 'c', cents: 200, emissions: 80, minutes: 200 });
    const euro = anOffer({ id: 'e', cents: 1, currency: 'EUR', emissions: 80, minutes: 300 });
    const ids = (sort: 'price' | 'duration' | 'emissions') =>
      sortOffers([euro, a, c, b], sort)
        .map((offer) => offer.offer_id)
        .join('');
    expect(ids('price')).toBe('bcae');
    expect(ids('duration')).toBe('bace');
    expect(ids('emissions')).toBe('ceba');
  });

  test('by duration counts both directions', () => {
    const shortOut = anOffer({ id: 'x', minutes: 60, stops: [0, 0], minutesBack: 300 });
    const shortAll = anOffer({ id: 'y', minutes: 90, stops: [0, 0], minutesBack: 90 });
    expect(sortOffers([shortOut, shortAll], 'duration')).toEqual([shortAll, shortOut]);
  });

  test('is a total order: it loses nothing, and the order given does not matter', () => {
    fc.assert(
      fc.property(offers, sorts, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (given, sort, dice) => {
        const sorted = sortOffers(given, sort);
        const shuffled = given
          .map((offer) => ({ offer, place: dice.next().value ?? 0 }))
          .sort((a, b) => a.place - b.place)
          .map(({ offer }) => offer);
        expect(sortOffers(shuffled, sort)).toEqual(sorted);
        expect([...sorted].sort(byPrice)).toEqual([...given].sort(byPrice));
        for (let i = 1; i < sorted.length; i++) {
          const [a, b] = [sorted[i - 1], sorted[i]];
          if (!a || !b) continue;
          if (sort === 'duration') expect(total(a)).toBeLessThanOrEqual(total(b));
          if (sort === 'departure') expect(a.departing_at <= b.departing_at).toBe(true);
          if (sort === 'emissions' && a.total_emissions_kg === null) expect(b.total_emissions_kg).toBeNull();
        }
      }),
    );
  });
});

const total = (offer: { slices: readonly { duration: string }[] }) =>
  offer.slices.reduce((sum, slice) => sum + minutesOf(slice.duration), 0);
