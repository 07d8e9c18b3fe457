import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore, type Store } from '../../src/service/home.ts';

/**
 * What there is once, whatever a process believes: the checks before a write hold within one process at one moment, the
 * database for all of them.
 */
const ONE: readonly (readonly [what: string, table: string, column: string])[] = [
  ['a challenge that is paid', 'settlements', 'quote_id'],
  ['a payment', 'settlements', 'payment_key'],
  ['the memo of a challenge', 'quotes', 'memo'],
  ['a living attempt of an effect', 'effects', 'live_key'],
  ['a living intent of a wallet and an offer', 'intents', 'active_key'],
  ['an intent of a payment', 'intents', 'payment_key'],
  ['a creation of a payer', 'intents', 'creating_key'],
  ['an escrow', 'intents', 'escrow_address'],
  ['a booking of an intent', 'bookings', 'intent_id'],
  ['an order of an intent', 'orders', 'intent_id'],
  ['an open refund request of an intent', 'refund_requests', 'open_key'],
  ['a refund request of a payment', 'refund_requests', 'payment_key'],
  ['a code of an affiliate', 'affiliates', 'wallet'],
  ['a message about an event', 'outbox', 'dedup_key'],
  ['a sponsored signature', 'sponsored_signatures', 'signature'],
  ['a search that counts', 'search_completions', 'id'],
  ['an operator key', 'api_keys', 'key_hmac'],
  ['a partner key', 'partner_keys', 'key_hmac'],
  ['an order of an Idempotency-Key', 'partner_orders', 'creation_key'],
  ['an answer of an Idempotency-Key', 'partner_answers', 'handle'],
];

const home = mkdtempSync(join(tmpdir(), 'farelock-unique-'));
let store: Store;
beforeAll(async () => {
  store = await openStore(join(home, 'service.db'));
});
afterAll(async () => {
  await store.destroy();
  rmSync(home, { recursive: true, force: true });
});

/** Writes a row that shares nothing with the others but what is in `same`. */
async function write(table: string, number: number, same: Record<string, string>): Promise<void> {
  const { rows: columns } = await sql<{ name: string; type: string }>`
    select name, type from pragma_table_info(${table})`.execute(store);
  const values = columns.map(
    ({ name, type }) => same[name] ?? (type === 'text' || type === 'TEXT' ? `${name} ${number}` : number),
  );
  await sql`insert into ${sql.table(table)} (${sql.join(columns.map(({ name }) => sql.ref(name)))})
    values (${sql.join(values)})`.execute(store);
}

test.each(ONE)('%s is there once: %s.%s', async (_what, table, column) => {
  const count = async () =>
    (await sql<{ rows: number }>`select count(*) as rows from ${sql.table(table)}`.execute(store)).rows[0]?.rows;
  const before = Number(await count());
  const number = ONE.findIndex((one) => one[1] === table && one[2] === column) * 10 + 1_000;
  await write(table, number, { [column]: `shared ${number}` });
  await expect(write(table, number + 1, { [column]: `shared ${number}` })).rejects.toThrow(/UNIQUE/);
  await write(table, number + 2, { [column]: `other ${number}` });
  expect(Number(await count())).toBe(before + 2);
});
