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

test('a paid search takes at most 20 statements, and waits for the disk twice', async () => {
  const { statements, waits } = await least(() => world.search());
  expect(statements.length, statements.join('\n')).toBeLessThanOrEqual(20);
  expect(waits).toBeLessThanOrEqual(2);
});

test('paid searches at the same moment share their commits', async () => {
  const together = await costs.of(() => Promise.all(Array.from({ length: 8 }, () => world.search())));
  expect(together.waits).toBeLessThanOrEqual(8);
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

test('a booking waits for the disk 13 times at most, from the intent to the ticket', async () => {
  const { offers } = await world.search({ limit: 50 });
  const affordable = offers.filter((one) => Number(one.total_amount_decimal) < 400);
  // The first one makes the airline's file, and a sweep may be due in between.
  const booking = await least(async () => {
    const intent = await world.intent(affordable.pop()?.offer_id ?? '');
    await world.book(intent);
    await world.work();
    expect((await world.show(intent)).status).toBe('booked');
  });
  expect(booking.waits).toBeLessThanOrEqual(13);
});
