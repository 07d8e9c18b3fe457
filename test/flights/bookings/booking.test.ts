import type { Address } from '@solana/kit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { problem } from '../../../src/kernel/problems.ts';
import type { CreatedIntent } from '../../../src/wire/flights/index.ts';
import { bookResponse } from '../../../src/wire/flights/schema.ts';
import { openWorld, PASSENGER, type World } from '../world.ts';

const TICKET = 151_200_000n;

let world: World;
let made: CreatedIntent;
beforeEach(async () => {
  world = await openWorld({ airline: 'scripted' });
  made = await world.intent('off_1');
});
afterEach(() => world.close());

const body = () => ({ intent_id: made.intent_id, passengers: [PASSENGER] });
const signed = async () => ({
  headers: { 'PAYMENT-SIGNATURE': await world.sign(await world.call('/air/book', body())) },
});
const bookings = () => world.store.selectFrom('bookings').selectAll().execute();

test('a booking is paid into the escrow and queued', async () => {
  const asked = await world.call('/air/book', body());
  expect(asked.body).toMatchObject({
    accepts: [{ payTo: made.escrow.address, amount: String(made.escrow.amount), asset: made.escrow.mint }],
  });
  const answer = await world.book(made);
  expect(bookResponse.parse(answer)).toEqual(answer);
  expect(answer).toMatchObject({ intent_id: made.intent_id, status: 'active', booking: { state: 'queued' } });
  expect((await world.show(made)).booking_requested_at).toBe(answer.booking.requested_at);
  expect((await world.sums(made)).vault).toBe(TICKET);
});

test('passengers are on the disk sealed only', async () => {
  await world.book(made);
  const text = JSON.stringify(await bookings());
  for (const word of ['Lovelace', 'ada@example.org', '1990-12-10', '912345678']) expect(text).not.toContain(word);
});

test('the same payment again gets the same answer and is charged once', async () => {
  const before = await world.usdc(world.wallet.address);
  const extra = await signed();
  const first = await world.call('/air/book', body(), extra);
  await world.work();
  const second = await world.service().call('/air/book', body(), extra);
  expect(first.status).toBe(200);
  expect(second.body).toEqual(first.body);
  expect(before - (await world.usdc(world.wallet.address))).toBe(TICKET);
});

test('of two payments at once for one intent only one moves money', async () => {
  const before = await world.usdc(world.wallet.address);
  const extras = [await signed(), await signed(), await signed()];
  const answers = await Promise.all(extras.map((extra) => world.service().call('/air/book', body(), extra)));
  expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409, 409]);
  for (const answer of answers.filter(({ status }) => status === 409)) {
    expect(answer.body.code).toBe('booking_already_requested');
  }
  expect(before - (await world.usdc(world.wallet.address))).toBe(TICKET);
  expect((await world.sums(made)).vault).toBe(TICKET);
});

test("a stranger's dust is swept to the refund wallet and does not block the booking", async () => {
  await world.cluster.airdropUsdc(made.escrow.address as Address, 3n);
  await world.book(made);
  expect(await world.usdc(world.refundWallet.address)).toBe(3n);
  expect((await world.sums(made)).vault).toBe(TICKET);
  await world.work();
  expect((await world.show(made)).status).toBe('booked');
});

test('dust that arrives after the booking was queued goes to the refund wallet with the capture', async () => {
  await world.book(made);
  await world.cluster.airdropUsdc(made.escrow.address as Address, 3n);
  await world.work();
  expect((await world.show(made)).status).toBe('booked');
  expect(await world.sums(made)).toMatchObject({ refund: 3n, vault: 0n });
});

/** A service that dies at its first look at the vault: the payment is settled, the booking not yet queued. */
const dyingAfterSettlement = () =>
  world.service((ports) => ({
    ...ports,
    cluster: { ...ports.cluster, tokenBalance: () => Promise.reject(problem('cluster_failed')) },
  }));

test('a booking that died between settlement and queue goes on with the same payment, unpaid', async () => {
  const before = await world.usdc(world.wallet.address);
  const extra = await signed();
  const died = await dyingAfterSettlement().call('/air/book', body(), extra);
  expect([died.status, died.body.code, died.headers.get('retry-after')]).toEqual([503, 'cluster_failed', '2']);
  expect((await bookings())[0]?.state).toBe('settling');
  const retried = await world.call('/air/book', body(), extra);
  expect(retried.status).toBe(200);
  expect(before - (await world.usdc(world.wallet.address))).toBe(TICKET);
});

test('a booking that died between settlement and queue is carried on by the worker alone', async () => {
  await dyingAfterSettlement().call('/air/book', body(), await signed());
  await world.work();
  expect((await world.show(made)).status).toBe('booked');
});

test('a settled booking whose payer never came back keeps a second payment out', async () => {
  await dyingAfterSettlement().call('/air/book', body(), await signed());
  const before = await world.usdc(world.wallet.address);
  const answer = await world.paid('/air/book', body());
  expect([answer.status, answer.body.code]).toEqual([409, 'booking_already_requested']);
  expect(await world.usdc(world.wallet.address)).toBe(before);
});

test('a booking whose payment may still land keeps a second payment out', async () => {
  const before = await world.usdc(world.wallet.address);
  const away = () => Promise.reject(problem('cluster_failed'));
  const blind = world.service((ports) => ({
    ...ports,
    cluster: { ...ports.cluster, send: away, signatureStatus: away },
  }));
  const first = await world.paid('/air/book', body(), { call: blind.call });
  expect([first.status, first.body.code]).toEqual([503, 'payment_pending']);
  world.clock.advance(5_000);
  const second = await world.paid('/air/book', body(), { call: blind.call });
  expect([second.status, second.body.code]).toEqual([409, 'booking_already_requested']);
  // A worker that can't tell either leaves it where it is.
  world.clock.advance(15_000);
  await blind.worker.runDue();
  expect(await bookings()).toHaveLength(1);
  // The first one's bytes are sent by whoever finds them.
  await world.work();
  expect((await world.show(made)).status).toBe('booked');
  expect(before - (await world.usdc(world.wallet.address))).toBe(BigInt(made.escrow.amount));
});

test('a payment that fails for certain leaves the intent bookable', async () => {
  const extra = await signed();
  const held = await world.usdc(world.wallet.address);
  let drained = false;
  const unlucky = world.service((ports) => ({
    ...ports,
    cluster: {
      ...ports.cluster,
      send: async (wire) => {
        if (!drained) await world.drain();
        drained = true;
        return ports.cluster.send(wire);
      },
    },
  }));
  const answer = await unlucky.call('/air/book', body(), extra);
  expect(answer.status).toBe(402);
  expect(await bookings()).toEqual([]);
  await world.cluster.airdropUsdc(world.wallet.address, held);
  await world.book(made);
  await world.work();
  expect((await world.show(made)).status).toBe('booked');
});

test('an intent that a worker of a fast clock has retired is closed once its payment has failed', async () => {
  const away = () => Promise.reject(problem('cluster_failed'));
  const blind = (aheadMs: number) =>
    world.service((ports) => ({
      ...ports,
      clock: { ...ports.clock, now: () => ports.clock.now() + aheadMs },
      cluster: { ...ports.cluster, send: away, signatureStatus: away },
    }));
  const answer = await world.paid('/air/book', body(), { call: blind(0).call });
  expect([answer.status, answer.body.code]).toEqual([503, 'payment_pending']);
  await blind(Date.parse(made.expires_at) - world.clock.now() + 60_000).worker.runDue();
  await world.drain();
  await world.work();
  expect(world.clock.now()).toBeLessThan(Date.parse(made.expires_at));
  expect(await bookings()).toMatchObject([{ state: 'refunded', refund_reason: 'intent_expired' }]);
  expect(await world.cluster.accounts([made.escrow.address as Address])).toEqual([null]);
});

test('a payment that lands after the intent expired is booked if the offer holds, and refunded if not', async () => {
  world.airline.script.lifeMs = 60_000;
  const short = await world.intent('off_2');
  const request = { intent_id: short.intent_id, passengers: [PASSENGER] };
  const payment = await world.sign(await world.call('/air/book', request));
  await dyingAfterSettlement().call('/air/book', request, { headers: { 'PAYMENT-SIGNATURE': payment } });
  world.clock.advance(61_000);
  world.airline.script.lifeMs = -1;
  await world.work();
  expect(await world.show(short)).toMatchObject({ status: 'refunded', refund_reason: 'offer_expired' });
  expect(await world.usdc(world.refundWallet.address)).toBe(TICKET);
});
