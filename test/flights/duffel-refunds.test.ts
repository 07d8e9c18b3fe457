import { afterAll, beforeAll, expect, test } from 'vitest';
import { chances, rounds, seedOr } from '../rounds.ts';
import { openStage } from './duffel-journeys.ts';
import { openRefunds, type Refunded, refundDisagreements, refundFaultOf } from './duffel-refunds.ts';

const REFUNDS = rounds(3, 200);
const SEED = seedOr(16);

let stage: Awaited<ReturnType<typeof openStage>>;
beforeAll(async () => {
  stage = await openStage(`refunds ${SEED}`);
});
afterAll(() => stage.close());

test(`${REFUNDS} refunds at an airline that fails: each is paid out once, and only of what was given back`, async () => {
  const chance = chances(SEED);
  const refund = await openRefunds(stage);
  const ends: Refunded[] = [];
  for (let at = 0; at < REFUNDS; at++) {
    const fault = refundFaultOf(at, chance);
    const ended = await refund(fault, at).catch((error: unknown) => {
      throw new Error(`seed ${SEED}, refund ${at}: ${JSON.stringify(fault)}`, { cause: error });
    });
    ends.push(ended);
  }
  const books = await stage.duffel.admin('/orders');
  const wrong = ends.flatMap((ended, at) => {
    const rules = refundDisagreements(ended, books);
    const told = { ...ended, wanted: `${ended.wanted}`, paidOut: `${ended.paidOut}` };
    return rules.length > 0 ? [{ seed: SEED, at, rules, ended: told }] : [];
  });
  expect(wrong).toEqual([]);
  expect(ends.some(({ died }) => died)).toBe(true);
}, 1_800_000);
