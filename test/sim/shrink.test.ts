import { expect, test } from 'vitest';
import { createChance, type Schedule } from './world/chance.ts';
import { type Outcome, shrink } from './world/shrink.ts';

const ODDS = { breaks: 0.3 };
const PLACES = Array.from({ length: 60 }, (_, place) => `place ${place + 1}`);

/** A world that fails when two of its sixty places break. */
function worldOf(culprits: readonly string[]) {
  return async (schedule: Schedule): Promise<Outcome> => {
    const chance = createChance(schedule, () => 0);
    const broken = PLACES.filter((place) => chance.happens('place', place, ODDS) !== null);
    const violation = culprits.every((one) => broken.includes(one)) ? { rule: 'it holds', why: 'it does not' } : null;
    return { violation, story: [], changes: chance.changes, seen: new Map(), steps: 0, tookMs: 0, digest: '' };
  };
}

test('a failing schedule shrinks to what it takes, and a part of a schedule is the same part in any other', async () => {
  const whole = { seed: 3, only: null, noise: true };
  const chance = createChance(whole, () => 0);
  const broken = PLACES.filter((place) => chance.happens('place', place, ODDS) !== null);
  const [first = '', , , fourth = ''] = broken;
  expect(broken.length).toBeGreaterThan(8);
  const play = worldOf([first, fourth]);
  const { schedule, outcome } = await shrink(play, { schedule: whole, outcome: await play(whole) }, () => undefined);
  expect(outcome.changes.map(({ key }) => key)).toEqual([`place: ${first}`, `place: ${fourth}`]);
  expect(schedule.noise).toBe(false);
  expect((await play(schedule)).violation).toEqual({ rule: 'it holds', why: 'it does not' });
});
