import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { type SqlBool, sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../src/kernel/log.ts';
import { openStore, type ServiceTables, type Store } from '../../src/service/home.ts';
import { openQueue, type Queue } from '../../src/store/queue.ts';
import { clockInTurn, heardInTurn, racing, turn } from '../racing.ts';

const NOW_MS = 1_800_000_000_000;
const LEASE_MS = 10_000;
/** A row is done after so many. */
const MOST_STEPS = 3;
const QUEUE: Queue<ServiceTables, 'affiliate_payouts'> = {
  table: 'affiliate_payouts',
  key: 'payout_id',
  due: 'due_at_ms',
  open: sql<SqlBool>`state = 'open'`,
  leaseMs: LEASE_MS,
  mostMs: 20_000,
  farthestMs: 60_000,
  counts: 'failures',
  retry: { firstMs: 1_000, factor: 2, mostMs: 60_000, jitter: 'none', tellAfter: null, giveUp: { after: 'never' } },
};

const home = mkdtempSync(join(tmpdir(), 'farelock-races-'));
let store: Store;
beforeAll(async () => {
  store = await openStore(join(home, 'service.db'));
});
afterAll(async () => {
  await store.destroy();
  rmSync(home, { recursive: true, force: true });
});

test('workers of which any is slow anywhere hold a row one after the other, and lose no step', () =>
  racing(
    fc.record({
      rows: fc.integer({ min: 1, max: 3 }),
      workers: fc.integer({ min: 2, max: 3 }),
      fails: fc.array(fc.boolean(), { maxLength: 3 }),
      /** The whole process stands still for so long. */
      pauses: fc.array(fc.integer({ min: 1, max: 15_000 }), { maxLength: 4 }),
    }),
    async (s, { rows, workers, fails, pauses }) => {
      const time = { nowMs: NOW_MS };
      await store.deleteFrom('affiliate_payouts').execute();
      for (let row = 0; row < rows; row++) {
        await store
          .insertInto('affiliate_payouts')
          .values({
            payout_id: `row ${row}`,
            code: 'C',
            wallet: 'w',
            amount: 0,
            state: 'open',
            attempts: 0,
            due_at_ms: NOW_MS,
            lease_until_ms: 0,
            created_at_ms: 0,
          })
          .execute();
      }
      const claims: { id: string; fence: number; fromMs: number; backMs?: number }[] = [];
      /** How often somebody was told that a step of a row is written. */
      const steps = new Map<string, number>();
      const failures = [...fails];
      const worker = async (who: string) => {
        await turn(s, `${who} begins`);
        const ports = { store: store.withPlugin(heardInTurn(s, who)), clock: clockInTurn(s, time) };
        const queue = openQueue({ ...ports, log: silentLog }, QUEUE);
        await queue.runDue(
          {
            async perform(row) {
              const id = row.payout_id;
              const claim = { id, fence: row.fence, fromMs: row.lease_until_ms - LEASE_MS };
              claims.push(claim);
              await turn(s, `${who} works on ${id}`);
              if (failures.pop()) throw new Error('busy');
              await queue.check(row);
              const amount = row.amount + 1;
              await queue.finish(row, { amount, ...(amount === MOST_STEPS ? { state: 'paid' } : {}) });
              Object.assign(claim, { backMs: time.nowMs });
              steps.set(id, (steps.get(id) ?? 0) + 1);
            },
            failed: (row, error) =>
              queue.postpone(row, error, () => ({
                log: () => {
                  const claim = claims.find((one) => one.id === row.payout_id && one.fence === row.fence);
                  Object.assign(claim ?? {}, { backMs: time.nowMs });
                },
              })),
          },
          6,
        );
      };
      const pause = (ms: number) =>
        turn(s, `${ms} ms pass`).then(() => {
          time.nowMs += ms;
        });
      const all = Array.from({ length: workers }, (_, n) => worker(`worker ${n}`));
      await s.waitFor(Promise.all([...all, ...pauses.map(pause)]));
      for (let row = 0; row < rows; row++) {
        const id = `row ${row}`;
        const of = claims.filter((one) => one.id === id).sort((a, b) => a.fence - b.fence);
        // Each claim has a fence of its own, and comes when the one before was given back or is over.
        expect(of.map(({ fence }) => fence)).toEqual(of.map((_, place) => place + 1));
        for (const [place, claim] of of.entries()) {
          const before = of[place - 1];
          if (before && before.backMs === undefined)
            expect(claim.fromMs - before.fromMs).toBeGreaterThanOrEqual(LEASE_MS);
        }
        // No write of one that was overtaken took another's back.
        const { amount } = await store
          .selectFrom('affiliate_payouts')
          .select('amount')
          .where('payout_id', '=', id)
          .executeTakeFirstOrThrow();
        expect([id, Number(amount)]).toEqual([id, steps.get(id) ?? 0]);
      }
    },
    { short: 40, long: 2_000 },
  ));
