import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'libsql';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { glanceAtIntents, glanceAtPayments } from '../../../src/client/glance.ts';
import { openPaymentsIn } from '../../../src/client/inspect.ts';
import { type ClientStore, openClientStore } from '../../../src/client/journal/store.ts';
import { clientMigrations } from '../../../src/client/journal/store-schema.ts';
import {
  glanceAtAffiliates,
  glanceAtOperatorKeys,
  glanceAtRefundRequests,
  glanceAtStuck,
} from '../../../src/flights/look.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { openSecrets } from '../../../src/kernel/secrets.ts';
import { glanceAtAttestations, glanceAtCustomers, glanceAtOrders } from '../../../src/partner/look.ts';
import { NEWEST_SETTLED } from '../../../src/payments/look.ts';
import { openStore } from '../../../src/service/home.ts';
import { readRows } from '../../../src/store/libsql/read-only.ts';
import { openDatabase } from '../../../src/store/open.ts';
import { manualClock } from '../../clock.ts';
import { hearStatements } from '../../store/plans.ts';

/** What the tool lists of its own journal, and glances at: nothing is looked through, nothing sealed is opened. */

const SERVICE = 'http://farelock.local';
const clock = manualClock();
let home: string;
let store: ClientStore;

const opened = () =>
  openClientStore({
    path: join(home, 'client.db'),
    secrets: openSecrets(join(home, 'client.json')),
    clock,
    ids: randomIds(clock.now),
  });

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'farelock-lists-'));
  store = await opened();
});
afterEach(async () => {
  await store.shut();
  rmSync(home, { recursive: true, force: true });
});

const remember = async (intentId: string, summary: object, escrow = `escrow_${intentId}`) => {
  clock.advance(1000);
  await store.remember({
    intentId,
    baseUrl: SERVICE,
    supportCode: `code of ${intentId}`,
    terms: { offerId: 'off_1', refundOwner: null, escrow: { address: escrow, mint: 'mint', amount: 1 } },
  });
  await store.describe(intentId, summary);
};

const inFile = (statement: string) => {
  const file = new Sqlite(join(home, 'client.db'));
  file.exec(statement);
  file.close();
};

test('a list opens no support code: one that cannot be opened hides nothing', async () => {
  await remember('int_1', { status: 'booked', order_id: 'ord_1' });
  await remember('int_2', { status: 'active', offer_id: 'off_2' });
  inFile("update intents set support_code_sealed = 'torn', terms_sealed = 'torn' where intent_id = 'int_1'");
  const ids = async (query: Partial<Parameters<ClientStore['noted']>[0]>) =>
    (await store.noted({ baseUrl: SERVICE, limit: 10, ...query })).map(({ intentId }) => intentId);
  expect(await ids({})).toEqual(['int_2', 'int_1']);
  expect(await ids({ limit: 1 })).toEqual(['int_2']);
  expect(await ids({ open: true })).toEqual(['int_2']);
  expect(await ids({ baseUrl: 'http://other.test' })).toEqual([]);
  expect((await store.notedOf({ by: 'order', is: ['ord_1'] }))?.intentId).toBe('int_1');
  expect((await store.notedOf({ by: 'offer', is: ['off_2'] }))?.intentId).toBe('int_2');
  expect((await store.notedOf({ by: 'escrow', is: ['x', 'escrow_int_1'] }))?.intentId).toBe('int_1');
  expect(await store.notedOf({ by: 'escrow', is: ['escrow_none'] })).toBeUndefined();
});

test('an intent of an older version is found by the escrow in its sealed terms', async () => {
  await remember('int_1', {});
  await remember('int_2', {});
  // As it was before the address was written beside the terms.
  inFile('update intents set escrow_address = null');
  expect((await store.notedOf({ by: 'escrow', is: ['escrow_int_2'] }))?.intentId).toBe('int_2');
});

test('a journal of an older version opens', async () => {
  await store.shut();
  rmSync(join(home, 'client.db'));
  const before = clientMigrations.slice(
    0,
    clientMigrations.findIndex(({ name }) => name === '050_lists'),
  );
  await (await openDatabase(join(home, 'client.db'), before)).destroy();
  inFile(
    `insert into intents (intent_id, base_url, support_code_sealed, summary, created_at_ms)
      values ('int_old', '${SERVICE}', 'sealed', '{"status":"active"}', 1)`,
  );
  store = await opened();
  expect(await store.noted({ baseUrl: SERVICE, open: true, limit: 5 })).toMatchObject([{ intentId: 'int_old' }]);
  expect(await store.notedOf({ by: 'escrow', is: ['escrow_1'] })).toBeUndefined();
});

test('no list of the tool, and no glance, looks through a table that grows', async () => {
  await (await openStore(join(home, 'service.db'))).destroy();
  const services = new Sqlite(join(home, 'service.db'));
  services.exec(`insert into partners (partner_id, environment, name, type, platform_url, icon, terms_url,
    privacy_policy_url, offering, webhook_secret_sealed, enabled, created_at_ms, updated_at_ms)
    values ('par_o''hara', 'demo', '', '', '', '', '', '', '{}', '', 1, 1, 1)`);
  services.close();
  const statements = hearStatements({ atOnce: true });
  try {
    statements.listen(true);
    await remember('int_1', { order_id: 'ord_1' });
    await store.noted({ baseUrl: SERVICE, limit: 5 });
    await store.noted({ baseUrl: SERVICE, limit: 5, open: true, sinceMs: 1 });
    for (const by of ['order', 'offer'] as const) await store.notedOf({ by, is: ['a'] });
    await store.notedOf({ by: 'escrow', is: ['a', 'b'] });
    await store.payments(5);
    await store.paymentsTo('escrow');
    await store.paymentOf('transaction');
    await store.spent('wallet', 'network', 86_400_000);
    await store.shown(['pay_1']);
    glanceAtIntents(home);
    glanceAtPayments(home);
    openPaymentsIn(join(home, 'client.db'));
    for (const glance of [
      glanceAtRefundRequests,
      glanceAtStuck,
      glanceAtAffiliates,
      glanceAtOperatorKeys,
      glanceAtCustomers,
      glanceAtAttestations,
    ])
      expect(glance(home)).toEqual([]);
    expect(glanceAtOrders(home, null)).toEqual([]);
    expect(glanceAtOrders(home, "par_o'hara")).toEqual([]);
    readRows(join(home, 'service.db'), NEWEST_SETTLED);
    statements.listen(false);
    expect(statements.count()).toBeGreaterThan(20);
    expect(await statements.slow()).toEqual([]);
  } finally {
    statements.stop();
  }
});
