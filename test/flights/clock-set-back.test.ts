import { afterEach, describe, expect, test } from 'vitest';
import { randomIds } from '../../src/kernel/ids.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { createOutbox } from '../../src/notify/outbox.ts';
import { openWorld, type World } from './world.ts';

/** What was put off by a clock that ran ahead is due once the clock is right again, not when its time comes. */

const DAY_MS = 86_400_000;
const AHEAD_MS = 400 * DAY_MS;
let world: World;
afterEach(() => world?.close());

test('a message that was put off is sent', async () => {
  world = await openWorld({ airline: 'none' });
  const sent: string[] = [];
  const outbox = createOutbox({
    ...world,
    ids: randomIds(world.clock.now),
    log: silentLog,
    transports: async () => ({
      page: async (message) => void sent.push(message.event),
      mail: async () => undefined,
      forget: async () => undefined,
    }),
  });
  await world.store
    .transaction()
    .execute((tx) =>
      outbox.enqueue(tx, {
        kind: 'page',
        dedupKey: 'page:x',
        intentId: null,
        event: 'booking_stuck',
        text: 'Look.',
        fields: {},
      }),
    );
  const later = world.clock.now() + AHEAD_MS;
  await world.store.updateTable('outbox').set({ next_at_ms: later, lease_until_ms: later }).execute();
  expect(await outbox.deliverDue()).toMatchObject({ sent: 1 });
  expect(sent).toEqual(['booking_stuck']);
});

test('an upkeep task that was put off is done', async () => {
  world = await openWorld({ airline: 'scripted' });
  const made = await world.intent('off_1');
  await world.book(made);
  await world.work();
  await world.cluster.airdropUsdc(made.escrow.address as Parameters<typeof world.cluster.airdropUsdc>[0], 7_000_000n);
  const later = world.clock.now() + AHEAD_MS;
  await world.store
    .updateTable('upkeep')
    .set({ due_at_ms: later, created_at_ms: later })
    .where('task', '=', 'late_money')
    .execute();
  await world.store.updateTable('meta').set({ value: '0' }).where('key', '=', 'sweep_due_at_ms').execute();
  await world.service().worker.runDue();
  expect(await world.sums(made)).toMatchObject({ vault: 0n, refund: 7_000_000n });
  const task = await world.store
    .selectFrom('upkeep')
    .select(['due_at_ms', 'created_at_ms'])
    .where('task', '=', 'late_money')
    .executeTakeFirstOrThrow();
  expect(task.created_at_ms).toBeLessThanOrEqual(world.clock.now());
  expect(task.due_at_ms).toBeLessThanOrEqual(world.clock.now() + DAY_MS);
});

test('a creation whose request died under a clock that ran ahead is finished', async () => {
  world = await openWorld({ airline: 'scripted' });
  const made = await world.intent('off_1');
  // As it lies there before its payment has settled.
  await world.store
    .updateTable('intents')
    .set({
      opened_at_ms: null,
      created_at_ms: world.clock.now() + AHEAD_MS,
      expires_at_ms: world.clock.now() + AHEAD_MS + DAY_MS,
    })
    .execute();
  await world.worker.runDue();
  expect((await world.show(made)).status).toBe('active');
});

describe('a pay-out to an affiliate', () => {
  const AMOUNT = 302_400;
  const order = async (row: { due_at_ms: number; lease_until_ms?: number }) => {
    const wallet = world.newWallet().address;
    await world.cluster.airdropUsdc(world.treasury.address, 10_000_000n);
    await world.store
      .insertInto('affiliate_payouts')
      .values({
        payout_id: 'pay_1',
        code: '0000000000',
        wallet,
        amount: AMOUNT,
        state: 'open',
        attempts: 0,
        created_at_ms: 0,
        ...row,
      })
      .execute();
    return wallet;
  };

  test('that was put off is made', async () => {
    world = await openWorld({ airline: 'none' });
    const later = world.clock.now() + AHEAD_MS;
    const wallet = await order({ due_at_ms: later, lease_until_ms: later });
    await world.worker.runDue();
    expect(await world.usdc(wallet)).toBe(BigInt(AMOUNT));
  });

  test('is made by one of many workers that come at the same moment', async () => {
    world = await openWorld({ airline: 'none' });
    const wallet = await order({ due_at_ms: 0 });
    let sends = 0;
    const counting = () =>
      world.service((ports) => ({
        ...ports,
        cluster: {
          ...ports.cluster,
          send: (wire) => {
            sends++;
            return ports.cluster.send(wire);
          },
        },
      }));
    await Promise.all(Array.from({ length: 5 }, () => counting().worker.runDue()));
    expect(await world.usdc(wallet)).toBe(BigInt(AMOUNT));
    expect(sends).toBe(1);
    const row = await world.store.selectFrom('affiliate_payouts').select(['fence', 'state']).executeTakeFirst();
    expect(row).toEqual({ fence: 1, state: 'paid' });
  });

  test('is not signed by a worker that was overtaken', async () => {
    world = await openWorld({ airline: 'none' });
    const wallet = await order({ due_at_ms: 0 });
    const slow = world.service((ports) => ({
      ...ports,
      cluster: {
        ...ports.cluster,
        // Long enough for its lease to run out, and for another one to begin.
        latestBlockhash: async () => {
          await world.store.updateTable('affiliate_payouts').set({ fence: 9 }).execute();
          return ports.cluster.latestBlockhash();
        },
      },
    }));
    await slow.worker.runDue();
    expect(await world.usdc(wallet)).toBe(0n);
    expect(await world.store.selectFrom('effects').select('effect_id').execute()).toEqual([]);
  });
});
