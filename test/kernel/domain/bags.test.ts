import fc from 'fast-check';
import { expect, test } from 'vitest';
import { carriedOffers } from '../../../src/flights/offers/bags.ts';
import { type Bags, bagsToBuy, type SoldBag, type TravellerBags } from '../../../src/kernel/domain/bags.ts';
import { groupByItinerary, sortOffers } from '../../../src/kernel/domain/offers.ts';
import { parseUsdc } from '../../../src/kernel/money.ts';
import { anOffer } from '../../flights/offer-samples.ts';
import { rounds } from '../../rounds.ts';

const type = fc.constantFrom('checked' as const, 'carry_on' as const, null);
const sold: fc.Arbitrary<SoldBag> = fc.record({
  type,
  most: fc.integer({ min: 1, max: 3 }),
  amount: fc.bigInt({ min: 0n, max: 90_000_000n }),
  currency: fc.constantFrom('USD', 'EUR'),
});
const allowance = fc.option(fc.integer({ min: 0, max: 2 }));
const traveller: fc.Arbitrary<TravellerBags> = fc.record({
  included: fc.record({ checked: allowance, carry_on: allowance }),
  sold: fc.array(sold, { maxLength: 4 }),
});
const travellers = fc.array(traveller, { minLength: 1, maxLength: 3 });
const bags: fc.Arbitrary<Bags> = fc.record({
  checked: fc.integer({ min: 0, max: 5 }),
  carry_on: fc.integer({ min: 0, max: 1 }),
});
const runs = { numRuns: rounds(300, 20_000) };

const atMost = (less: bigint | null | undefined, more: bigint | null | undefined): boolean =>
  more == null || (less != null && less <= more);

test('one more bag never lowers a price, nor one more traveller, and an unknown price stays unknown', () => {
  const price = (of: readonly TravellerBags[], wanted: Bags) => bagsToBuy(of, 'USD', wanted)?.amount;
  fc.assert(
    fc.property(travellers, traveller, bags, (of, other, wanted) => {
      const now = price(of, wanted);
      expect(atMost(now, price(of, { ...wanted, checked: wanted.checked + 1 }))).toBe(true);
      expect(atMost(now, price(of, { ...wanted, carry_on: wanted.carry_on + 1 }))).toBe(true);
      expect(atMost(now, price([...of, other], wanted))).toBe(true);
    }),
    runs,
  );
});

test('every traveller gets the bags asked for, no kind beyond its limit, at the sum of what is bought', () => {
  fc.assert(
    fc.property(traveller, bags, (one, wanted) => {
      const found = bagsToBuy([one], 'USD', wanted);
      if (!found) return;
      for (const kind of ['checked', 'carry_on'] as const) {
        const bought = found.bought.filter(({ bag }) => bag.type === kind);
        const have = (one.included[kind] ?? 0) + bought.reduce((sum, { quantity }) => sum + quantity, 0);
        expect(have).toBeGreaterThanOrEqual(wanted[kind]);
        expect(bought.every(({ bag, quantity }) => quantity <= bag.most && bag.currency === 'USD')).toBe(true);
      }
      expect(found.amount).toBe(
        found.bought.reduce((sum, { bag, quantity }) => sum + bag.amount * BigInt(quantity), 0n),
      );
    }),
    runs,
  );
});

const priced = fc.record({
  id: fc.uuid(),
  key: fc.constantFrom('a', 'b', 'c'),
  cents: fc.integer({ min: 1_000, max: 90_000 }),
  currency: fc.constantFrom('USD', 'USD', 'EUR'),
  bags: allowance,
});

test('a list ranks by fare plus bags, unknown prices last, and each total is the fare and its bags', async () => {
  const wanted = { checked: 1, carry_on: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(priced, { selector: ({ id }) => id }),
      fc.array(sold),
      async (samples, services) => {
        const offers = samples.map((sample) => ({ ...anOffer(sample), carry_on_bags_included: 0 }));
        const known = new Map(
          offers
            .filter(({ comparison_key: key }) => key !== 'c')
            .map((offer) => [
              offer.offer_id,
              [{ included: { checked: offer.checked_bags_included, carry_on: 0 }, sold: services }],
            ]),
        );
        const carried = await carriedOffers({ bagsOf: async () => known }, offers, wanted);
        for (const { with_bags: price, total_amount_decimal: fare } of carried) {
          if (price?.way === 'unknown') expect(price.total_amount).toBeNull();
          else
            expect(BigInt(price?.total_amount ?? -1)).toBe(
              parseUsdc(fare) + parseUsdc(price?.bags_amount_decimal ?? ''),
            );
        }
        const dollars = sortOffers(carried, 'price').filter(({ total_currency }) => total_currency === 'USD');
        const totals = dollars.map(({ with_bags }) => with_bags?.total_amount ?? Number.POSITIVE_INFINITY);
        expect(totals).toEqual(totals.toSorted((a, b) => a - b));
        for (const entry of groupByItinerary(dollars)) {
          const all = dollars.filter(({ comparison_key }) => comparison_key === entry.comparison_key);
          const least = Math.min(...all.map(({ with_bags }) => with_bags?.total_amount ?? Number.POSITIVE_INFINITY));
          expect(entry.with_bags?.total_amount ?? Number.POSITIVE_INFINITY).toBe(least);
        }
      },
    ),
    runs,
  );
});
