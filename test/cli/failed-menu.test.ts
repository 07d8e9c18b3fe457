import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Offer } from '../../src/wire/flights/index.ts';
import { runningClock } from '../flights/world.ts';
import { runInMemory, temporaryHome } from './memory.ts';

/** A fare menu whose look failed, from the customer's side: nothing was paid, and nothing says that it was. */

let place: ReturnType<typeof temporaryHome>;
beforeAll(() => {
  place = temporaryHome();
});
afterAll(() => place.close());

const clock = runningClock();
const run = (line: string) =>
  runInMemory(line.split(' '), {
    clock,
    environment: { FARELOCK_HOME: place.home, FARELOCK_LOWCOST_MS: '50', FARELOCK_SCENARIO: 'fare_check_failed' },
  });
const balance = async () => (await run('wallet balance --json')).json().usdc;

test('the menu says failed, no payment is shown, counted or missing, and the next look is refused unpaid', async () => {
  const found = await run('search LIS BER --depart 2026-12-20 --wait --json');
  const offer = (found.json().offers as Offer[]).find(({ offer_id: id }) => id.startsWith('lowcost:'));
  const before = await balance();
  const looked = await run(`offer ${offer?.offer_id} --json`);
  expect(looked.exitCode, looked.stdout + looked.stderr).toBe(0);
  expect(looked.json()).toMatchObject({ fare_menu: { status: 'failed', fares: [] } });
  expect(looked.json().payment ?? null).toBeNull();
  expect(await balance()).toBe(before);
  const listed = (await run('payments list --json')).json().payments as Record<string, unknown>[];
  expect(listed.find(({ resource }) => resource === 'POST /air/offer-details')).toMatchObject({
    state: 'refused',
    transaction: null,
  });
  const again = await run(`offer ${offer?.offer_id} --json`);
  expect(again.exitCode).toBe(5);
  expect(again.json().error).toMatchObject({ code: 'fare_check_failed' });
  expect(await balance()).toBe(before);
});
