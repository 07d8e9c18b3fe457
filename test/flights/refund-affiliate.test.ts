import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Affiliate, AffiliateCredit, CreatedIntent, RefundCase } from '../../src/wire/flights/index.ts';
import { proofTest } from '../proof-only.ts';
import { openDesk, PAYOUT } from './refund-desk.ts';
import { PASSENGER } from './world.ts';

/** An operator approves a refund, for real, of a journey that an affiliate brought: its share is not paid, or owed. */

/** 20 % of 1 % of 151.20. */
const SHARE = 302_400;
const ARRIVAL_MS = Date.UTC(2026, 11, 20, 13, 30);

let desk: Awaited<ReturnType<typeof openDesk>>;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.world.close());

async function affiliate() {
  const { world } = desk;
  const wallet = world.newWallet().address;
  const { code } = (await world.call<Affiliate>('/affiliates', { wallet })).body;
  return {
    code,
    paid: () => world.usdc(wallet),
    credit: async () => (await world.call<AffiliateCredit>(`/affiliates/${code}`)).body,
  };
}

let journeys = 0;
async function booked(referrer: string): Promise<CreatedIntent> {
  const { world } = desk;
  const made = await world.intent(`off_referred_${journeys++}`, { referrer });
  await world.book(made);
  await world.work();
  return made;
}

const askedFor = (made: CreatedIntent, passengers?: number[]) =>
  desk.world.paid(
    '/air/refund-requests',
    { intent_id: made.intent_id, reason: 'I broke a leg.', ...(passengers && { passengers }) },
    { headers: { 'X-Customer-Support-Code': made.customer_support_code, 'X-Passenger-Family-Name': 'Lovelace' } },
  );
const decide = (made: CreatedIntent, act: 'approve' | 'reject', body: object) =>
  desk.ask<RefundCase>(`/refund-requests/${made.intent_id}/${act}`, body);

test('refunded before the arrival: nothing is ever credited; rejected: it is, once', async () => {
  const { world } = desk;
  const [gone, kept] = [await affiliate(), await affiliate()];
  const [refunded, rejected] = [await booked(gone.code), await booked(kept.code)];
  for (const made of [refunded, rejected]) expect((await askedFor(made)).status).toBe(202);
  const before = await world.usdc(world.refundWallet.address);
  expect((await decide(refunded, 'approve', {})).body.status).toBe('refunded');
  expect((await world.usdc(world.refundWallet.address)) - before).toBe(PAYOUT);
  world.clock.advance(ARRIVAL_MS + 60_000 - world.clock.now());
  await world.worker.runDue();
  // Asked for and not decided: it waits.
  expect([await gone.paid(), await kept.paid()]).toEqual([0n, 0n]);
  expect((await decide(rejected, 'reject', { reason: 'The fare says no.' })).status).toBe(200);
  await world.worker.runDue();
  await world.worker.runDue();
  expect([await gone.paid(), await kept.paid()]).toEqual([0n, BigInt(SHARE)]);
  expect(await gone.credit()).toMatchObject({ bookings_count: 0, pending_amount: 0, owed_amount: 0 });
});

test('one of two travellers refunded: the share of the other stays credited, and what was paid beyond it is owed', async () => {
  const { world } = desk;
  const one = await affiliate();
  world.airline.script.passengerCount = 2;
  const made = await world.intent('off_referred_pair', { referrer: one.code });
  await world.book(made, [PASSENGER, { ...PASSENGER, given_name: 'Ben' }]);
  world.airline.script.passengerCount = 1;
  await world.work();
  expect((await askedFor(made, [2])).status).toBe(202);
  expect((await decide(made, 'approve', {})).body.status).toBe('refunded');
  expect(await one.credit()).toMatchObject({ bookings_count: 1, paid_amount: SHARE, owed_amount: SHARE / 2 });
});

proofTest('refunded after the share was paid: it is owed, and the next journey fills that first', async () => {
  const { world } = desk;
  const one = await affiliate();
  const first = await booked(one.code);
  await world.work();
  await world.worker.runDue();
  expect(await one.paid()).toBe(BigInt(SHARE));
  expect((await askedFor(first)).status).toBe(202);
  expect((await decide(first, 'approve', {})).body.status).toBe('refunded');
  expect(await one.credit()).toMatchObject({ paid_amount: SHARE, owed_amount: SHARE });
  for (const paid of [SHARE, 2 * SHARE]) {
    await booked(one.code);
    await world.worker.runDue();
    expect(await one.paid()).toBe(BigInt(paid));
  }
  expect(await one.credit()).toMatchObject({ paid_amount: 2 * SHARE, owed_amount: 0 });
});

test('the words of a decided request are purged with the personal data, and its amounts stay', async () => {
  const { world, ask } = desk;
  const made = await desk.requested();
  const path = `/refund-requests/${made.intent_id}`;
  await ask(`${path}/note`, { text: 'Spoke to Ada on the phone.' });
  const words = async () => {
    const { reason, contact, decision, notes } = (await ask<RefundCase>(path)).body;
    return { reason, contact, decided: decision?.words ?? null, notes: notes.map((note) => note.text) };
  };
  // As long as it is open, whoever decides needs them.
  world.clock.advance(60 * 86_400_000);
  await world.worker.runDue();
  expect(await words()).toMatchObject({ reason: 'I broke a leg.', notes: ['Spoke to Ada on the phone.'] });
  await ask(`${path}/approve`, { note: 'A broken leg is a broken leg.' });
  expect((await words()).decided).toBe('A broken leg is a broken leg.');
  for (let day = 0; day < 32; day++) {
    world.clock.advance(86_400_000);
    await world.worker.runDue();
  }
  const after = (await ask<RefundCase>(path)).body;
  expect(after).toMatchObject({
    status: 'refunded',
    reason: null,
    contact: null,
    decision: { words: null, payout_amount: Number(PAYOUT) },
  });
  expect(JSON.stringify(after)).not.toMatch(/leg|Ada/);
  const rows = await world.store
    .selectFrom('refund_requests')
    .select(['reason_sealed', 'contact_sealed', 'decision_sealed'])
    .where('intent_id', '=', made.intent_id)
    .execute();
  expect(rows).toEqual([{ reason_sealed: '', contact_sealed: null, decision_sealed: null }]);
});
