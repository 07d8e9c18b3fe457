import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type SeatMap, seatsFault, seatsToBuy, type WantedSeat } from '../../../src/kernel/domain/seats.ts';

const CELLS = { flights: 2, rows: 3, letters: 'ABC', travellers: 3 };

const prices = fc.array(fc.option(fc.bigInt({ min: 0n, max: 10n ** 9n })), {
  minLength: CELLS.travellers,
  maxLength: CELLS.travellers,
});

/** Maps with a price for each seat and traveller, or none. */
const maps = fc
  .array(prices, { minLength: 18, maxLength: 18 })
  .map((given): SeatMap[] =>
    Array.from({ length: CELLS.flights }, (_, segment_index) => ({
      segment_index,
      cabins: [
        {
          deck: 0,
          cabin_class: 'economy',
          rows: Array.from({ length: CELLS.rows }, (_row, row) => [
            [...CELLS.letters].map((letter, at) => ({
              designator: `${row + 1}${letter}`,
              name: null,
              disclosures: [],
              sold: (given[segment_index * 9 + row * 3 + at] ?? []).flatMap((amount, passenger_index) =>
                amount === null ? [] : { passenger_index, amount, currency: 'USD' },
              ),
            })),
          ]),
        },
      ],
    })),
  );

const seats: fc.Arbitrary<WantedSeat[]> = fc.array(
  fc.record({
    passenger_index: fc.nat(CELLS.travellers),
    segment_index: fc.nat(CELLS.flights),
    designator: fc.constantFrom('1A', '2B', '3C', '4A', '1C'),
  }),
  { maxLength: 6 },
);

test('the price of chosen seats is the sum of theirs to the unit, and another seat never lowers it', () => {
  fc.assert(
    fc.property(maps, seats, (shown, wanted) => {
      const whole = seatsToBuy(shown, 'USD', wanted);
      expect(whole.bought.length + whole.missing.length).toBe(wanted.length);
      expect(whole.amount).toBe(whole.bought.reduce((sum, { sold }) => sum + sold.amount, 0n));
      for (const { wanted: one, sold } of whole.bought) expect(sold.passenger_index).toBe(one.passenger_index);
      expect(seatsToBuy(shown, 'USD', wanted.slice(1)).amount).toBeLessThanOrEqual(whole.amount);
      expect(seatsToBuy(shown, 'EUR', wanted).bought).toEqual([]);
    }),
  );
});

const ON = { travellers: 3, infants: [2], segments: 2 };

test.each([
  [
    [
      [0, 0, '1A'],
      [1, 0, '1B'],
      [0, 1, '1A'],
    ],
    null,
  ],
  [[[3, 0, '1A']], 'seats.0.passenger_index'],
  [[[0, 2, '1A']], 'seats.0.segment_index'],
  [
    [
      [0, 0, '1A'],
      [2, 0, '1B'],
    ],
    'seats.1.passenger_index',
  ],
  [
    [
      [0, 0, '1A'],
      [1, 0, '1A'],
    ],
    'seats.1.designator',
  ],
  [
    [
      [0, 0, '1A'],
      [0, 0, '1B'],
    ],
    'seats.1.passenger_index',
  ],
] as const)('of %j the first wrong field is %s', (given, path) => {
  const wanted = given.map(([passenger_index, segment_index, designator]) => ({
    ...{ passenger_index, segment_index, designator },
  }));
  expect(seatsFault(wanted, ON)?.path ?? null).toBe(path);
});
