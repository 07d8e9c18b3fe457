import type { Address } from '@solana/kit';
import { afterEach, expect, test } from 'vitest';
import { readEscrow } from '../../../src/escrow/account.ts';
import { ESCROW_PROGRAM_ID } from '../../../src/escrow/address.ts';
import type { CreatedIntent } from '../../../src/wire/flights/index.ts';
import { openWorld, PASSENGER, SECOND_PROGRAM, type World } from '../world.ts';

/** A service moves to another escrow program: what was opened at the old one ends at the old one. */

let world: World;
afterEach(() => world?.close());

const HOUR_MS = 3_600_000;
const stateAt = async (made: CreatedIntent, program: Address) =>
  (await readEscrow(world.cluster, made.escrow.address as Address, [program]))?.state ?? null;

test('an open intent of the old program is captured, another one refunded, and new ones open at the new program', async () => {
  world = await openWorld({ airline: 'scripted' });
  const captured = await world.intent('off_1');
  const refunded = await world.intent('off_2');
  const unpaid = await world.intent('off_3');
  await world.book(captured);
  const moved = world.service((ports) => ({ ...ports, escrowProgram: SECOND_PROGRAM }));

  // One was paid before the move, the other one after it.
  await world.work(undefined, moved.worker);
  world.airline.script.status = 'failed';
  const booking = { intent_id: refunded.intent_id, passengers: [PASSENGER] };
  expect((await world.paid('/air/book', booking, { call: moved.call })).status).toBe(200);
  await world.work(undefined, moved.worker);
  expect(await world.show(captured)).toMatchObject({ status: 'booked' });
  expect(await stateAt(captured, ESCROW_PROGRAM_ID)).toBe('captured');
  expect(await world.show(refunded)).toMatchObject({ status: 'refunded' });
  expect(await stateAt(refunded, ESCROW_PROGRAM_ID)).toBe('refunded');
  expect(await world.usdc(world.refundWallet.address)).toBe(BigInt(refunded.escrow.amount));

  const wanted = { funding_wallet: world.wallet.address, refund_wallet: world.refundWallet.address };
  const fresh = await world.paid<CreatedIntent>('/air/intents', { ...wanted, offer_id: 'off_4' }, { call: moved.call });
  expect(fresh.body.escrow.program_id).toBe(SECOND_PROGRAM);
  expect(await stateAt(fresh.body, SECOND_PROGRAM)).toBe('open');
  expect(await stateAt(unpaid, ESCROW_PROGRAM_ID)).toBe('open');

  // Nobody pays for these two: each is closed at its own program, and the rent is back.
  world.clock.advance(HOUR_MS);
  await world.work(undefined, moved.worker);
  expect(await stateAt(unpaid, ESCROW_PROGRAM_ID)).toBeNull();
  expect(await stateAt(fresh.body, SECOND_PROGRAM)).toBeNull();
});

test('an upgraded program closes new intents and bookings before anything is charged; what is paid is captured', async () => {
  world = await openWorld({ airline: 'scripted' });
  let trouble: string | null = null;
  const watched = world.service((ports) => ({ ...ports, programTrouble: async () => trouble }));
  const { call } = watched;
  const paid = await world.intent('off_1');
  const open = await world.intent('off_2');
  await world.book(paid);
  const before = await world.sums();

  trouble = 'The program is another one.';
  const wanted = { funding_wallet: world.wallet.address, offer_id: 'off_3' };
  for (const [path, body] of [
    ['/air/intents', wanted],
    ['/air/book', { intent_id: open.intent_id, passengers: [PASSENGER] }],
  ] as const) {
    const refused = await world.paid(path, body, { call });
    expect([path, refused.status, refused.body.code]).toEqual([path, 503, 'escrow_program_changed']);
    expect(refused.body.message).toContain(trouble);
  }
  expect((await world.sums()).wallet).toBe(before.wallet);
  const ready = await call('/ready');
  expect([ready.status, ready.body.escrow_program]).toEqual([503, { address: ESCROW_PROGRAM_ID, trouble }]);
  await world.work(undefined, watched.worker);
  expect(await world.show(paid)).toMatchObject({ status: 'booked' });
  const pages = await world.store
    .selectFrom('outbox')
    .select('dedup_key')
    .where('dedup_key', 'like', 'page:escrow_program_changed:%')
    .execute();
  expect(pages).toHaveLength(1);

  trouble = null;
  expect((await call('/ready')).status).toBe(200);
  expect((await world.paid('/air/intents', wanted, { call })).status).toBe(201);
});
