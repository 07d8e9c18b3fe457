import fc from 'fast-check';
import { expect, test } from 'vitest';
import { groupByItinerary, sortOffers, withArrivals } from '../../../src/kernel/domain/offers.ts';
import { offers, sorts } from '../../flights/offer-samples.ts';

test('an answer with arrivals is the answer that all offers at once would have given, grouped or not', () => {
  fc.assert(
    fc.property(offers, fc.nat(), sorts, fc.boolean(), (all, cut, sort, grouped) => {
      const given = (some: typeof all) => {
        const sorted = sortOffers(some, sort);
        return grouped ? groupByItinerary(sorted) : sorted;
      };
      const at = all.length === 0 ? 0 : cut % all.length;
      const [early, late] = [all.slice(0, at), all.slice(at)];
      expect(withArrivals(given(early), late, { sort, grouped })).toEqual(given(all));
      // In portions, and grouped by the service before they came.
      const half = Math.floor(late.length / 2);
      const step = withArrivals(given(early), given(late.slice(0, half)), { sort, grouped });
      expect(withArrivals(step, given(late.slice(half)), { sort, grouped })).toEqual(given(all));
    }),
  );
});
