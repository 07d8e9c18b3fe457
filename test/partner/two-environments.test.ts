import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore, type Store } from '../../src/service/home.ts';
import { ANA, openStack, type Stack } from './stack.ts';

/** Demo and live on one database: neither takes up the other's work, nor keeps looking because of it. */

let stack: Stack;
let store: Store;

beforeAll(async () => {
  stack = await openStack();
  store = await openStore(join(stack.home, 'service.db'));
});
afterAll(async () => {
  await store.destroy();
  await stack.close();
});

/** An order whose creation is open, an attestation that runs, and the platform's script: all due since long. */
async function layWork(environment: 'demo' | 'live'): Promise<void> {
  await store.updateTable('customers').set({ environment }).where('customer_id', '=', ANA).execute();
  await store
    .updateTable('partner_orders')
    .set({ environment, creation: 'creating', due_at_ms: 1, lease_until_ms: 0 })
    .where('order_id', '=', 'rmp_demo_waiting')
    .execute();
  await store.deleteFrom('attestation_runs').where('customer_id', '=', ANA).execute();
  await store
    .insertInto('attestation_runs')
    .values({
      attestation_id: 'att_due',
      customer_id: ANA,
      type: 'AML_CHECK',
      input_key: 'dat_gone',
      rank: 1,
      state: 'running',
      live_key: 'one',
      due_at_ms: 1,
      lease_until_ms: 0,
      attempts: 0,
      started_at_ms: 1,
      finished_at_ms: null,
      decided_by: null,
    })
    .execute();
  await store
    .insertInto('meta')
    .values({ key: 'sandbox_platform_due_ms', value: '1' })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: '1' }))
    .execute();
}
const untouched = async () => ({
  orders: await store
    .selectFrom('partner_orders')
    .select(['attempts', 'due_at_ms'])
    .where('order_id', '=', 'rmp_demo_waiting')
    .execute(),
  runs: await store
    .selectFrom('attestation_runs')
    .select(['fence', 'lease_until_ms'])
    .where('attestation_id', '=', 'att_due')
    .execute(),
});
const LEFT = { orders: [{ attempts: 0, due_at_ms: 1 }], runs: [{ fence: 0, lease_until_ms: 0 }] };

test('work of the demo is not due in live, and stays as it is', async () => {
  await layWork('demo');
  const live = await stack.open({ partnerEnvironment: 'live' });
  await live.worker.runDue();
  const { nextDueAtMs } = await live.worker.runDue();
  expect(nextDueAtMs === null || nextDueAtMs > stack.clock.now()).toBe(true);
  expect(await untouched()).toEqual(LEFT);
  await live.close();
});

test('work of live is not due in the demo, and is not attested by its sandbox', async () => {
  await layWork('live');
  await store.deleteFrom('meta').where('key', '=', 'sandbox_platform_due_ms').execute();
  await stack.service.worker.runDue();
  const { nextDueAtMs } = await stack.service.worker.runDue();
  expect(nextDueAtMs === null || nextDueAtMs > stack.clock.now()).toBe(true);
  expect(await untouched()).toEqual(LEFT);
});

test('the demo takes up its own', async () => {
  await layWork('demo');
  await stack.service.worker.runDue();
  // Its data is gone: there is nothing to attest, and the run with it.
  expect(await untouched()).toMatchObject({ orders: [{ attempts: 1 }], runs: [] });
});
