import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSqlite } from '../../../src/store/libsql/file.ts';
import type { Intent } from '../../../src/wire/flights/index.ts';
import { openWorld, type World } from '../world.ts';

let world: World;
beforeEach(async () => {
  world = await openWorld({ airline: 'scripted' });
});
afterEach(() => world.close());

/** Takes the block back that opened the escrow of an intent: its accounts and its transaction are gone. */
async function dropOpening(intent: Intent): Promise<void> {
  const { signature } = await world.store
    .selectFrom('effects')
    .select('signature')
    .where('subject', '=', intent.intent_id)
    .where('kind', '=', 'open_escrow')
    .executeTakeFirstOrThrow();
  const ledger = openSqlite(join(world.home, 'ledger.db'));
  const { address, vault_address } = intent.escrow;
  ledger.prepare('delete from accounts where address in (?, ?)').run(address, vault_address);
  ledger.prepare('delete from transactions where signature = ?').run(signature);
  ledger.close();
}

test.each([
  ['the same bytes can still land', 1_000],
  ['they have expired', 120_000],
])(
  'an opening that was confirmed and vanished is looked at before it is called missing, and made again: %s',
  async (_when, laterMs) => {
    const intent = await world.intent('off_dropped');
    await dropOpening(intent);
    world.clock.advance(laterMs);
    await world.book(intent);
    await world.work();
    expect((await world.show(intent)).status).toBe('booked');
  },
);
