import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Kysely } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPaymentsStore } from '../../../src/client/journal/payments-store.ts';
import { type ClientTables, clientMigrations } from '../../../src/client/journal/store-schema.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { isProblem } from '../../../src/kernel/problems.ts';
import { openSecrets } from '../../../src/kernel/secrets.ts';
import { openDatabase } from '../../../src/store/open.ts';
import { heardInTurn, racing, turn } from '../../racing.ts';

const home = mkdtempSync(join(tmpdir(), 'farelock-journal-'));
const secrets = openSecrets(join(home, 'keys.json'));
const ids = randomIds();
const clock = { now: () => 1_800_000_000_000, sleep: async () => undefined };
let db: Kysely<ClientTables>;
beforeAll(async () => {
  db = await openDatabase(join(home, 'client.db'), clientMigrations);
});
afterAll(async () => {
  await db.destroy();
  rmSync(home, { recursive: true, force: true });
});

const LIMIT = 250n;
const AMOUNT = 100n;
const USER = fc.record({
  call: fc.integer({ min: 1, max: 2 }),
  end: fc.constantFrom('nothing', 'refused', 'answered', 'answered and shown'),
});

test('commands at once: one open payment for a call, and never more signed than the day allows', () =>
  racing(
    fc.array(USER, { minLength: 2, maxLength: 6 }),
    async (s, users) => {
      await db.deleteFrom('payments').execute();
      const written: { id: string; call: number }[] = [];
      const refused: unknown[] = [];
      const act = async ({ call, end }: (typeof users)[number], number: number) => {
        await turn(s, `${number} comes`);
        const store = createPaymentsStore({
          db: db.withPlugin(heardInTurn(s, `${number}`)),
          secrets,
          clock,
          ids,
          keepIntent: async () => undefined,
        });
        const identity = {
          baseUrl: 'http://shop.test',
          resource: 'POST /air/search',
          body: { call },
          headers: {},
          wallet: 'w',
        };
        if (await store.open(identity)) return;
        const open = await store
          .write({
            budget: { limit: LIMIT, windowMs: 86_400_000 },
            identity,
            payload: `${number}`,
            amount: AMOUNT,
            asset: 'usdc',
            payTo: 't',
            network: 'n',
            lastValidBlockHeight: 1n,
            signedAtSlot: null,
          })
          .catch((error: unknown) => {
            if (!isProblem(error, 'daily_limit_reached')) throw error;
            refused.push(error);
            return null;
          });
        if (!open) return;
        written.push({ id: open.id, call });
        // What was signed is what is on record, whoever asks.
        expect((await store.open(identity))?.payload).toBe(`${number}`);
        if (end === 'nothing') return;
        if (end === 'refused') return store.close(open.id, 'refused', 'offer_expired');
        const answer = { body: { number }, transaction: 'tx', isReadable: true, intent: null, isKept: true };
        await store.answered(open.id, answer);
        if (end === 'answered and shown') await store.shown([open.id]);
      };
      await s.waitFor(Promise.all(users.map(act)));
      const rows = await db.selectFrom('payments').selectAll().execute();
      expect(rows.map((row) => row.payment_id).sort()).toEqual(written.map(({ id }) => id).sort());
      expect(rows.reduce((sum, row) => sum + BigInt(row.amount), 0n)).toBeLessThanOrEqual(LIMIT);
      const living = rows.flatMap(({ live_key }) => (live_key === null ? [] : [live_key]));
      expect(new Set(living).size).toBe(living.length);
      // Nobody is refused while there is room.
      if (refused.length > 0) expect(rows.length).toBe(Number(LIMIT / AMOUNT));
    },
    { short: 40, long: 2_000 },
  ));

test('the bytes of one payment do not open in the row of another', async () => {
  await db.deleteFrom('payments').execute();
  const store = createPaymentsStore({ db, secrets, clock, ids, keepIntent: async () => undefined });
  const identity = (call: number) => ({
    baseUrl: 'http://shop.test',
    resource: 'POST /air/search',
    body: { call },
    headers: {},
    wallet: 'w',
  });
  const pay = (call: number) =>
    store.write({
      budget: { limit: LIMIT, windowMs: 86_400_000 },
      identity: identity(call),
      payload: `payload ${call}`,
      amount: AMOUNT,
      asset: 'usdc',
      payTo: 't',
      network: 'n',
      lastValidBlockHeight: 1n,
      signedAtSlot: null,
    });
  const [mine, theirs] = [await pay(1), await pay(2)];
  const sealed = await db
    .selectFrom('payments')
    .select(['payload_sealed', 'body_sealed', 'headers_sealed'])
    .where('payment_id', '=', theirs?.id ?? '')
    .executeTakeFirstOrThrow();
  await db
    .updateTable('payments')
    .set(sealed)
    .where('payment_id', '=', mine?.id ?? '')
    .execute();
  await expect(store.open(identity(1))).rejects.toThrow();
  expect((await store.open(identity(2)))?.payload).toBe('payload 2');
});
