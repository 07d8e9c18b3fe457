import type { Address } from '@solana/kit';
import { afterEach, expect, test } from 'vitest';
import { readEscrow } from '../../../src/escrow/account.ts';
import { ESCROW_PROGRAM_ID } from '../../../src/escrow/address.ts';
import { LEASE_MS, STEP_MS } from '../../../src/flights/bookings/machine.ts';
import { type Clock, systemClock } from '../../../src/kernel/clock.ts';
import { problem } from '../../../src/kernel/problems.ts';
import type { CreatedIntent } from '../../../src/wire/flights/index.ts';
import { proofTest } from '../../proof-only.ts';
import { openWorld, type World, type WorldOptions } from '../world.ts';

const HOUR_MS = 3_600_000;
const FEE = 100_000n;
const TICKET = 151_200_000n;

let world: World;
afterEach(() => world?.close());

const open = async (options: WorldOptions = { airline: 'scripted' }) => {
  world = await openWorld(options);
  return world;
};
const escrowOf = (made: CreatedIntent) =>
  readEscrow(world.cluster, made.escrow.address as Address, [ESCROW_PROGRAM_ID]);
const stateOf = async (made: CreatedIntent) =>
  (await world.store
    .selectFrom('bookings')
    .select(['state', 'last_error', 'provider_order_id'])
    .where('intent_id', '=', made.intent_id)
    .executeTakeFirst()) ?? null;
const silent = () => {
  throw problem('provider_failed');
};

/** A booked and paid intent, before the worker has seen it. */
async function requested(options?: WorldOptions) {
  await open(options);
  const before = await world.sums();
  const made = await world.intent('off_1');
  await world.book(made);
  return { made, before };
}

async function expectRefunded(made: CreatedIntent, before: { wallet: bigint; total: bigint }, reason: string) {
  expect(await world.show(made)).toMatchObject({
    status: 'refunded',
    refund_reason: reason,
    refund_tx_hash: expect.any(String),
    refunded_at: expect.any(String),
    order_id: null,
    captured_at: null,
  });
  expect(await world.sums(made)).toMatchObject({
    wallet: before.wallet - FEE - TICKET,
    refund: TICKET,
    vault: 0n,
    total: before.total,
  });
  expect((await escrowOf(made))?.state).toBe('refunded');
}

test('a booking is ticketed, captured and booked, and the sums agree to the unit', async () => {
  await open();
  const supply = await world.supply();
  const before = await world.sums();
  const made = await world.intent('off_1');
  expect(made).toMatchObject({ status: 'active', expected_ticket_amount: 151_200_000, fee_amount: 1_512_000 });
  await world.book(made);
  expect((await world.show(made)).escrow.observed_amount).toBe(Number(TICKET));
  await world.work();
  expect(await world.show(made)).toMatchObject({
    status: 'booked',
    refund_reason: null,
    order_id: expect.stringMatching(/^ord_/),
    ticketed_at: expect.any(String),
    captured_at: expect.any(String),
    capture_tx_hash: expect.any(String),
  });
  expect(await world.sums(made)).toEqual({
    wallet: before.wallet - FEE - TICKET,
    refund: 0n,
    treasury: before.treasury + FEE + TICKET,
    vault: 0n,
    total: before.total,
  });
  expect(await world.supply()).toBe(supply);
  expect((await escrowOf(made))?.state).toBe('captured');
  expect(await world.cluster.tokenBalance(made.escrow.vault_address as Address)).toBeNull();
});

test.each(['160.00', '140.00'])(
  'a price that moved after payment (%s) is refunded to the frozen wallet, and nothing is ordered',
  async (price) => {
    const { made, before } = await requested();
    world.airline.script.price = price;
    await world.work();
    await expectRefunded(made, before, 'offer_repriced');
    expect(world.airline.script.created).toBe(0);
  },
);

test('an order that the airline refuses is refunded', async () => {
  const { made, before } = await requested();
  world.airline.script.before.createOrder = () => {
    throw problem('offer_unavailable');
  };
  await world.work();
  await expectRefunded(made, before, 'offer_unavailable');
});

test('a ticket that is never issued is refunded', async () => {
  const { made, before } = await requested();
  world.airline.script.status = 'pending';
  await world.worker.runDue();
  expect((await stateOf(made))?.state).toBe('ticketing');
  world.airline.script.status = 'failed';
  await world.work();
  await expectRefunded(made, before, 'ticketing_failed');
});

test('an order that the airline has cancelled is refunded, and not waited for', async () => {
  const { made, before } = await requested();
  world.airline.script.status = 'pending';
  await world.worker.runDue();
  world.airline.script.status = 'cancelled';
  await world.work(60_000);
  await expectRefunded(made, before, 'ticketing_failed');
});

test('an order that is confirmed is no ticket: nothing is captured before there is one', async () => {
  const { made } = await requested();
  world.airline.script.status = 'confirmed';
  await world.work(60_000);
  expect((await stateOf(made))?.state).toBe('ticketing');
  expect((await world.sums(made)).vault).toBe(TICKET);
  world.airline.script.status = 'ticketed';
  await world.work();
  expect((await world.show(made)).status).toBe('booked');
});

test('a slow ticket is waited for', async () => {
  const { made } = await requested();
  world.airline.script.status = 'pending';
  await world.work(HOUR_MS);
  expect((await world.show(made)).status).toBe('active');
  world.airline.script.status = 'ticketed';
  await world.work();
  expect((await world.show(made)).status).toBe('booked');
});

test('an order still pending when the escrow nears its deadline is cancelled before the refund', async () => {
  const { made, before } = await requested();
  world.airline.script.status = 'pending';
  await world.worker.runDue();
  world.clock.advance(Date.parse(made.escrow.refund_after) - world.clock.now() - 60_000);
  let cancelled = 0;
  world.airline.script.before.cancel = () => {
    cancelled++;
  };
  await world.work();
  expect(cancelled).toBe(1);
  await expectRefunded(made, before, 'ticketing_timeout');
});

test('half an hour is kept for a capture to land: an order is waited for until then, and no longer', async () => {
  const { made, before } = await requested();
  world.airline.script.status = 'pending';
  await world.worker.runDue();
  let cancelledAtMs = 0;
  world.airline.script.before.cancel = () => {
    cancelledAtMs = world.clock.now();
  };
  const latestMs = Date.parse(made.escrow.refund_after) - 30 * 60_000;
  world.clock.advance(latestMs - 60_000 - world.clock.now());
  await world.work(30_000);
  expect(cancelledAtMs).toBe(0);
  await world.work(5 * 60_000);
  expect(cancelledAtMs).toBeGreaterThan(latestMs);
  expect(cancelledAtMs).toBeLessThan(latestMs + 2 * 60_000);
  await expectRefunded(made, before, 'ticketing_timeout');
});

test('an order that its airline keeps, though it was cancelled, waits for a person, and is not refunded', async () => {
  const { made } = await requested();
  Object.assign(world.airline.script, { status: 'confirmed', keepsOrders: true });
  await world.worker.runDue();
  world.clock.advance(Date.parse(made.escrow.refund_after) - world.clock.now() - 60_000);
  await world.work();
  expect(await stateOf(made)).toMatchObject({ state: 'stuck', last_error: 'order_not_cancelled' });
  expect((await world.sums(made)).vault).toBe(TICKET);
});

proofTest('an order that can be neither ticketed nor cancelled waits for a person, and is not refunded', async () => {
  const { made } = await requested();
  world.airline.script.status = 'pending';
  await world.worker.runDue();
  world.clock.advance(Date.parse(made.escrow.refund_after) - world.clock.now() - 60_000);
  world.airline.script.before.cancel = silent;
  world.airline.script.before.order = silent;
  await world.work(3 * HOUR_MS);
  expect(await stateOf(made)).toMatchObject({ state: 'stuck' });
  expect((await world.sums(made)).vault).toBe(TICKET);
});

test('no order is made that could end after the escrow can be refunded by anyone', async () => {
  const { made, before } = await requested();
  world.clock.advance(Date.parse(made.escrow.refund_after) - world.clock.now() - 60_000);
  await world.work();
  await expectRefunded(made, before, 'deadline_passed');
  expect(world.airline.script.created).toBe(0);
});

test('an order whose answer was lost is found, not made again', async () => {
  const { made } = await requested();
  const { script, provider } = world.airline;
  let lost = false;
  const answer = provider.createOrder;
  script.before.findOrder = () => undefined;
  Object.assign(provider, {
    createOrder: async (request: Parameters<typeof answer>[0]) => {
      const order = await answer(request);
      if (lost) return order;
      lost = true;
      return silent();
    },
  });
  await world.work();
  expect((await world.show(made)).status).toBe('booked');
  expect(script.created).toBe(1);
});

test('while the airline cannot say whether it holds an order, nothing is refunded and a person is called', async () => {
  const { made } = await requested();
  world.airline.script.before.createOrder = silent;
  world.airline.script.before.findOrder = silent;
  await world.work(6 * HOUR_MS);
  expect(await stateOf(made)).toMatchObject({ state: 'stuck', last_error: 'outcome_unknown' });
  expect((await world.sums(made)).vault).toBe(TICKET);
  expect((await world.show(made)).status).toBe('active');
});

proofTest('an airline that stays silent before anything is ordered leads to a refund', async () => {
  const { made, before } = await requested();
  world.airline.script.before.offer = silent;
  await world.work(HOUR_MS);
  await expectRefunded(made, before, 'provider_failed');
});

test('an airline that slows us down is believed, and the booking goes through later', async () => {
  const { made } = await requested();
  let refusals = 2;
  const limited = () => {
    if (refusals-- > 0) throw problem('upstream_rate_limited', { retryAfter: 30 });
  };
  world.airline.script.before.offer = limited;
  const run = await world.worker.runDue();
  expect((run.nextDueAtMs ?? 0) - world.clock.now()).toBeGreaterThan(25_000);
  await world.work();
  expect((await world.show(made)).status).toBe('booked');
});

test('a ticket whose capture fails is captured later, never refunded', async () => {
  const { made } = await requested();
  let failing = true;
  const weak = world.service((ports) => ({
    ...ports,
    cluster: {
      ...ports.cluster,
      send: async (wire) => {
        if (failing) throw problem('cluster_failed');
        return ports.cluster.send(wire);
      },
    },
  }));
  await world.work(HOUR_MS, weak.worker);
  expect(await stateOf(made)).toMatchObject({ state: 'capturing' });
  expect((await world.show(made)).ticketed_at).not.toBeNull();
  failing = false;
  await world.work(HOUR_MS, weak.worker);
  expect((await world.show(made)).status).toBe('booked');
  expect((await world.sums(made)).refund).toBe(0n);
});

test('an escrow that someone else refunded while the ticket was issued waits for a person', async () => {
  const { made } = await requested();
  world.airline.script.status = 'pending';
  await world.worker.runDue();
  const { refundInstructions } = await import('../../../src/escrow/program.ts');
  const { buildTransaction } = await import('../../../src/solana/transaction.ts');
  const { wire } = buildTransaction({
    feePayer: world.authority,
    blockhash: await world.cluster.latestBlockhash(),
    instructions: await refundInstructions({
      programId: ESCROW_PROGRAM_ID,
      payer: world.authority.address,
      authority: world.authority.address,
      escrow: made.escrow.address as Address,
      mint: world.mint,
      refundOwner: world.refundWallet.address,
    }),
  });
  await world.cluster.send(wire);
  world.airline.script.status = 'ticketed';
  await world.work();
  expect(await stateOf(made)).toMatchObject({ state: 'stuck', last_error: 'the escrow is refunded' });
});

test('several workers at once make one order, one capture, one end', async () => {
  const { made, before } = await requested();
  const services = [world.service(), world.service(), world.service()];
  for (let round = 0; round < 10; round++) {
    await Promise.all(services.map(({ worker }) => worker.runDue()));
    world.clock.advance(1000);
  }
  expect((await world.show(made)).status).toBe('booked');
  expect(world.airline.script.created).toBe(1);
  const effects = await world.store.selectFrom('effects').select(['kind', 'state']).execute();
  expect(effects.map(({ kind, state }) => `${kind} ${state}`).sort()).toEqual([
    'airline_order done',
    'capture done',
    'open_escrow done',
  ]);
  expect((await world.sums(made)).total).toBe(before.total);
});

test('a worker that was overtaken changes nothing', async () => {
  const { made } = await requested();
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let first = true;
  world.airline.script.before.offer = async () => {
    if (!first) return;
    first = false;
    await held;
  };
  // It stands still: its lease is not renewed either.
  const still = world.service((ports) => ({
    ...ports,
    clock: {
      now: ports.clock.now,
      sleep: (_ms, signal) => new Promise((wake) => signal?.addEventListener('abort', () => wake())),
    },
  }));
  const slow = still.worker.runDue();
  await expect.poll(() => first).toBe(false);
  world.clock.advance(LEASE_MS + 1);
  world.airline.script.status = 'failed';
  await world.service().worker.runDue();
  expect((await world.show(made)).status).toBe('refunded');
  const rows = () => world.store.selectFrom('bookings').selectAll().execute();
  const before = await rows();
  release();
  await slow;
  expect(await rows()).toEqual(before);
  expect(await world.show(made)).toMatchObject({ status: 'refunded', order_id: null });
  expect(world.airline.script.created).toBe(1);
});

proofTest(
  'a step may take longer than a lease, and is nobody else’s meanwhile; one that hangs is taken over',
  async () => {
    const { made } = await requested();
    let asked = 0;
    let release: () => void = () => undefined;
    const answer = new Promise<void>((resolve) => {
      release = resolve;
    });
    world.airline.script.before.offer = async () => {
      asked++;
      if (asked === 1) await answer;
    };
    const lease = async () =>
      Number(
        (
          await world.store
            .selectFrom('bookings')
            .select('lease_until_ms')
            .where('intent_id', '=', made.intent_id)
            .executeTakeFirstOrThrow()
        ).lease_until_ms,
      );
    // The test's clock runs ahead of the machine's, and the lease is renewed by it.
    const sleep: Clock['sleep'] = (ms, signal) => systemClock.sleep(Math.min(ms, 5), signal);
    const slow = world.service((ports) => ({ ...ports, clock: { now: world.clock.now, sleep } })).worker.runDue();
    await expect.poll(() => asked).toBe(1);
    for (let passed = 0; passed < STEP_MS; passed += LEASE_MS * 0.5) {
      const heldUntilMs = await lease();
      world.clock.advance(LEASE_MS * 0.5);
      if (passed + LEASE_MS * 0.5 >= STEP_MS) break;
      await expect.poll(lease, { timeout: 30_000, interval: 20 }).toBeGreaterThan(heldUntilMs);
      await world.service().worker.runDue();
      expect(asked).toBe(1);
    }
    world.clock.advance(LEASE_MS);
    await world.service().worker.runDue();
    expect(asked).toBe(2);
    expect((await world.show(made)).status).toBe('booked');
    release();
    await slow;
    expect(world.airline.script.created).toBe(1);
  },
);

test('a clock that was set back holds up no booking', async () => {
  const { made } = await requested();
  const hourAhead = { lease_until_ms: world.clock.now() + HOUR_MS, due_at_ms: world.clock.now() + HOUR_MS };
  await world.store.updateTable('bookings').set(hourAhead).execute();
  const { nextDueAtMs } = await world.worker.runDue();
  expect(nextDueAtMs ?? 0).toBeLessThan(world.clock.now() + 60_000);
  await world.work();
  expect((await world.show(made)).status).toBe('booked');
});

test('an expired intent that holds money is refunded; one that holds none keeps its status and is closed', async () => {
  await open();
  const funded = await world.intent('off_1');
  const empty = await world.intent('off_2');
  await world.cluster.airdropUsdc(funded.escrow.address as Address, 5_000_000n);
  world.clock.advance(31 * 60_000);
  await world.work();
  expect(await world.show(funded)).toMatchObject({ status: 'refunded', refund_reason: 'intent_expired' });
  expect(await world.usdc(world.refundWallet.address)).toBe(5_000_000n);
  expect(await world.show(empty)).toMatchObject({ status: 'active', refund_reason: null });
  // Neither ever held its amount: nothing of them is left, and every rent is back.
  const places = [funded, empty].flatMap(({ escrow }) => [escrow.address, escrow.vault_address]) as Address[];
  expect(await world.cluster.accounts(places)).toEqual([null, null, null, null]);
});

test('that an expired intent held money is known after the refund, even when its answer was lost', async () => {
  await open();
  const made = await world.intent('off_1');
  await world.cluster.airdropUsdc(made.escrow.address as Address, 5_000_000n);
  world.clock.advance(31 * 60_000);
  const forgetful = world.service((ports) => ({
    ...ports,
    cluster: {
      ...ports.cluster,
      send: async (wire) => {
        await ports.cluster.send(wire);
        throw problem('cluster_failed');
      },
      signatureStatus: async () => null,
    },
  }));
  await forgetful.worker.runDue();
  expect(await escrowOf(made)).toBeNull();
  await world.work();
  expect(await world.show(made)).toMatchObject({
    status: 'refunded',
    refund_reason: 'intent_expired',
    refund_tx_hash: expect.any(String),
    escrow: { observed_amount: 5_000_000 },
  });
});

test('with nothing due the worker only reads', async () => {
  await open();
  const failing = { send: () => Promise.reject(new Error('sent')) };
  const idle = world.service((ports) => ({ ...ports, cluster: { ...ports.cluster, ...failing } }));
  expect(await idle.worker.runDue()).toEqual({ worked: 0, nextDueAtMs: null });
});
