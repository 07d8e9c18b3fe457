import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createAttempts } from '../../../src/airlines/duffel/creations.ts';
import { migratedFile } from '../../service/migrated.ts';
import { goodOrder, type Loose } from './samples.ts';
import { type DuffelWorld, duffelWorld, isOrderPost, REQUEST, WEBHOOK_SECRET, withOffer } from './world.ts';

const home = mkdtempSync(join(tmpdir(), 'farelock-duffel-'));
let world: DuffelWorld;
beforeAll(async () => {
  world = await duffelWorld(await migratedFile(home));
});
afterAll(async () => {
  await world.close();
  rmSync(home, { recursive: true });
});
beforeEach(async () => {
  await world.reset();
  world.script.answer = withOffer((asked) => (isOrderPost(asked) ? 'cut' : undefined));
});

const event = (type: string, about: Loose, more: Loose = {}) => ({
  id: 'wev_1',
  api_version: 'v2',
  type,
  live_mode: false,
  idempotency_key: 'key',
  created_at: '2026-11-21T09:00:20Z',
  data: { object: about },
  ...more,
});

function signed(payload: unknown, { secret = WEBHOOK_SECRET, ageMs = 0 } = {}) {
  const body = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload));
  const time = Math.floor((world.clock.now() - ageMs) / 1000);
  const mac = createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex');
  return { body, headers: { 'x-duffel-signature': `t=${time},v1=${mac}` } };
}

const receive = async (...given: Parameters<typeof signed>) => world.provider.receive?.(signed(...given));
const posts = () => world.times('POST', /^\/air\/orders$/);

/** An order that nobody knows the outcome of. */
const openAttempt = (reference = 'int_1') =>
  expect(world.provider.createOrder({ ...REQUEST, reference })).rejects.toMatchObject({ code: 'provider_failed' });

test('a message without the right signature, or too old, is refused', async () => {
  const good = signed(event('order.created', { id: 'ord_1' }));
  const [time, mac] = good.headers['x-duffel-signature'].split(',');
  const refused = [
    { ...good, headers: {} },
    { ...good, headers: { 'x-duffel-signature': '' } },
    { ...good, headers: { 'x-duffel-signature': `${time},v1=` } },
    { ...good, headers: { 'x-duffel-signature': `${time},v2=${mac?.slice(3)}` } },
    { ...good, headers: { 'x-duffel-signature': `t=1,${mac}` } },
    { ...good, headers: { 'x-duffel-signature': `${time},v1=${'0'.repeat(64)}` } },
    { ...good, body: Buffer.from('{}') },
    signed(event('order.created', {}), { secret: 'another' }),
    signed(event('order.created', {}), { ageMs: 301_000 }),
    signed(event('order.created', {}), { ageMs: -301_000 }),
  ];
  for (const message of refused) {
    await expect(world.provider.receive?.(message)).rejects.toMatchObject({ code: 'unauthorized' });
  }
  await expect(world.another({ webhookSecret: undefined }).receive?.(good)).rejects.toMatchObject({
    code: 'unauthorized',
  });
  await expect(world.provider.receive?.(good)).resolves.toEqual([]);
  expect(await receive(event('order.created', {}), { ageMs: 299_000 })).toEqual([]);
});

test('a signed message that says nothing to us is no error', async () => {
  for (const payload of ['no json', '[]', 'null', {}, event('ping.triggered', {}), event('order.created', { id: 7 })]) {
    expect(await receive(payload)).toEqual([]);
  }
});

test('an order that is made later is found by the message, and read before it is believed', async () => {
  await openAttempt();
  const made = event('order.created', { order_id: 'ord_1', offer_id: 'off_1' });
  expect(await receive(made)).toEqual(['int_1']);
  // The list may lag behind; and a message is not an order.
  expect(await world.provider.findOrder('int_1', 'off_1')).toBe('unknown');
  world.script.answer = withOffer(({ path }) =>
    path === '/air/orders/ord_1' ? { body: { data: goodOrder('int_9') } } : undefined,
  );
  expect(await world.provider.findOrder('int_1', 'off_1')).toBe('unknown');
  world.script.answer = withOffer(({ path }) =>
    path === '/air/orders/ord_1' ? { body: { data: goodOrder('int_1') } } : undefined,
  );
  expect(await world.provider.findOrder('int_1', 'off_1')).toMatchObject({ providerOrderId: 'ord_1' });
  expect(await receive(made)).toEqual(['int_1']);
  expect(await world.attempts()).toMatchObject([{ verdict: 'ordered', order_id: 'ord_1' }]);
});

test('an order that failed after 202 frees the reference, and is never sent again', async () => {
  await openAttempt();
  const failed = event('order.creation_failed', { offer_id: 'off_1' });
  for (let i = 0; i < 3; i++) expect(await receive(failed)).toEqual(['int_1']);
  expect(await world.attempts()).toMatchObject([{ verdict: 'none', code: 'creation_failed' }]);
  expect(await world.provider.findOrder('int_1', 'off_1')).toBeNull();
  await expect(world.provider.createOrder(REQUEST)).rejects.toMatchObject({
    reason: 'provider_failed',
    mayPass: false,
  });
  expect(posts()).toBe(1);
});

test('a failure that may be of another attempt frees nothing', async () => {
  await openAttempt();
  expect(await receive(event('order.creation_failed', {}))).toEqual([]);
  expect(await receive(event('order.creation_failed', { offer_id: 'off_9' }))).toEqual([]);
  await receive(event('order.creation_failed', { offer_id: 'off_1' }, { live_mode: true }));
  await receive(event('order.creation_failed', { offer_id: 'off_1', metadata: { reference: 'int_2' } }));
  expect(await world.attempts()).toMatchObject([{ verdict: 'open' }]);
  const [row] = await world.attempts();
  if (row) await createAttempts(world).endInOrder(row, 'ord_1', {});
  expect(await receive(event('order.creation_failed', { offer_id: 'off_1' }))).toEqual(['int_1']);
  expect(await world.attempts()).toMatchObject([{ verdict: 'ordered' }]);
});

test('late, twice and out of order: created before failed, failed before created', async () => {
  await openAttempt();
  const made = event('order.created', goodOrder('int_1'));
  const failed = event('order.creation_failed', { offer_id: 'off_1' });
  await receive(failed);
  await receive(made);
  // Our reference is in it: there is an order after all, and the operator hears of it.
  expect(await world.attempts()).toMatchObject([{ verdict: 'ordered', order_id: 'ord_1' }]);
  expect(world.lines.join()).toContain('duffel_order_against_verdict');
  await receive(failed);
  await receive(made);
  expect(await world.attempts()).toMatchObject([{ verdict: 'ordered', order_id: 'ord_1' }]);
});

test.each<[string, Loose]>([
  ['order.airline_initiated_change_detected', { id: 'aic_1', order_id: 'ord_1' }],
  ['order_cancellation.confirmed', { id: 'ore_1', order_id: 'ord_1' }],
  ['order.updated', { id: 'ord_1' }],
])('%s names the order to look at, and changes nothing', async (type, about) => {
  await openAttempt();
  const [row] = await world.attempts();
  if (row) await createAttempts(world).endInOrder(row, 'ord_1', {});
  const before = await world.attempts();
  expect(await receive(event(type, about))).toEqual(['int_1']);
  expect(await receive(event(type, { ...about, id: 'x', order_id: 'ord_2' }))).toEqual([]);
  expect(await world.attempts()).toEqual(before);
});
