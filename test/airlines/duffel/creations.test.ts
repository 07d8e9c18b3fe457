import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createAttempts } from '../../../src/airlines/duffel/creations.ts';
import { openStore } from '../../../src/service/home.ts';
import { migratedFile } from '../../service/migrated.ts';
import { goodOffer, goodOrder, refusal } from './samples.ts';
import { type DuffelWorld, duffelWorld, isOrderPost, REQUEST, withOffer } from './world.ts';

/** At most one order a reference: over crashes, over processes, over whoever asks at once. */

const home = mkdtempSync(join(tmpdir(), 'farelock-duffel-'));
let world: DuffelWorld;
beforeAll(async () => {
  world = await duffelWorld(await migratedFile(home));
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
  await crashed.begin({ reference: 'int_1', attempt: 1, offerId: 'off_1', searchKey: 'pas_0' });
  for (let i = 0; i < 3; i++) expect(await world.provider.findOrder('int_1', 'off_1')).toBe('unknown');
  await expect(world.provider.createOrder(REQUEST)).rejects.toMatchObject({ code: 'provider_failed' });
  expect(posts()).toBe(0);
});

test('killed before the record: none is on record, and none is listed', async () => {
  world.script.answer = withOffer();
  expect(await world.provider.findOrder('int_1', 'off_1')).toBeNull();
  expect(world.asked.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /air/orders']);
});

test('killed after the answer and before the verdict: found by offer and reference', async () => {
  world.script.answer = withOffer(({ method, path }) =>
    method === 'GET' && path === '/air/orders'
      ? { body: { data: [goodOrder('int_1')], meta: { after: null } } }
      : undefined,
  );
  await createAttempts(world).begin({ reference: 'int_1', attempt: 1, offerId: 'off_1', searchKey: 'pas_0' });
  expect(await world.provider.findOrder('int_1', 'off_1')).toMatchObject({ providerOrderId: 'ord_1' });
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
  expect(await world.provider.findOrder('int_1', 'off_1')).toMatchObject({ providerOrderId: 'ord_1' });
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
  const row = await attempts.begin({ reference: 'int_1', attempt: 1, offerId: 'off_1', searchKey: 'pas_0' });
  if (!row) throw new Error('not begun');
  expect(await attempts.begin({ reference: 'int_1', attempt: 1, offerId: 'off_3', searchKey: 'pas_3' })).toBeNull();
  expect(await attempts.begin({ reference: 'int_2', attempt: 1, offerId: 'off_2', searchKey: 'pas_0' })).toBeNull();
  await attempts.endInNone(row, { code: 'first' });
  await attempts.note(row, { code: 'second' });
  expect(await attempts.of('int_1')).toMatchObject([{ verdict: 'none', code: 'first', live_key: null }]);
  await attempts.endInOrder(row, 'ord_1', {});
  await attempts.endInNone(row, { code: 'third' });
  expect(await attempts.of('int_1')).toMatchObject([{ verdict: 'ordered', code: 'first', order_id: 'ord_1' }]);
});

/** A store whose process is dead from the given statement on: each has two moments, before it and after it. */
function mortalStore(diesAt: number) {
  let moments = 0;
  const pass = () => {
    if (++moments >= diesAt) throw new Error('the process is dead');
  };
  return world.store.withPlugin({
    transformQuery({ node }) {
      pass();
      return node;
    },
    async transformResult({ result }) {
      pass();
      return result;
    },
  });
}

test.each([
  ['an order', 201],
  ['an answer that is lost', 0],
  ['a refusal that is certain', 503],
  ['a refusal that is not', 500],
])('%s, killed before and after every statement: at most one order, and never a wrong word', async (_, status) => {
  const made: string[] = [];
  let isOver = false;
  for (let diesAt = 1; !isOver; diesAt++) {
    const reference = `int_${diesAt}`;
    const offerId = `off_${diesAt}`;
    const request = { ...REQUEST, reference, offerId };
    const told = { status, body: { data: goodOrder(reference, { id: `ord_${diesAt}`, offer_id: offerId }) } };
    world.script.answer = (asked) => {
      if (isOrderPost(asked)) {
        if (status === 201 || status === 0) made.push(reference);
        if (status === 0) return 'cut';
        return status === 201 ? told : refusal('api_error', 'an_error', status);
      }
      if (asked.path === `/air/orders/ord_${diesAt}`) return { body: told.body };
      const orders = made.includes(reference) ? [told.body.data] : [];
      if (asked.path === '/air/orders') return { body: { data: orders, meta: { after: null } } };
      const passengers = [{ id: `pas_of_${diesAt}`, type: 'adult' }];
      return withOffer(undefined, () => ({ ...goodOffer(offerId), passengers }))(asked);
    };
    const dying = world.another({ store: mortalStore(diesAt) });
    const first: unknown = await dying.createOrder(request).catch((error: unknown) => error);
    isOver = !(first instanceof Error && first.message === 'the process is dead');
    const sentBefore = world.asked.filter(isOrderPost).length;
    // The next process asks first, as the worker does.
    const found = await world.another().findOrder(reference, 'off_1');
    const isMade = made.includes(reference);
    if (isMade) expect(found).toMatchObject({ providerOrderId: `ord_${diesAt}`, reference });
    else expect(found === null || found === 'unknown').toBe(true);
    if (found === 'unknown') {
      await expect(world.another().createOrder(request)).rejects.toMatchObject({ code: 'provider_failed' });
      expect(world.asked.filter(isOrderPost)).toHaveLength(sentBefore);
    }
    expect(made.filter((one) => one === reference).length).toBeLessThanOrEqual(1);
    world.clock.advance(1_000);
  }
  expect(world.asked.filter(isOrderPost).length).toBeGreaterThan(1);
});
