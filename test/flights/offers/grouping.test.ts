import fc from 'fast-check';
import { expect, test } from 'vitest';
import { filterOffers } from '../../../src/kernel/domain/offer-filters.ts';
import { byPrice, groupByItinerary, sortOffers } from '../../../src/kernel/domain/offers.ts';
import { offer as offerSchema } from '../../../src/wire/flights/offers.ts';
import { anOffer, offers, sorts } from '../offer-samples.ts';

test('one entry per itinerary: its first offer in the order given, itineraries in order of appearance', () => {
  fc.assert(
    fc.property(offers, sorts, (given, sort) => {
      const sorted = sortOffers(given, sort);
      const grouped = groupByItinerary(sorted);
      const firsts = sorted.filter(
        (offer, i) => sorted.findIndex((other) => other.comparison_key === offer.comparison_key) === i,
      );
      expect(grouped.map(({ fare_options: _options, fare_options_count: _count, ...offer }) => offer)).toEqual(firsts);
    }),
  );
});

test('fare_options are lossless: every offer is in exactly one entry, cheapest first, nothing invented', () => {
  fc.assert(
    fc.property(offers, (given) => {
      const grouped = groupByItinerary(given);
      const options = grouped.flatMap((entry) => entry.fare_options ?? []);
      expect(options.map((one) => one.offer_id).sort()).toEqual(given.map((offer) => offer.offer_id).sort());
      for (const entry of grouped) {
        expect(entry.fare_options_count).toBe(entry.fare_options?.length);
        const same = given.filter((offer) => offer.comparison_key === entry.comparison_key).sort(byPrice);
        expect(entry.fare_options).toEqual(
          same.map((offer) => ({
            offer_id: offer.offer_id,
            owner_name: offer.owner_name,
            fare_brand_name: offer.fare_brand_name,
            total_amount_decimal: offer.total_amount_decimal,
            total_currency: offer.total_currency,
            refundable: offer.conditions?.refund_allowed ?? null,
            refund_penalty_amount: offer.conditions?.refund_penalty_amount ?? null,
            refund_penalty_currency: offer.conditions?.refund_penalty_currency ?? null,
            changeable: offer.conditions?.change_allowed ?? null,
            change_penalty_amount: offer.conditions?.change_penalty_amount ?? null,
            change_penalty_currency: offer.conditions?.change_penalty_currency ?? null,
            checked_bags_included: offer.checked_bags_included,
          })),
        );
        expect(offerSchema.safeParse(entry).success).toBe(true);
      }
    }),
  );
});

test('undisclosed conditions stay unknown, free stays free', () => {
  const silent = anOffer({ id: 'a', conditions: null, bags: null });
  const [entry] = groupByItinerary([silent]);
  expect(entry?.fare_options?.[0]).toMatchObject({ refundable: null, changeable: null, checked_bags_included: null });
  const free = anOffer({ id: 'b', cents: 1 });
  expect(groupByItinerary([free])[0]?.fare_options?.[0]).toMatchObject({
    changeable: true,
    change_penalty_amount: '0',
  });
});

test('the dearer fares of an itinerary do not push another itinerary over the limit', () => {
  const many = Array.from({ length: 10 }, (_, i) => anOffer({ id: `a${i}`, key: 'A', cents: 1000 + i }));
  const other = anOffer({ id: 'b', key: 'B', cents: 9000 });
  const sorted = sortOffers([...many, other], 'price');
  expect(sorted.slice(0, 2).map((offer) => offer.comparison_key)).toEqual(['A', 'A']);
  expect(
    groupByItinerary(sorted)
      .slice(0, 2)
      .map((offer) => offer.comparison_key),
  ).toEqual(['A', 'B']);
});

test('a filter comes before the grouping: what it drops is in no fare_options', () => {
  const all = [anOffer({ id: 'a', cents: 10_000 }), anOffer({ id: 'b', cents: 30_000 })];
  const grouped = groupByItinerary(sortOffers(filterOffers(all, { max_price: 200 }).passed, 'price'));
  expect(grouped[0]?.fare_options?.map((one) => one.offer_id)).toEqual(['a']);
});
