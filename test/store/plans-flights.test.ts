import { afterAll, beforeAll, expect, test } from 'vitest';
import { endCards } from '../../src/airlines/browser/purchases.ts';
import { turnSwitch } from '../../src/flights/index.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { createSandboxCards } from '../../src/sandbox/carrier-site/cards.ts';
import { createReadings } from '../../src/service/readings.ts';
import type { Affiliate } from '../../src/wire/flights/index.ts';
import { openDesk } from '../flights/refund-desk.ts';
import { hearStatements } from './plans.ts';

/** Every statement of a service's life, held against what SQLite means to do for it. */

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

let statements: ReturnType<typeof hearStatements>;
let desk: Awaited<ReturnType<typeof openDesk>>;
beforeAll(async () => {
  statements = hearStatements();
  desk = await openDesk();
});
afterAll(async () => {
  await desk.world.close();
  statements.stop();
});

test('no statement of the service, its worker and its sweeps looks through a table that grows', async () => {
  const { world, ask, requested } = desk;
  statements.listen(true);
  const { body: affiliate } = await world.call<Affiliate>('/affiliates', { wallet: world.newWallet().address });
  const found = await world.call('/air/search-updates', { search_id: 'sch_none' });
  expect(found.status).toBe(404);
  // A journey that is booked and credited, one that fails, one that nobody books, one that is refunded by an operator.
  const flown = await world.intent('off_flown', { referrer: affiliate.code });
  await world.book(flown);
  await world.work();
  const failed = await world.intent('off_failed');
  await world.book(failed);
  world.airline.script.status = 'failed';
  await world.work();
  world.airline.script.status = 'ticketed';
  await world.intent('off_left');
  const refunded = await requested();
  expect((await ask('/refund-requests')).status).toBe(200);
  const claimed = await ask(`/refund-requests/${refunded.intent_id}/claim`, {});
  expect(claimed.status).toBe(200);
  const approved = await ask(`/refund-requests/${refunded.intent_id}/approve`, {});
  expect(approved.status, JSON.stringify(approved.body)).toBe(200);
  await world.work();
  expect((await world.show(refunded)).status).toBe('refunded');
  expect((await ask('/stuck')).status).toBe(200);
  for (const path of [
    'refund-requests?limit=1',
    ...['received', 'approved', 'stuck', 'refunded', 'rejected'].flatMap((status) => [
      `refund-requests?status=${status}`,
      `refund-requests?status=${status}&sort=journey`,
    ]),
    'refund-requests?sort=journey',
    'refund-requests?search=leg',
    'refund-requests?search=leg&status=refunded&sort=journey',
    'audit',
    'audit?subject=booking&limit=1',
    'keys',
    'switches',
  ])
    expect((await ask(`/${path}`)).status, path).toBe(200);
  await turnSwitch(world.store, 'booking', 'on');
  await world.paid(`/air/orders/${(await world.show(flown)).order_id}`, undefined, {
    headers: { 'X-Customer-Support-Code': flown.customer_support_code },
  });
  await world.call(`/affiliates/${affiliate.code}`);
  const readings = await createReadings({ ...world, log: silentLog, movedOn: async () => false })();
  expect(readings.filter(({ name, value }) => name === 'farelock_scrape_failed' && value === 1)).toEqual([]);
  for (const passMs of [45 * MINUTE_MS, DAY_MS, 8 * DAY_MS, 31 * DAY_MS, 60 * DAY_MS]) {
    world.clock.advance(passMs);
    await world.work();
    world.clock.advance(20 * MINUTE_MS);
    await world.worker.runDue();
    await world.outbox.drain();
  }
  // Of a tier that this world does not have.
  await endCards({ ...world, log: silentLog, settings: { cards: createSandboxCards() } });
  statements.listen(false);
  expect(await world.store.selectFrom('affiliate_payouts').select('state').execute()).toEqual([{ state: 'paid' }]);
  expect(statements.count()).toBeGreaterThan(100);
  expect(await statements.slow()).toEqual([]);
}, 120_000);
