import { afterEach, expect, test } from 'vitest';
import { DATABASE_BEHIND, watchBehind } from '../../src/flights/base/behind.ts';
import type { Finding, Reconciled } from '../../src/flights/reconcile/types.ts';
import type { CreatedIntent, Health, Intent } from '../../src/wire/flights/index.ts';
import { chances, rounds, seedOr, upTo } from '../rounds.ts';
import { dump } from './dump.ts';
import { mortal } from './mortal.ts';
import { openDesk, PAYOUT } from './refund-desk.ts';
import { PASSENGER, type World } from './world.ts';

/** A database that was put back to an earlier moment: held, compared with chain and airline, and carried on. */

let desk: Awaited<ReturnType<typeof openDesk>>;
afterEach(() => desk.world.close());

/** A world that went on after its backup. */
async function goneOn() {
  desk = await openDesk();
  const { world } = desk;
  await world.cluster.airdropUsdc(world.treasury.address, 4n * PAYOUT);
  // Before the backup: a lock that is booked later, one that is not, and two refund requests, of which one is paid.
  const [booked, kept] = [await world.intent('off_1'), await world.intent('off_2')];
  const [refunded, waiting] = [await desk.requested(), await desk.requested()];
  world.clock.advance(60_000);
  const restore = await dump(world);
  world.clock.advance(60_000);
  await world.book(booked);
  await world.work();
  const [unknown, unpaid] = [await world.intent('off_3'), await world.intent('off_4')];
  await world.book(unknown);
  await world.work();
  await approve(refunded);
  await world.work();
  await world.search();
  const before = await world.sums();
  return { world, restore, before, booked, kept, refunded, waiting, unknown, unpaid };
}

/** A process that starts on the restored database. */
const started = ({ service }: World) => service(undefined, { sweepsAtStart: true });
const brief = ({ findings }: Reconciled) =>
  findings.map(({ kind, subject, outcome }: Finding) => [kind, subject, outcome]).sort();
const approve = (made: Pick<Intent, 'intent_id'>) =>
  desk.ask(`/refund-requests/${made.intent_id}/approve`, { expected_payout_amount: Number(PAYOUT) });

test('every act that a database forgot is found, written down and carried on, once, to the unit', async () => {
  const { world, restore, before, booked, kept, refunded, waiting, unknown, unpaid } = await goneOn();
  const { wallet, airline } = world;
  const spent = await world.usdc(wallet.address);
  await restore();

  const restarted = started(world);
  expect(await restarted.worker.runDue()).toEqual({ worked: 0, nextDueAtMs: null });
  const ready = await restarted.call<Health>('/ready');
  expect([ready.status, ready.body.checks?.database, ready.body.reconcile?.why]).toEqual([
    503,
    DATABASE_BEHIND,
    'chain',
  ]);
  for (const [path, body] of [
    ['/air/intents', { offer_id: 'off_5' }],
    ['/air/book', { intent_id: kept.intent_id, passengers: [] }],
    ['/air/refund-requests', { intent_id: refunded.intent_id, reason: 'x' }],
  ] as const) {
    const held = await restarted.call(path, body);
    expect([path, held.status, held.body.code]).toEqual([path, 503, 'database_behind']);
  }
  expect((await desk.ask(`/refund-requests/${waiting.intent_id}/approve`, {}, restarted.call)).status).toBe(503);
  expect((await restarted.call(`/air/intents/${booked.intent_id}`)).status).toBe(200);

  const looked = await restarted.reconcile({ isDryRun: true });
  const rows = async () => (await world.store.selectFrom('effects').selectAll().execute()).length;
  const had = await rows();
  expect(brief(await restarted.reconcile({ isDryRun: true }))).toEqual(brief(looked));
  expect(await rows()).toBe(had);
  const done = await restarted.reconcile({ isDryRun: false });
  expect(brief(done)).toEqual(brief(looked));
  expect(brief(done)).toEqual(
    [
      ['captured', booked.intent_id, 'carried_on'],
      ['order_adopted', unknown.intent_id, 'carried_on'],
      ['escrow_unknown', unpaid.escrow.address, 'carried_on'],
      ['refund_paid', refunded.intent_id, 'carried_on'],
      // A search, and two creations.
      ...[1, 2, 3].map(() => ['payment_unknown', wallet.address, 'noted']),
    ].sort(),
  );

  world.clock.advance(2_000);
  expect((await restarted.call('/ready')).status).toBe(200);
  await world.work(60_000, restarted.worker);
  const shown = async ({ intent_id }: CreatedIntent) =>
    (await restarted.call<Intent>(`/air/intents/${intent_id}`)).body;
  expect((await shown(booked)).status).toBe('booked');
  expect((await shown(booked)).capture_tx_hash).not.toBeNull();
  expect((await shown(unknown)).status).toBe('booked');
  expect((await shown(refunded)).status).toBe('refunded');
  expect((await shown(kept)).status).toBe('active');
  // No money moved, except that of the unpaid lock, which held none.
  expect(await world.sums()).toEqual(before);
  expect(await world.usdc(wallet.address)).toBe(spent);
  expect(airline.script.created).toBe(4);
  expect((await restarted.reconcile({ isDryRun: false })).findings).toEqual([]);
  // The desk and the sale go on.
  world.clock.advance(2_000);
  expect((await approve(waiting)).status).toBe(200);
  expect(await watchBehind(world)()).toBe(false);
});

test('a comparison that dies at any moment is repeated, and ends the same', async () => {
  const { world, restore, before, booked, refunded, waiting, unknown } = await goneOn();
  const chance = chances(seedOr(27));
  await restore();
  const counted = mortal(Number.POSITIVE_INFINITY);
  await world.service(counted.wrap).reconcile({ isDryRun: false });
  const moments = counted.moments();
  for (const _round of upTo(rounds(5, 200))) {
    await restore();
    const { wrap, died } = mortal(1 + Math.floor(chance() * moments));
    const dying = world.service(wrap).reconcile({ isDryRun: false });
    await dying.catch((error: unknown) => {
      if (!died()) throw error;
    });
    // A dead process holds what it was at until its lease is over.
    world.clock.advance(15_000);
    const next = started(world);
    await next.reconcile({ isDryRun: false });
    await world.work(60_000, next.worker);
    for (const one of [booked, unknown]) expect((await world.show(one)).status).toBe('booked');
    expect((await world.show(refunded)).status).toBe('refunded');
    expect((await world.show(waiting)).refund_request?.state).toBe('received');
    expect(await world.sums()).toEqual(before);
    world.clock.advance(2_000);
    expect((await next.reconcile({ isDryRun: true })).findings).toEqual([]);
  }
  expect(world.airline.script.created).toBe(4);
}, 120_000);

test('an affiliate who was paid after the backup is not paid again for the same journeys', async () => {
  desk = await openDesk();
  const { world } = desk;
  await world.cluster.airdropUsdc(world.treasury.address, PAYOUT);
  const affiliate = world.newWallet().address;
  await world.cluster.airdropUsdc(affiliate, 0n);
  const { body } = await world.call<{ code: string }>('/affiliates', { wallet: affiliate });
  const made = await world.intent('off_1', { referrer: body.code });
  await world.book(made);
  await world.work();
  const restore = await dump(world);
  world.clock.advance(35 * 86_400_000);
  await world.work();
  const paid = await world.usdc(affiliate);
  expect(paid).toBeGreaterThan(0n);
  await restore();
  const next = started(world);
  const { findings } = await next.reconcile({ isDryRun: false });
  expect(findings).toMatchObject([
    { kind: 'escrow_acts', subject: made.intent_id, outcome: 'noted' },
    { kind: 'affiliate_paid', subject: affiliate, amount: paid, outcome: 'carried_on' },
  ]);
  await world.work(60_000, next.worker);
  expect(await world.usdc(affiliate)).toBe(paid);
  const { credited_at_ms } = await world.store
    .selectFrom('intents')
    .select('credited_at_ms')
    .where('intent_id', '=', made.intent_id)
    .executeTakeFirstOrThrow();
  expect(credited_at_ms).not.toBeNull();
});

/** Paid for after the backup; the process that was to order it died with the database. */
async function paidAndForgotten() {
  desk = await openDesk();
  const { world } = desk;
  const made = await world.intent('off_1');
  const restore = await dump(world);
  await world.book(made);
  await restore();
  return { world, made, before: await world.sums(made) };
}

test('a traveller who was refunded after the backup is not refunded again, and the order of the other stays', async () => {
  desk = await openDesk();
  const { world } = desk;
  await world.cluster.airdropUsdc(world.treasury.address, 4n * PAYOUT);
  world.airline.script.passengerCount = 2;
  const made = await world.intent('off_1');
  await world.book(made, [PASSENGER, { ...PASSENGER, given_name: 'Ben' }]);
  await world.work();
  world.clock.advance(60_000);
  const restore = await dump(world);
  world.clock.advance(60_000);
  const headers = { 'X-Customer-Support-Code': made.customer_support_code, 'X-Passenger-Family-Name': 'Lovelace' };
  const about = (passengers: number[], call = world.call) =>
    world.paid('/air/refund-requests', { intent_id: made.intent_id, reason: 'Ill.', passengers }, { headers, call });
  expect((await about([2])).status).toBe(202);
  expect((await desk.ask(`/refund-requests/${made.intent_id}/approve`, {})).status).toBe(200);
  const before = await world.sums();
  await restore();

  const restarted = started(world);
  await restarted.worker.runDue();
  await restarted.reconcile({ isDryRun: false });
  world.clock.advance(2_000);
  await world.work(undefined, restarted.worker);
  const { body } = await restarted.call<Intent>(`/air/intents/${made.intent_id}`);
  const half = Number(PAYOUT / 2n);
  expect(body).toMatchObject({ status: 'booked', passenger_refunds: [{ passengers: [2], payout_amount: half }] });
  expect((await about([2], restarted.call)).body.code).toBe('already_refunded');
  expect(await world.sums()).toEqual(before);
  expect((await about([1], restarted.call)).status).toBe(202);
  expect((await desk.ask(`/refund-requests/${made.intent_id}/approve`, {}, restarted.call)).status).toBe(200);
  expect((await world.sums()).refund - before.refund).toBe(PAYOUT / 2n);
  expect((await world.show(made)).status).toBe('refunded');
});

test('a fare that was paid for goes back where the airline has no order, and waits for a person where it cannot say', async () => {
  const { world, made, before } = await paidAndForgotten();
  const next = started(world);
  const looked = await next.reconcile({ isDryRun: false });
  expect(brief(looked)).toEqual([['booking_forgotten', made.intent_id, 'carried_on']]);
  await world.work(60_000, next.worker);
  expect(await world.show(made)).toMatchObject({ status: 'refunded', refund_reason: DATABASE_BEHIND });
  expect(await world.sums(made)).toMatchObject({ vault: 0n, refund: before.refund + before.vault });
  expect(world.airline.script.created).toBe(0);
});

test('a fare that was paid for stays in its escrow while the airline cannot say whether it has an order', async () => {
  const { world, made, before } = await paidAndForgotten();
  world.airline.script.unknown.add(made.intent_id);
  const next = started(world);
  await next.reconcile({ isDryRun: false });
  await world.work(60 * 60_000, next.worker);
  expect(await world.sums(made)).toEqual(before);
  expect((await desk.ask<{ bookings: object[] }>('/stuck')).body.bookings).toMatchObject([
    { intent_id: made.intent_id, last_error: 'outcome_unknown' },
  ]);
  expect(world.airline.script.created).toBe(0);
});

test('while it is behind no effect begins, whoever asks for it', async () => {
  desk = await openDesk();
  const { world } = desk;
  const made = await world.intent('off_1');
  await world.book(made);
  const { worker, call } = started(world);
  await world.store
    .insertInto('meta')
    .values({ key: DATABASE_BEHIND, value: JSON.stringify({ why: 'by_hand', at_ms: 0, since_ms: 0 }) })
    .execute();
  world.clock.advance(2_000);
  for (let rounds = 0; rounds < 3; rounds++) expect((await worker.runDue()).worked).toBe(0);
  expect(world.airline.script.created).toBe(0);
  const searched = await call('/air/search', {
    origin_iata: 'LIS',
    destination_iata: 'BER',
    depart_date: '2026-12-20',
  });
  expect(searched.status).toBe(402);
});
