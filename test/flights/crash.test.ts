import type { Address } from '@solana/kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readEscrow } from '../../src/escrow/account.ts';
import { ESCROW_PROGRAM_ID } from '../../src/escrow/address.ts';
import type { CreatedIntent } from '../../src/wire/flights/index.ts';
import { everyNth } from '../rounds.ts';
import { Died, mortal } from './mortal.ts';
import { type Answered, openWorld, PASSENGER, type World } from './world.ts';

/**
 * The service dies at every call that it makes to the database, the cluster or the airline: before the call, and
 * after it with the answer lost. A fresh service and a client that repeats its signed payments go on from there.
 */

const FEE = 100_000n;
const TICKET = 151_200_000n;
/** Between the moments of a journey at which it dies, from a random first one. */
const STRIDE = everyNth(31);

let world: World;
beforeAll(async () => {
  world = await openWorld({ airline: 'scripted' });
  await world.cluster.airdropUsdc(world.wallet.address, 1_000_000_000_000n);
});
afterAll(() => world.close());

/** One request of a client that signs once and repeats what it signed until it knows how it ended. */
async function insist(path: string, body: object, first: World['call'], then: World['call']): Promise<Answered> {
  let headers: Record<string, string> | undefined;
  let call = first;
  for (let tries = 0; tries < 12; tries++) {
    const answer = await call(path, body, headers ? { headers } : {});
    const signs = answer.status === 402;
    if (signs) headers = { 'PAYMENT-SIGNATURE': await world.sign(answer) };
    else if (answer.status < 500) return answer;
    else {
      call = then;
      world.clock.advance(5_000);
    }
  }
  throw new Error(`${path} never ended`);
}

async function journey(offerId: string, diesAt: number): Promise<{ died: boolean }> {
  const before = await world.sums();
  const ordersBefore = world.airline.script.created;
  const { wrap, died } = mortal(diesAt);
  const doomed = world.service(wrap);
  const next = world.service();
  const created = await insist(
    '/air/intents',
    { funding_wallet: world.wallet.address, refund_wallet: world.refundWallet.address, offer_id: offerId },
    doomed.call,
    next.call,
  );
  expect(created.body).toMatchObject({ status: 'active' });
  const made = created.body as unknown as CreatedIntent;
  const booked = await insist(
    '/air/book',
    { intent_id: made.intent_id, passengers: [PASSENGER] },
    doomed.call,
    next.call,
  );
  // The worker may have been first.
  expect([200, 409]).toContain(booked.status);
  await doomed.worker.runDue().catch((error: unknown) => {
    if (!(error instanceof Died)) throw error;
  });
  world.clock.advance(61_000);
  await world.work(undefined, next.worker);

  const shown = await world.show(made);
  const after = await world.sums(made);
  const escrow = await readEscrow(world.cluster, made.escrow.address as Address, [ESCROW_PROGRAM_ID]);
  expect(after).toEqual({
    wallet: before.wallet - FEE - TICKET,
    refund: before.refund + (shown.status === 'refunded' ? TICKET : 0n),
    treasury: before.treasury + FEE + (shown.status === 'booked' ? TICKET : 0n),
    vault: 0n,
    total: before.total,
  });
  expect(escrow?.state).toBe(shown.status === 'booked' ? 'captured' : 'refunded');
  expect(['booked', 'refunded']).toContain(shown.status);
  expect(world.airline.script.created - ordersBefore).toBe(1);
  const captures = await world.store
    .selectFrom('effects')
    .select('state')
    .where('subject', '=', made.intent_id)
    .where('kind', '=', 'capture')
    .where('state', '=', 'done')
    .execute();
  expect(captures).toHaveLength(shown.status === 'booked' ? 1 : 0);
  return { died: died() };
}

test('a service that dies at any moment leaves a journey that ends booked or refunded, paid once', async () => {
  const first = 1 + Math.floor(Math.random() * STRIDE);
  let moments = 0;
  for (let diesAt = first; ; diesAt += STRIDE) {
    const { died } = await journey(`off_crash_${diesAt}`, diesAt).catch((error: unknown) => {
      throw new Error(`died at moment ${diesAt}`, { cause: error });
    });
    if (!died) break;
    moments++;
  }
  expect(moments).toBeGreaterThan(5);
}, 300_000);
