import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createAttempts } from '../../../../src/flights/providers/duffel/attempts.ts';
import { openStore } from '../../../../src/service-database.ts';
import { goodOrder } from './samples.ts';
import { type DuffelWorld, duffelWorld, isOrderPost, REQUEST, withOffer } from './world.ts';

/** At most one order a reference: over crashes, over processes, over whoever asks at once. */

const home = mkdtempSync(join(tmpdir(), 'farelock-duffel-'));
let world: DuffelWorld;
beforeAll(async () => {
  world = await duffelWorld(join(home, 'service.db'));
});
afterAll(async () => {
  await world.close();
  rmSync(home, { recursive: true });
});
beforeEach(() => world.reset());

const posts = () => world.times('POST', /^\/air\/orders$/);
const made = withOffer((asked) =>
  isOrderPost(asked)
    ? { status: 201, body: { data: goodOrder('int_1') } }
    : asked.path === '/air/orders/ord_1'
      ? { body: { data: goodOrder('int_1') } }
      : undefined,
);

test('the attempt is on the disk, without a verdict, when the order is asked for', async () => {
  const seen: unknown[] = [];
  world.script.answer = async (asked) => {
    if (isOrderPost(asked)) {
      const other = await openStore(join(home, 'service.db'));
      seen.push(await other.selectFrom('duffel_attempts').selectAll().executeTakeFirst());
      await other.destroy();
    }
    return made(asked);
  };
  await world.provider.createOrder(REQUEST);
  expect(seen).toMatchObject([{ reference: 'int_1', attempt: 1, verdict: 'open', offer_id: 'off_1' }]);
});

test('killed between the record and the order: nobody can tell it from a lost answer, and nothing is sent', async () => {
  world.script.answer = made;
  const crashed = createAttempts(world);
  await crashed.begin({ reference: 'int_1', attempt: 1, offerId: 'off_1', offerRequestId: null });
  for (let i = 0; i < 3; i++) expect(await world.provider.findOrder('int_1')).toBe('unknown');
  await expect(world.provider.createOrder(REQUEST)).rejects.toMatchObject({ code: 'provider_failed' });
  expect(posts()).toBe(0);
});

test('killed before the record: certain that there is none', async () => {
  world.script.answer = withOffer();
  expect(await world.provider.findOrder('int_1')).toBeNull();
  expect(world.asked).toEqual([]);
});

test('killed after the answer and before the verdict: found by offer and reference', async () => {
  world.script.answer = withOffer(({ method, path }) =>
    method === 'GET' && path === '/air/orders'
      ? { body: { data: [goodOrder('int_1')], meta: { after: null } } }
      : undefined,
  );
  await createAttempts(world).begin({
    reference: 'int_1',
    attempt: 1,
    offerId: 'off_1',
    offerRequestId: null,
  });
  expect(await world.provider.findOrder('int_1')).toMatchObject({ providerOrderId: 'ord_1' });
  expect(await world.attempts()).toMatchObject([{ verdict: 'ordered', order_id: 'ord_1' }]);
});

test('two processes and many callers at once on one reference: one order', async () => {
  world.script.answer = made;
  const store = await openStore(join(home, 'service.db'));
  const processes = [world.provider, world.another(), world.another({ store })];
  const asks = Array.from({ length: 12 }, async (_, index) => {
    const provider = processes[index % processes.length] ?? world.provider;
    return provider.createOrder(REQUEST);
  });
  const results = await Promise.allSettled(asks);
  await store.destroy();
  expect(posts()).toBe(1);
  expect(results.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
  for (const result of results) {
    if (result.status === 'rejected')
      expect(result.reason).toMatchObject({ code: expect.stringMatching(/provider_failed|storage_locked/) });
    else expect(result.value.providerOrderId).toBe('ord_1');
  }
  expect(await world.provider.findOrder('int_1')).toMatchObject({ providerOrderId: 'ord_1' });
});

test('many references at once on one offer: one order', async () => {
  world.script.answer = made;
  const asks = Array.from({ length: 8 }, (_, index) =>
    world.another().createOrder({ ...REQUEST, reference: `int_${index + 1}` }),
  );
  const results = await Promise.allSettled(asks);
  expect(posts()).toBe(1);
  expect(results.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1);
  expect((await world.attempts()).filter(({ verdict }) => verdict !== 'none')).toHaveLength(1);
});

test('what is known for certain is not taken back, and an order that is seen comes before everything', async () => {
  const attempts = createAttempts(world);
  const row = await attempts.begin({
    reference: 'int_1',
    attempt: 1,
    offerId: 'off_1',
    offerRequestId: null,
  });
  if (!row) throw new Error('not begun');
  expect(
    await attempts.begin({ reference: 'int_1', attempt: 1, offerId: 'off_3', offerRequestId: null }),
  ).toBeNull();
  expect(
    await attempts.begin({ reference: 'int_2', attempt: 1, offerId: 'off_1', offerRequestId: null }),
  ).toBeNull();
  await attempts.endInNone(row, { code: 'first' });
  await attempts.note(row, { code: 'second' });
  expect(await attempts.of('int_1')).toMatchObject([{ verdict: 'none', code: 'first', live_key: null }]);
  await attempts.endInOrder(row, 'ord_1', {});
  await attempts.endInNone(row, { code: 'third' });
  expect(await attempts.of('int_1')).toMatchObject([
    { verdict: 'ordered', code: 'first', order_id: 'ord_1' },
  ]);
});
