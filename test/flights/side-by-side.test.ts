import { setTimeout as passed } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { retire } from '../../src/flights/bookings/creations.ts';
import { openStore, type Store } from '../../src/service/home.ts';
import { inTurn } from '../../src/store/base/index.ts';
import { newDatabases, postgresIsInstalled } from '../store/postgres.ts';
import { openWorld, PASSENGER, type World } from './world.ts';
import { worldDatabase } from './world-database.ts';

/** Processes on one PostgreSQL: one that is slow in its transaction holds up nobody else's journey. */

let databases: Awaited<ReturnType<typeof newDatabases>>;
let world: World;
let beside: Store;
const inAFile = worldDatabase.next;
beforeAll(async () => {
  if (!postgresIsInstalled) return;
  databases = await newDatabases();
  worldDatabase.next = databases.next;
  world = await openWorld({ airline: 'sandbox', ticketingMs: 10 });
  await world.cluster.airdropUsdc(world.wallet.address, 1_000_000_000_000n);
  beside = await openStore(world.database);
});
afterAll(async () => {
  worldDatabase.next = inAFile;
  await beside?.destroy();
  await world?.close();
});

let taken = 0;
/** Locks a fare that no test before has locked. */
async function locked() {
  const { offers } = await world.search();
  const sold = offers.filter((one) => one.total_currency === 'USD' && !one.offer_id.startsWith('lowcost:'));
  return world.intent(sold[taken++]?.offer_id ?? '');
}

test.runIf(postgresIsInstalled)('a booking goes its way while another one is in a transaction', async () => {
  const other = await locked();
  await inTurn(beside, [`intents:${other.intent_id}`], async (tx) => {
    const mine = await locked();
    await tx.selectFrom('meta').select('key').limit(1).execute();
    await world.book(mine);
    await tx.selectFrom('meta').select('key').limit(1).execute();
    await world.work();
    expect(await world.show(mine)).toMatchObject({ status: 'booked' });
  });
  await world.book(other);
  await world.work();
  expect(await world.show(other)).toMatchObject({ status: 'booked' });
});

test.runIf(postgresIsInstalled)(
  'of two processes that book one intent at once, one takes the money, once',
  async () => {
    const [offer] = (await world.search()).offers;
    const intent = await world.intent(offer?.offer_id ?? '');
    const before = await world.usdc(world.wallet.address);
    const body = { intent_id: intent.intent_id, passengers: [PASSENGER] };
    const services = [world.service(), world.service()];
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) => world.paid('/air/book', body, { call: services[at % 2]?.call as never })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    expect(before - (await world.usdc(world.wallet.address))).toBe(BigInt(intent.escrow.amount));
  },
);

test.runIf(postgresIsInstalled)('an intent that is being retired is not paid any more', async () => {
  const intent = await locked();
  const before = await world.usdc(world.wallet.address);
  // As a creation for the same fare does it, by a clock that is ahead.
  const booked = await inTurn(beside, ['creations'], async (tx) => {
    await retire(tx, intent, 'intent_expired', world.clock.now());
    const asked = world.paid('/air/book', { intent_id: intent.intent_id, passengers: [PASSENGER] });
    await passed(500);
    return { asked };
  });
  expect((await booked.asked).status).toBe(409);
  expect(await world.usdc(world.wallet.address)).toBe(before);
});
