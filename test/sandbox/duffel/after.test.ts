import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HttpResponse } from '../../../src/kernel/http.ts';
import { handClock } from './clock.ts';
import { type Answer, found, orderOf, type ServedDuffel, searched, serveDuffel } from './served.ts';
import type { Change, Offer, Order, Webhook, WebhookEvent } from './shapes.ts';

/** What comes after an order: cancellations, changes by the airline, webhooks, and a restart of the sandbox. */

const DATE = '2027-01-20';
const STEP_MS = 2_000;
const HOOK = { url: 'https://farelock.example/webhooks/duffel', secret: 'QKfUULLQh+8SegYmIsF6kA==' };
const clock = handClock();
let duffel: ServedDuffel;
/** What the receiver was sent, and how it answers. */
let told: { event: WebhookEvent; signature: string; body: string }[] = [];
let answering = 200;
beforeAll(async () => {
  duffel = await serveDuffel({
    clock,
    stepMs: STEP_MS,
    webhook: HOOK,
    deliver: async ({ headers, body }) => {
      told.push({ event: JSON.parse(body), signature: headers['x-duffel-signature'] ?? '', body });
      return new HttpResponse(answering, '{}');
    },
  });
});
afterAll(() => duffel.close());

const codesOf = ({ body }: Pick<Answer<unknown>, 'body'>): string[] => body.errors.map(({ code }) => code);
async function booked(origin = 'VIE', destination = 'LIS', pick?: (offer: Offer) => boolean): Promise<Order> {
  const offer = pick
    ? found(await searched(duffel, origin, destination, DATE), pick)
    : (await searched(duffel, origin, destination, DATE, {}, 'ZZ'))[0];
  const { status, body } = await duffel.call('POST', '/air/orders', orderOf(offer, `ref ${offer.id}`));
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.data;
}
const quote = (orderId: string) => duffel.call('POST', '/air/order_cancellations', { order_id: orderId });
const confirm = (id: string) => duffel.call('POST', `/air/order_cancellations/${id}/actions/confirm`);
/** Delivers everything that is due until then. */
async function delivered(forwardMs = 0): Promise<WebhookEvent[]> {
  told = [];
  clock.forward(forwardMs);
  await duffel.runDue();
  return told.map(({ event }) => event);
}

test('a cancellation is quoted, and the latest quote is confirmed once', async () => {
  const order = await booked();
  const stale = await quote(order.id);
  const fresh = await quote(order.id);
  expect(fresh.body.data).toMatchObject({
    order_id: order.id,
    refund_amount: order.total_amount,
    refund_to: 'balance',
    confirmed_at: null,
  });
  expect(codesOf(await confirm(stale.body.data.id))).toEqual(['order_cancellation_stale']);
  expect((await confirm(fresh.body.data.id)).body.data.confirmed_at).not.toBeNull();
  expect(codesOf(await confirm(fresh.body.data.id))).toEqual(['already_cancelled']);
  expect(codesOf(await quote(order.id))).toEqual(['already_cancelled']);
  const { data } = (await duffel.call('GET', `/air/orders/${order.id}`)).body;
  expect(data).toMatchObject({ available_actions: ['update'], documents: order.documents });
  expect(data.cancelled_at).not.toBeNull();
});

test('a quote stands for an hour', async () => {
  const order = await booked();
  const { id } = (await quote(order.id)).body.data;
  clock.forward(3_600_000);
  expect(codesOf(await confirm(id))).toEqual(['order_cancellation_stale']);
});

test('a refund may be unknown, nothing, another currency, a voucher or credits', async () => {
  const order = await booked();
  await duffel.admin('/behaviours', { cancellation: ['amount_unknown', 'voucher', 'other_currency'] });
  const shown = async (id: string) => {
    const { refund_amount, refund_currency, refund_to } = (await quote(id)).body.data;
    return [refund_amount, refund_currency, refund_to];
  };
  expect(await shown(order.id)).toEqual([null, null, 'balance']);
  expect(await shown(order.id)).toEqual([order.total_amount, 'USD', 'voucher']);
  expect((await shown(order.id)).slice(1)).toEqual(['GBP', 'balance']);
  expect((await shown((await booked('LTN', 'SYD')).id))[2]).toBe('airline_credits');
  const fixed = await booked(
    'LHR',
    'JFK',
    ({ owner, conditions, passenger_identity_documents_required }) =>
      owner.iata_code !== 'ZZ' &&
      !passenger_identity_documents_required &&
      conditions.refund_before_departure?.allowed === false,
  );
  expect((await shown(fixed.id))[0]).toBe('0.00');
});

test.each([
  ['confirm_cut_before', false],
  ['confirm_cut_after', true],
  ['confirm_timeout_done', true],
  ['confirm_airline_unknown', false],
])('%s: the order is cancelled: %s', async (behaviour, isCancelled) => {
  const order = await booked();
  const { id } = (await quote(order.id)).body.data;
  await duffel.admin('/behaviours', { cancellation: [behaviour] });
  const answer = await confirm(id).catch(() => null);
  expect(answer?.status ?? 0).not.toBe(200);
  const { data } = (await duffel.call('GET', `/air/orders/${order.id}`)).body;
  expect(data.cancelled_at !== null).toBe(isCancelled);
});

test('an airline moves its flights: the order shows it at once, and the latest change can be accepted', async () => {
  const order = await booked('LHR', 'LTN');
  const list = async () =>
    (await duffel.call<[Change, Change]>('GET', `/air/airline_initiated_changes?order_id=${order.id}`)).body.data;
  await list();
  const [first, second] = await list();
  expect(second.available_actions).toEqual(['accept', 'cancel', 'change']);
  const accept = (id: string) => duffel.call('POST', `/air/airline_initiated_changes/${id}/actions/accept`);
  expect(codesOf(await accept(first.id))).toEqual(['stale_airline_initiated_change_accept']);
  expect((await accept(second.id)).body.data.action_taken).toBe('accepted');
  const { data } = (await duffel.call('GET', `/air/orders/${order.id}`)).body;
  const at = (one: Order) => Date.parse(`${one.slices[0].segments[0].departing_at}Z`);
  expect(at(data) - at(order)).toBe(2 * 3_600_000);
  expect(data.airline_initiated_changes).toHaveLength(2);
});

test('a webhook is signed over its very bytes, and tells the ids of order and offer', async () => {
  await delivered();
  const order = await booked();
  const [event] = await delivered();
  expect(event).toMatchObject({
    type: 'order.created',
    api_version: 'v2',
    live_mode: false,
    idempotency_key: order.id,
    data: { object: { id: order.id, offer_id: order.offer_id } },
  });
  expect(JSON.stringify(event)).not.toContain('Earhart');
  const { signature = '', body = '' } = told[0] ?? {};
  const [, seconds, digest] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  expect(seconds).toBe(String(Math.floor(clock.now() / 1000)));
  expect(createHmac('sha256', HOOK.secret).update(`${seconds}.${body}`).digest('hex')).toBe(digest);
});

test('what is not taken is sent again, later and later, and then no more', async () => {
  await delivered();
  answering = 500;
  const order = await booked();
  const about = async (ms: number) =>
    (await delivered(ms)).filter(({ idempotency_key }) => idempotency_key === order.id).length;
  expect([await about(0), await about(STEP_MS), await about(2 * STEP_MS), await about(3 * STEP_MS)]).toEqual([
    1, 0, 1, 0,
  ]);
  answering = 200;
  expect(await about(16 * STEP_MS)).toBe(1);
  expect(await about(200 * STEP_MS)).toBe(0);
});

test('webhooks come late, twice, out of order, or not at all; the list of events has them all', async () => {
  await delivered();
  await duffel.admin('/behaviours', { webhook: ['late', 'twice', 'shuffled', 'normal', 'lost'] });
  const names = new Map<string, string>();
  for (const name of ['late', 'twice', 'a', 'b', 'lost']) names.set((await booked()).id, name);
  const said = async (ms: number) =>
    (await delivered(ms)).map(({ idempotency_key }) => names.get(idempotency_key)).sort();
  const [now, soon, later] = [await said(0), await said(3 * STEP_MS), await said(7 * STEP_MS)];
  expect([...now, ...soon].filter((name) => name === 'twice')).toHaveLength(3);
  expect(now).toContain('b');
  expect([...now, ...soon]).toContain('a');
  expect(later).toEqual(['late']);
  const events = (await duffel.call<WebhookEvent[]>('GET', '/air/webhooks/events?type=order.created&limit=200')).body
    .data;
  const lost = found(events, ({ idempotency_key }) => names.get(idempotency_key) === 'lost');
  expect((await duffel.call('POST', `/air/webhooks/events/${lost.id}/actions/redeliver`)).status).toBe(204);
  expect(await said(0)).toEqual(['lost']);
});

test('one webhook is registered by a call, which alone tells its secret', async () => {
  const own = await serveDuffel({ clock: handClock() });
  const wanted = { url: 'https://farelock.example/hook', events: ['order.created'] };
  const { status, body } = await own.call('POST', '/air/webhooks', wanted);
  expect([status, typeof body.data.secret]).toEqual([201, 'string']);
  expect(codesOf(await own.call('POST', '/air/webhooks', wanted))).toEqual(['unsafe_unique']);
  expect((await own.call<Webhook[]>('GET', '/air/webhooks')).body.data[0]?.secret).toBeUndefined();
  expect((await own.call('POST', `/air/webhooks/${body.data.id}/actions/ping`)).status).toBe(204);
  await own.close();
});

test('the books outlive the process; who travels does not, and never reaches the disk', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'farelock-duffel-'));
  const path = join(folder, 'books.db');
  const before = await serveDuffel({ clock, path });
  const [offer] = await searched(before, 'VIE', 'LIS', DATE, {}, 'ZZ');
  const { body } = await before.call('POST', '/air/orders', orderOf(offer, 'kept'));
  await before.close();
  const after = await serveDuffel({ clock, path });
  const { data } = (await after.call<Order[]>('GET', `/air/orders?offer_id=${offer.id}`)).body;
  expect(data).toMatchObject([{ id: body.data.id, metadata: { reference: 'kept' } }]);
  expect(data[0]?.passengers[0]).toMatchObject({ id: offer.passengers[0].id, given_name: 'Forgotten' });
  expect(codesOf(await after.call('POST', '/air/orders', orderOf(offer, 'again')))).toEqual([
    'offer_request_already_booked',
  ]);
  await after.close();
  expect(readFileSync(path).toString('latin1')).not.toMatch(/Earhart|1987-07-24|amelia@/);
  rmSync(folder, { recursive: true, force: true });
});
