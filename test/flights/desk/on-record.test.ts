import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StuckItem } from '../../../src/wire/flights/index.ts';
import { openDesk } from '../refund-desk.ts';

/** An operator's act and its row in the audit trail are one: a crash between them must not leave an act without a name. */

let desk: Awaited<ReturnType<typeof openDesk>>;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.world.close());

/** Runs an act while the audit trail takes no row. */
async function withoutTrail<T>(act: () => Promise<T>): Promise<T> {
  const { store } = desk.world;
  await sql`create trigger no_trail before insert on operator_audit begin select raise(abort, 'no trail'); end`.execute(
    store,
  );
  try {
    return await act();
  } finally {
    await sql`drop trigger no_trail`.execute(store);
  }
}

const rowOf = (table: 'affiliate_payouts' | 'effects', key: string, id: string) =>
  desk.world.store.selectFrom(table).selectAll().where(sql.ref(key), '=', id).executeTakeFirstOrThrow();

test('a key that cannot be put on record is not issued', async () => {
  const keys = () => desk.world.store.selectFrom('api_keys').select('key_id').execute();
  const before = await keys();
  expect((await withoutTrail(() => desk.ask('/keys', { name: 'ghost' }))).status).toBe(500);
  expect(await keys()).toEqual(before);
});

test('a pay-out whose retry cannot be put on record stays as it is', async () => {
  const { world, ask } = desk;
  await world.store
    .insertInto('affiliate_payouts')
    .values({
      payout_id: 'pay_unrecorded',
      code: 'AAAAAAAAAA',
      wallet: world.newWallet().address,
      amount: 250_000,
      state: 'open',
      attempts: 5,
      due_at_ms: world.clock.now() + 3_600_000,
      signature: null,
      created_at_ms: world.clock.now(),
      paid_at_ms: null,
    })
    .execute();
  const before = await rowOf('affiliate_payouts', 'payout_id', 'pay_unrecorded');
  const retry = () => ask<StuckItem>('/stuck/pay_unrecorded/resolve', { decision: 'retry' });
  expect((await withoutTrail(retry)).status).toBe(500);
  expect(await rowOf('affiliate_payouts', 'payout_id', 'pay_unrecorded')).toEqual(before);
});

test('an effect whose retry cannot be put on record stays open', async () => {
  const { world, ask } = desk;
  // Its blockhash is long over, also in the final blocks.
  world.clock.advance(3_600_000);
  await world.store
    .insertInto('effects')
    .values({
      effect_id: 'eff_unrecorded',
      kind: 'sweep',
      subject: 'int_gone',
      state: 'sent',
      live_key: 'sweep:int_gone',
      attempt: 1,
      transaction: null,
      signature: '5'.repeat(87),
      last_valid_block_height: 0,
      reference: null,
      result: null,
      error: null,
      created_at_ms: world.clock.now() - 3_600_000,
      updated_at_ms: world.clock.now(),
    })
    .execute();
  const retry = () => ask<StuckItem>('/stuck/eff_unrecorded/resolve', { decision: 'retry' });
  expect((await withoutTrail(retry)).status).toBe(500);
  expect((await rowOf('effects', 'effect_id', 'eff_unrecorded')).state).toBe('sent');
  expect((await retry()).body).toMatchObject({ is_stuck: false, state: 'failed' });
});
