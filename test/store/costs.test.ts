import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWorld, type World } from '../flights/world.ts';
import { type Costs, countCosts } from './costs.ts';

/** The cost of paid calls, in statements on libsql files and waits for the disk, ledger included. */

const costs = countCosts();
let world: World;
beforeAll(async () => {
  world = await openWorld({ airline: 'sandbox', lowcostMs: 2_000 });
  await world.search();
});
afterAll(async () => {
  await world.close();
  costs.stop();
});

/** The cheapest of several: a slot of the ledger that begins in between costs a statement of its own. */
async function least(work: () => Promise<unknown>): Promise<Costs> {
  const all: Costs[] = [];
  for (let round = 0; round < 4; round++) all.push(await costs.of(work));
  return all.reduce((a, b) => (a.statements.length <= b.statements.length ? a : b));
}

/** Asked of the ledger's file as often as its clock moves on: how often depends on the machine. */
const IS_CLOCK = /^(pragma data_version|select genesis_ms|update ledger set wall_ms)/;

test('a paid search takes at most 18 statements, and waits for the disk twice: signed, then landed', async () => {
  const { statements, syncs } = await least(() => world.search());
  const counted = statements.filter((one) => !IS_CLOCK.test(one));
  expect(counted.length, counted.join('\n')).toBeLessThanOrEqual(18);
  expect(syncs).toEqual(['service.db', 'ledger.db']);
});

test('paid searches at the same moment share their commits', async () => {
  const together = await costs.of(() => Promise.all(Array.from({ length: 8 }, () => world.search())));
  expect(together.syncs.length).toBeLessThanOrEqual(8);
});

test('an answer that was paid for takes less than 10 KB of the database', async () => {
  const size = async () => {
    const { rows } = await sql<{
      n: number;
    }>`select page_count * page_size as n from pragma_page_count, pragma_page_size`.execute(world.store);
    return rows[0]?.n ?? 0;
  };
  const before = await size();
  for (let round = 0; round < 20; round++) await world.search({ limit: 20, cheapest_per_itinerary: true });
  expect((await size()) - before).toBeLessThan(20 * 10_240);
});

test('a booking waits for the disk with each thing that was signed, that landed, and that somebody is told', async () => {
  const { offers } = await world.search({ limit: 50 });
  const affordable = offers.filter((one) => Number(one.total_amount_decimal) < 400);
  // The first one makes the airline's file, and a sweep may be due in between.
  const booking = await least(async () => {
    const intent = await world.intent(affordable.pop()?.offer_id ?? '');
    await world.book(intent);
    await world.work();
    expect((await world.show(intent)).status).toBe('booked');
  });
  expect(booking.syncs).toEqual([
    ...['the escrow is signed', 'it has landed', 'its payment is signed', 'it has landed'].map(fileOf),
    ...['the intent is answered', 'the fare is signed', 'it has landed', 'the booking is queued'].map(fileOf),
    ...['the order is planned', 'it is made', 'the capture is signed', 'it has landed', 'the ticket is shown'].map(
      fileOf,
    ),
  ]);
});

const fileOf = (what: string): string =>
  what === 'it has landed' ? 'ledger.db' : what === 'it is made' ? 'airline.db' : 'service.db';
