import { afterAll, beforeAll, expect, test } from 'vitest';
import { chances, rounds, seedOr } from '../rounds.ts';
import { disagreements, type Ended, faultOf, openStage } from './duffel-journeys.ts';
import { AFTERS } from './duffel-returns.ts';

const JOURNEYS = rounds(9, 300);
const SEED = seedOr(15);

let stage: Awaited<ReturnType<typeof openStage>>;
beforeAll(async () => {
  stage = await openStage(`torture ${SEED}`);
});
afterAll(() => stage.close());

test(`${JOURNEYS} journeys through an airline that fails: no second order, no ticket without its money`, async () => {
  const chance = chances(SEED);
  const ends: Ended[] = [];
  for (let at = 0; at < JOURNEYS; at++) {
    const fault = faultOf(at, chance);
    const ended = await stage.journey(fault, at).catch((error: unknown) => {
      throw new Error(`seed ${SEED}, journey ${at}: ${JSON.stringify(fault)}`, { cause: error });
    });
    ends.push(ended);
  }
  const books = await stage.duffel.admin('/orders');
  const wrong = ends.flatMap((ended, at) => {
    const rules = disagreements(ended, books);
    return rules.length > 0 ? [{ seed: SEED, at, rules, ended: JSON.parse(told(ended)) }] : [];
  });
  expect(wrong).toEqual([]);
  // An order that nobody wanted would be as bad as a second one.
  const ours = new Set(ends.map(({ intentId }) => intentId));
  expect(books.orders.filter(({ reference }: { reference: string }) => !ours.has(reference))).toEqual([]);
  // Each way to end was taken.
  expect([...new Set(ends.map(({ state }) => state))].sort()).toEqual(['booked', 'refunded', 'stuck']);
  if (JOURNEYS >= 100) {
    const returned = new Set(ends.flatMap((ended) => ended.returned?.after ?? []));
    expect([...returned].sort()).toEqual(AFTERS.filter((after) => after !== 'flown').sort());
  }
}, 1_800_000);

const told = (ended: Ended): string =>
  JSON.stringify(ended, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
