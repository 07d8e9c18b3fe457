import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import type { NewPayment } from '../../src/client/journal/payments-store.ts';
import { openClientStore } from '../../src/client/journal/store.ts';
import { randomIds } from '../../src/kernel/ids.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { openSecrets } from '../../src/kernel/secrets.ts';
import { createJournal } from '../../src/payments/journal.ts';
import { openStore } from '../../src/service/home.ts';
import { openLedgerFile } from '../../src/solana/embedded/ledger-file.ts';
import { openEmbeddedCluster } from '../../src/solana/embedded/open.ts';
import { signerFromSeed } from '../../src/solana/signer.ts';
import { REGAINED } from '../../src/store/base/index.ts';
import { openSqlite } from '../../src/store/libsql/file.ts';
import { openDatabase } from '../../src/store/open.ts';
import { manualClock } from '../clock.ts';
import { countCosts } from './costs.ts';

/**
 * Which steps wait for the disk, each by name: one wait too few loses what somebody acts on, one too many is slow.
 * test/store/costs.test.ts has the lists of whole calls.
 */

const costs = countCosts();
const home = mkdtempSync(join(tmpdir(), 'farelock-syncs-'));
afterAll(() => {
  costs.stop();
  rmSync(home, { recursive: true, force: true });
});

const clock = manualClock();
const ids = randomIds(clock.now);
const secrets = openSecrets(join(home, 'keys.json'));
const syncsOf = async (work: () => Promise<unknown>) => (await costs.of(work)).syncs;

const FULL = 2;
const NORMAL = 1;
type Synchronous = { readonly synchronous: number };
const modeOf = (file: { prepare(sql: string): { get(): unknown } }) =>
  (file.prepare('pragma synchronous').get() as Synchronous).synchronous;

test('SQLite waits for the disk at each commit, or, where a journal does that beside it, whenever it moves the journal', async () => {
  const file = openSqlite(join(home, 'plain.db'));
  expect(modeOf(file)).toBe(FULL);
  file.close();

  const store: Kysely<unknown> = await openDatabase(join(home, 'store.db'), []);
  const { rows } = await sql<Synchronous>`pragma synchronous`.execute(store);
  expect(rows).toEqual([{ synchronous: NORMAL }]);
  await store.destroy();

  const ledger = openLedgerFile(join(home, 'ledger.db'));
  expect(modeOf(ledger.database)).toBe(FULL);
  ledger.waitBeside();
  expect(modeOf(ledger.database)).toBe(NORMAL);
  await ledger.close();
});

const payment = (call: number): NewPayment => ({
  identity: { baseUrl: 'http://shop.test', resource: 'POST /air/search', body: { call }, headers: {}, wallet: 'w' },
  payload: `payload ${call}`,
  amount: 100n,
  asset: 'usdc',
  payTo: 'treasury',
  network: 'solana:test',
  lastValidBlockHeight: 1n,
  signedAtSlot: null,
});

test("the payer's journal waits for the disk with each payment that it writes or ends, and not once it was shown", async () => {
  const store = await openClientStore({ path: join(home, 'client.db'), secrets, clock, ids });
  const written: string[] = [];
  const steps: Record<string, () => Promise<unknown>> = {
    written: async () => written.push((await store.write(payment(1)))?.id ?? ''),
    'written within a limit': async () =>
      written.push((await store.write({ ...payment(2), budget: { limit: 1_000n, windowMs: 1_000 } }))?.id ?? ''),
    'open already': () => store.write(payment(1)),
    'looked for': () => store.open(payment(1).identity),
    'about to be sent again': () => store.resent(written[0] ?? ''),
    sent: () => store.note(written[0] ?? '', 'sent', null),
    answered: () =>
      store.answered(written[0] ?? '', {
        ...{ body: { found: 1 }, transaction: null, isReadable: true, isKept: true },
        intent: { intentId: 'int_1', baseUrl: 'http://shop.test', supportCode: 'ABC', terms: null },
      }),
    shown: () => store.shown(written),
    'ended unpaid': () => store.close(written[1] ?? '', 'abandoned', null),
    'an intent remembered': () =>
      store.remember({ intentId: 'int_2', baseUrl: 'http://shop.test', supportCode: 'DEF', terms: null }),
    // The payment that follows takes it to the disk.
    'a name remembered': () => store.rememberLead('int_2', 'Lovelace'),
  };
  const found: Record<string, readonly string[]> = {};
  for (const [name, step] of Object.entries(steps)) found[name] = await syncsOf(step);
  expect(found).toEqual({
    written: ['client.db'],
    'written within a limit': ['client.db'],
    'open already': [],
    'looked for': [],
    'about to be sent again': ['client.db'],
    sent: ['client.db'],
    answered: ['client.db'],
    shown: [],
    'ended unpaid': ['client.db'],
    'an intent remembered': ['client.db'],
    'a name remembered': [],
  });
  await store.shut();
});

test("the service's journal waits for the disk with what was signed and what has ended, and not with claims", async () => {
  const store = await openStore(join(home, 'service.db'));
  const journal = createJournal({ store, clock, log: silentLog });
  const one = {
    payment_key: 'k',
    payment_id: null,
    quote_id: 'q',
    request_digest: 'd',
    payer: 'p',
    amount: 1,
    pay_to: 't',
  };
  let row = null as Awaited<ReturnType<typeof journal.claim>>;
  const held = () => {
    if (!row) throw new Error('nobody holds the payment');
    return row;
  };
  const signed = { state: 'settling', transaction: 'AA==', signature: 's' } as const;
  const found = {
    claimed: await syncsOf(async () => (row = await journal.claim(one))),
    signed: await syncsOf(async () => (row = await journal.write(held(), signed))),
    'settled, as the cluster says again': await syncsOf(
      async () => (row = await journal.write(held(), { state: 'settled' }, REGAINED)),
    ),
    answered: await syncsOf(async () => (row = await journal.write(held(), { state: 'answered' }))),
  };
  expect(found).toEqual({
    claimed: [],
    signed: ['service.db'],
    'settled, as the cluster says again': [],
    answered: ['service.db'],
  });
  await store.destroy();
});

test('the ledger waits for the disk before it says that a transaction has landed', async () => {
  const cluster = await openEmbeddedCluster({ path: join(home, 'cluster.db'), clock });
  const { address } = signerFromSeed(Buffer.alloc(32, 7));
  expect(await syncsOf(() => cluster.airdropSol(address, 1_000_000_000n))).toEqual(['cluster.db']);
  await cluster.close();
});
