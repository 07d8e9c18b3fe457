import type { Address } from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createEffects } from '../../../src/effects/index.ts';
import { createPayouts } from '../../../src/flights/refunds/payouts.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import type { Signer } from '../../../src/solana/signer.ts';
import { buildTransaction } from '../../../src/solana/transaction.ts';
import type { BookResponse, CreatedIntent, Health } from '../../../src/wire/flights/index.ts';
import { openWorld, PASSENGER, TRIP, type World } from '../world.ts';

let world: World;
let offers = 0;
const nextOffer = () => `off_${++offers}`;
beforeEach(async () => {
  world = await openWorld({ airline: 'scripted' });
});
afterEach(() => world.close());

const lamports = async (of: string) => (await world.cluster.accounts([of as Address]))[0]?.lamports ?? 0n;

/** Leaves a key so many lamports; what was looked at before is then too old. */
async function leave(key: Signer, amount: bigint): Promise<void> {
  const instruction = getTransferSolInstruction({
    source: key,
    destination: world.newWallet().address,
    amount: (await lamports(key.address)) - amount - 5_000n,
  });
  const blockhash = await world.cluster.latestBlockhash();
  await world.cluster.send(buildTransaction({ feePayer: key, instructions: [instruction], blockhash }).wire);
}
const later = () => world.clock.advance(16_000);
const pages = async () =>
  (
    await world.store
      .selectFrom('outbox')
      .select('dedup_key')
      .where('dedup_key', 'like', 'page:operator_funds_low:%')
      .execute()
  ).map(({ dedup_key }) => dedup_key.split(':')[2]);
const ready = () => world.call<Health>('/ready');

describe('an authority that holds less than what is open needs', () => {
  test('is refused new intents before a challenge; what was paid for is booked and captured', async () => {
    const made = await world.intent(nextOffer());
    expect((await ready()).status).toBe(200);
    await leave(world.authority, 10_000_000n);
    later();
    const before = await world.usdc(world.wallet.address);
    const refused = await world.call('/air/intents', { offer_id: nextOffer() });
    expect([refused.status, refused.body.code]).toEqual([503, 'operator_funds_low']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await world.usdc(world.wallet.address)).toBe(before);

    const answer = await ready();
    expect(answer.status).toBe(503);
    expect(answer.body).toMatchObject({
      status: 'not_ready',
      wallets: [{ wallet: 'authority', address: world.authority.address, asset: 'SOL', holds: '0.010000000' }],
    });
    expect(Number(answer.body.wallets?.[0]?.needs)).toBeGreaterThan(0.03);

    const body = { intent_id: made.intent_id, passengers: [PASSENGER] };
    expect((await world.paid<BookResponse>('/air/book', body)).status).toBe(200);
    await world.work();
    expect((await world.show(made)).status).toBe('booked');
  });

  test('pages an operator once, and again only after it was filled up', async () => {
    await world.worker.runDue();
    expect(await pages()).toEqual([]);
    for (const expected of [1, 2]) {
      await leave(world.authority, 10_000_000n);
      for (let round = 0; round < 3; round++) {
        later();
        // Another process sees it too.
        await Promise.all([world.worker.runDue(), world.service().worker.runDue()]);
        await world.call('/air/intents', { offer_id: nextOffer() });
      }
      expect(await pages()).toEqual(Array.from({ length: expected }, () => 'authority'));
      await world.cluster.airdropSol(world.authority.address, 5_000_000_000n);
      later();
      await world.worker.runDue();
      expect((await ready()).status).toBe(200);
      expect((await world.paid<CreatedIntent>('/air/intents', { offer_id: nextOffer() })).status).toBe(201);
    }
  });

  test('needs more the more is open', async () => {
    const needs = async () => {
      await leave(world.authority, 10_000_000n);
      later();
      const found = Number((await ready()).body.wallets?.[0]?.needs);
      await world.cluster.airdropSol(world.authority.address, 5_000_000_000n);
      later();
      return found;
    };
    const idle = await needs();
    await world.intent(nextOffer());
    await world.intent(nextOffer());
    expect(await needs()).toBeGreaterThan(idle);
  });
});

describe('a facilitator that can pay no fee', () => {
  test('is a 503 of every paid call, never a payment that looks bad', async () => {
    const asked = await world.call('/air/search', TRIP);
    const payment = await world.sign(asked);
    await leave(world.facilitator, 0n);
    // Also where the last look was a moment ago.
    const headers = { 'PAYMENT-SIGNATURE': payment };
    const paid = await world.call('/air/search', TRIP, { headers });
    expect([paid.status, paid.body.code]).toEqual([503, 'operator_funds_low']);
    later();
    for (const [path, body] of [
      ['/air/search', TRIP],
      ['/air/offer-details', { offer_id: 'off_1' }],
      ['/air/intents', { offer_id: nextOffer() }],
    ] as const) {
      const answer = await world.call(path, body);
      expect([path, answer.status, answer.body.code]).toEqual([path, 503, 'operator_funds_low']);
    }
    expect((await ready()).body.wallets).toMatchObject([{ wallet: 'facilitator', holds: '0.000000000' }]);
    await world.worker.runDue();
    expect(await pages()).toEqual(['facilitator']);
    await world.cluster.airdropSol(world.facilitator.address, 1_000_000_000n);
    later();
    expect((await ready()).status).toBe(200);
    expect((await world.call('/air/search', TRIP, { headers })).status).toBe(200);
  });
});

test('a treasury that holds less than the pay-outs which were granted is short', async () => {
  const owed = { payout_id: 'aff_1', code: 'A', wallet: world.wallet.address, amount: 5_000_000 };
  await world.store
    .insertInto('affiliate_payouts')
    .values({ ...owed, state: 'open', attempts: 0, last_error: null, due_at_ms: 9e15, created_at_ms: 0 })
    .execute();
  const answer = await ready();
  expect(answer.body.wallets).toMatchObject([
    { wallet: 'treasury', address: world.treasury.address, asset: 'USDC', holds: '0.000000', needs: '5.000000' },
  ]);
  await world.cluster.airdropUsdc(world.treasury.address, 5_000_000n);
  later();
  expect((await ready()).status).toBe(200);

  // Paid, and not yet written down: it is not owed a second time.
  const { store, clock, cluster, authority, treasury: treasurySigner, mint } = world;
  const effects = createEffects({ store, cluster, clock, ids: randomIds(clock.now), log: silentLog });
  const payOut = createPayouts({ store, cluster, clock, effects, authority, treasurySigner, mint });
  await payOut({ subject: owed.payout_id, to: owed.wallet, amount: BigInt(owed.amount) });
  expect(await world.usdc(treasurySigner.address)).toBe(0n);
  later();
  expect((await ready()).status).toBe(200);
});
