import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  companionFault,
  type Part,
  partRuleOf,
  type Share,
  sharesOf,
  stakeOf,
} from '../../../src/kernel/domain/part-refunds.ts';
import { partSubject, subjectParts, subjectsOf, travellersNamed } from '../../../src/kernel/domain/payout-names.ts';
import { refundRuleOf } from '../../../src/kernel/domain/refund-rule.ts';

const TYPES = ['adult', 'youth', 'child', 'infant'] as const;
const cents = fc.integer({ min: 0, max: 5_000_000 });

/** A booking: its travellers, what each pays of the fare (undefined: adults alone, alike), bags, and the penalty. */
const booking = fc.record({
  types: fc.array(fc.constantFrom(...TYPES), { minLength: 1, maxLength: 9 }),
  fares: fc.option(fc.array(cents, { minLength: 9, maxLength: 9 }), { nil: undefined }),
  bags: cents,
  odd: fc.constantFrom(0, 0, 1, 9_999),
  penalty: fc.option(cents, { nil: null }),
  /** Of each fare, beyond whole cents. */
  uneven: fc.constantFrom(0, 0, 3_333),
  order: fc.infiniteStream(fc.nat()),
});

test('any sequence of refunds of some ends to the unit: the last one gives the remainder, and none is above its share', () => {
  fc.assert(
    fc.property(booking, ({ types: given, fares: perSeat, bags, odd, penalty, uneven, order }) => {
      const types = perSeat ? given : given.map(() => 'adult' as const);
      const fares = perSeat && types.map((_, index) => BigInt(perSeat[index] ?? 0) * 10_000n + BigInt(uneven));
      const isSeated = types.some((type) => type !== 'infant');
      const sum = (fares ?? []).reduce((all, one) => all + one, 0n);
      const toCents = (10_000n - (sum % 10_000n)) % 10_000n;
      const price = sum + (isSeated ? toCents + BigInt(bags) * 10_000n + BigInt(odd) : 0n);
      const isInCents = price % 10_000n === 0n;
      const shares = sharesOf(price, types, fares) as Share[];
      expect(shares.reduce((sum, { amount }) => sum + BigInt(amount), 0n)).toBe(price);
      const fare = {
        total_currency: 'USD',
        conditions: {
          refund_allowed: true,
          refund_penalty_amount: penalty === null ? null : (penalty / 100).toFixed(2),
          refund_penalty_currency: 'USD',
        },
      };
      const whole = refundRuleOf(fare, price);
      const left = [...shares];
      let [paid, kept] = [0n, 0n];
      for (const number of order) {
        const most = 1 + (number % left.length);
        const of = Array.from({ length: most }, () => left.splice(number % left.length, 1)[0] as Share);
        const part: Part = { ends: left.length === 0, of };
        const rule = partRuleOf(part, fare, price);
        expect(rule.kind).toBe(whole.kind);
        if (rule.payout !== null && rule.penalty !== null) {
          expect(rule.payout).toBeGreaterThanOrEqual(0n);
          expect(rule.penalty).toBeGreaterThanOrEqual(0n);
          expect(rule.payout + rule.penalty).toBe(stakeOf(part, price));
          if (isInCents) expect(rule.payout % 10_000n).toBe(0n);
          [paid, kept] = [paid + rule.payout, kept + rule.penalty];
          expect(paid + kept).toBeLessThanOrEqual(price);
        } else expect(whole.payout).toBeNull();
        if (part.ends) break;
      }
      if (whole.payout !== null) expect([paid, kept]).toEqual([whole.payout, whole.penalty]);
    }),
    { numRuns: 300 },
  );
});

test('bags are shared by those with a seat; a fare that its seller does not tell has no shares', () => {
  expect(sharesOf(250n, ['adult', 'child', 'infant'], [100n, 75n, 10n])?.map(({ amount }) => amount)).toEqual([
    132, 108, 10,
  ]);
  // A seat that one has chosen is its own.
  expect(sharesOf(130n, ['adult', 'adult'], undefined, [30n, 0n])?.map(({ amount }) => amount)).toEqual([80, 50]);
  expect(sharesOf(100n, ['adult', 'adult', 'adult'], undefined)?.map(({ amount }) => amount)).toEqual([33, 33, 34]);
  const price = 100_000_000n;
  expect(sharesOf(price, ['adult', 'adult', 'adult'], undefined)?.map(({ amount }) => amount)).toEqual([
    33_330_000, 33_330_000, 33_340_000,
  ]);
  expect(sharesOf(250n, ['adult', 'child'], [100n, null])).toBeNull();
  expect(sharesOf(100n, ['adult', 'child'], [100n, 75n])).toBeNull();
});

test('an infant needs a lap, a child somebody of age, and others fly as they like', () => {
  expect(companionFault([])).toBeNull();
  expect(companionFault([40, 40, 8, 1])).toBeNull();
  expect(companionFault([13])).toBeNull();
  expect(companionFault([40, 1, 0])).toMatch(/lap/);
  expect(companionFault([17, 8])).toMatch(/under 12/);
});

test('the name of a refund is the same for the same travellers, and tells them', () => {
  expect(partSubject('int_1', [3, 1])).toBe('int_1:1,3');
  expect(subjectParts('int_1:1,3')).toEqual({ intentId: 'int_1', passengers: [1, 3] });
  expect(subjectParts('int_1')).toEqual({ intentId: 'int_1', passengers: null });
  expect(subjectsOf('int_1', 1)).toEqual(['int_1']);
  expect(new Set(subjectsOf('int_1', 3))).toEqual(
    new Set(['int_1', 'int_1:1', 'int_1:2', 'int_1:3', 'int_1:1,2', 'int_1:1,3', 'int_1:2,3']),
  );
  expect(travellersNamed([3])).toBe('traveller 3');
  expect(travellersNamed([1, 2, 3])).toBe('travellers 1, 2 and 3');
});
