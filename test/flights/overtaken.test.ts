import type { Address } from '@solana/kit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LEASE_MS } from '../../src/flights/bookings/machine.ts';
import { openStore, type Store } from '../../src/service/home.ts';
import type { CreatedIntent } from '../../src/wire/flights/index.ts';
import { lowcostIntent, TRAVELLER } from './lowcost-journey.ts';
import { openDesk, PAYOUT } from './refund-desk.ts';
import { openWorld, type Ports, type World, type WorldOptions } from './world.ts';

/**
 * A process that stood still for longer than its lease (it was suspended, its disk hung) wakes up in the middle of a
 * step, and another has the booking by then. It does nothing more in the world: no order, no capture, no refund, no
 * pay-out. The other one ends the booking, once.
 */

/** What changes something outside our own database. */
const ACTS = ['cluster.send', 'provider.createOrder', 'provider.cancel', 'lowcost.book', 'lowcost.cancel'];

/**
 * A process that stands still once, until it is woken: after a call, or where it begins a step, which is right after it
 * has claimed work, or with the first read after it has moved its booking there.
 */
function sleeper(store: Store, moment: string) {
  const done: string[] = [];
  let standsStill: () => void = () => undefined;
  let wake: () => void = () => undefined;
  const still = new Promise<void>((resolve) => {
    standsStill = resolve;
  });
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  let isArmed = true;
  let hasMoved = false;
  const reads = new WeakSet<object>();
  const stand = async () => {
    if (!isArmed) return;
    isArmed = false;
    done.length = 0;
    standsStill();
    await woken;
  };
  const watched = <T extends object>(name: string, port: T): T =>
    new Proxy(port, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key);
        const call = `${name}.${String(key)}`;
        const isMoment = moment === `after ${call}`;
        if (typeof value !== 'function' || !(isMoment || ACTS.includes(call))) return value;
        return async (...given: unknown[]) => {
          if (ACTS.includes(call)) done.push(call);
          const answer: unknown = await value.apply(target, given);
          if (isMoment) await stand();
          return answer;
        };
      },
    });
  const wrap = (ports: Ports): Ports => ({
    ...ports,
    store: store.withPlugin({
      transformQuery({ node, queryId }) {
        if (node.kind === 'SelectQueryNode' && hasMoved) reads.add(queryId);
        const text = node.kind === 'UpdateQueryNode' ? JSON.stringify(node) : '';
        hasMoved ||= text.includes('"bookings"') && text.includes(`"value":"${moment}"`);
        return node;
      },
      transformResult: async ({ result, queryId }) => {
        const [row] = result.rows;
        const isClaim = row && 'fence' in row && 'lease_until_ms' in row && row.state === moment;
        const isNext = reads.has(queryId);
        if (isNext || (isClaim && Number(row.lease_until_ms) > ports.clock.now())) await stand();
        return result;
      },
    }),
    cluster: watched('cluster', ports.cluster),
    provider: ports.provider && watched('provider', ports.provider),
    lowcost: ports.lowcost && watched('lowcost', ports.lowcost),
    // What stands still renews no lease.
    clock: {
      now: ports.clock.now,
      sleep: (ms, signal) =>
        isArmed
          ? ports.clock.sleep(ms, signal)
          : new Promise((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true })),
    },
  });
  return { wrap, done, still, wake: () => wake() };
}

/** Two processes claim the same work, one after the other's lease; the first wakes up while the second has it. */
async function overtaken(
  world: World,
  moment: string,
  state: string,
  meanwhile: () => Promise<unknown> = async () => null,
): Promise<string[]> {
  // Each with a connection of its own, as processes have: one that stands still keeps it.
  const stores = [await openStore(world.database), await openStore(world.database)] as const;
  const [first, second] = [sleeper(stores[0], moment), sleeper(stores[1], state)];
  const firstRun = world.service(first.wrap).worker.runDue();
  await first.still;
  await meanwhile();
  world.clock.advance(LEASE_MS + 1);
  const secondRun = world.service(second.wrap).worker.runDue();
  await second.still;
  first.wake();
  await firstRun;
  const did = [...first.done];
  second.wake();
  await secondRun;
  for (const store of stores) await store.destroy();
  await world.work();
  return did;
}

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});
const open = async (options: WorldOptions): Promise<World> => {
  world = await openWorld(options);
  return world;
};

/** How a booking ended: its status, and each effect that was made for it. */
async function ended(at: World, { intent_id }: CreatedIntent) {
  const effects = await at.store
    .selectFrom('effects')
    .select(['kind', 'state'])
    .where('subject', '=', intent_id)
    .execute();
  const { status } = await at.show({ intent_id });
  return { status, effects: effects.map(({ kind, state }) => `${kind} ${state}`).sort() };
}

describe('a worker whose lease was lost', () => {
  test.each([
    ['orders nothing at the airline', 'ordering', 'ordering', '151.20', 'booked'],
    ['captures nothing', 'capturing', 'capturing', '151.20', 'booked'],
    ['refunds nothing', 'refunding', 'refunding', '160.00', 'refunded'],
    ['refunds nothing that it was about to sign', 'after cluster.latestBlockhash', 'refunding', '160.00', 'refunded'],
  ])('%s', async (_what, moment, state, price, status) => {
    const at = await open({ airline: 'scripted' });
    const made = await at.intent('off_1');
    await at.book(made);
    at.airline.script.price = price;
    expect(await overtaken(at, moment, state)).toEqual([]);
    const effects = status === 'booked' ? ['airline_order done', 'capture done'] : ['refund done'];
    expect(await ended(at, made)).toEqual({ status, effects: [...effects, 'open_escrow done'].sort() });
    expect(at.airline.script.created).toBe(status === 'booked' ? 1 : 0);
  });

  test('cancels no order of which it last heard that it is pending', async () => {
    const at = await open({ airline: 'scripted' });
    const made = await at.intent('off_1');
    await at.book(made);
    const { script } = at.airline;
    Object.assign(script, { status: 'pending', cancelsTickets: true });
    await at.worker.runDue();
    at.clock.advance(Date.parse(made.escrow.refund_after) - at.clock.now() - 60_000);
    const ticketed = async () => Object.assign(script, { status: 'ticketed' });
    expect(await overtaken(at, 'after provider.order', 'ticketing', ticketed)).toEqual([]);
    expect((await ended(at, made)).status).toBe('booked');
  });

  test('cancels no order of which a person had said that there is none', async () => {
    const at = await open({ airline: 'scripted' });
    const made = await at.intent('off_1');
    await at.book(made);
    const { script } = at.airline;
    Object.assign(script, { status: 'pending', cancelsTickets: true });
    await at.worker.runDue();
    await at.store
      .updateTable('bookings')
      .set({ state: 'refunding', refund_reason: 'not_ticketed', due_at_ms: at.clock.now() })
      .execute();
    const ticketed = async () => Object.assign(script, { status: 'ticketed' });
    expect(await overtaken(at, 'after provider.findOrder', 'refunding', ticketed)).toEqual([]);
    expect((await ended(at, made)).status).toBe('booked');
  });

  test('sweeps nothing that arrives after the refund', async () => {
    const at = await open({ airline: 'scripted' });
    const made = await at.intent('off_1');
    await at.book(made);
    at.airline.script.price = '160.00';
    const late = () => at.cluster.airdropUsdc(made.escrow.address as Address, 5_000_000n);
    expect(await overtaken(at, 'after cluster.send', 'refunding', late)).toEqual([]);
    expect((await ended(at, made)).status).toBe('refunded');
    expect(await at.usdc(at.refundWallet.address)).toBe(156_200_000n);
  });

  test('presses no pay button at a carrier', async () => {
    const at = await open({ lowcostMs: 60_000 });
    const made = await lowcostIntent(at, 'LIS', 'BER');
    await at.book(made, [TRAVELLER]);
    expect(await overtaken(at, 'ordering', 'ordering')).toEqual([]);
    expect((await ended(at, made)).status).toBe('booked');
  });
});

describe('a worker whose lease on a refund request was lost', () => {
  let desk: Awaited<ReturnType<typeof openDesk>>;
  beforeAll(async () => {
    desk = await openDesk();
  });
  afterAll(() => desk.world.close());

  test.each([
    ['cancels nothing at the airline and pays nothing out', 'approved'],
    ['pays nothing out for a ticket that it has cancelled', 'after provider.cancel'],
  ])('%s', async (_what, moment) => {
    const made = await desk.requested();
    const before = (await desk.world.sums(made)).refund;
    // The operator's own process dies with the decision on record: the workers carry it out.
    await desk.world.store
      .updateTable('refund_requests')
      .set({ state: 'approved', payout_amount: Number(PAYOUT), due_at_ms: desk.world.clock.now() })
      .where('intent_id', '=', made.intent_id)
      .execute();
    expect(await overtaken(desk.world, moment, 'approved')).toEqual([]);
    expect((await desk.world.sums(made)).refund - before).toBe(PAYOUT);
    const { status, effects } = await ended(desk.world, made);
    expect(status).toBe('refunded');
    expect(effects.filter((one) => /payout|cancel/.test(one))).toEqual(['airline_cancel done', 'payout done']);
  });
});
