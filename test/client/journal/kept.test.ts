import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { NewPayment } from '../../../src/client/journal/payments-store.ts';
import { type ClientStore, openClientStore } from '../../../src/client/journal/store.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { openSecrets } from '../../../src/kernel/secrets.ts';
import { manualClock } from '../../clock.ts';

/** What the payer's journal counts and keeps, and for how long. */

const DAY_MS = 86_400_000;
const clock = manualClock();
let home: string;
let store: ClientStore;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'farelock-kept-'));
  const secrets = openSecrets(join(home, 'keys.json'));
  store = await openClientStore({ path: join(home, 'client.db'), secrets, clock, ids: randomIds(clock.now) });
});
afterEach(async () => {
  await store.shut();
  rmSync(home, { recursive: true, force: true });
});

const payment = (call: number, network = 'solana:one'): NewPayment => ({
  identity: {
    ...{ baseUrl: 'http://shop.test', resource: 'POST /air/search', headers: {} },
    ...{ body: { call }, wallet: 'w' },
  },
  payload: `payload ${call}`,
  amount: 100n,
  asset: 'usdc',
  payTo: 'treasury',
  network,
  lastValidBlockHeight: 1n,
  signedAtSlot: null,
});

async function answered(call: number, isReadable = true): Promise<string> {
  const { id } = (await store.write(payment(call))) ?? { id: '' };
  await store.answered(id, { ...{ body: { call }, transaction: 'tx', isReadable, intent: null, isKept: true } });
  return id;
}

test('what was spent counts for its own network, also towards the limit of a day', async () => {
  await store.write(payment(1, 'solana:one'));
  await store.write(payment(2, 'solana:one'));
  expect(await store.spent('w', 'solana:one', DAY_MS)).toBe(200n);
  expect(await store.spent('w', 'solana:two', DAY_MS)).toBe(0n);
  const budget = { limit: 250n, windowMs: DAY_MS };
  expect(await store.write({ ...payment(3, 'solana:two'), budget })).not.toBeNull();
  await expect(store.write({ ...payment(4, 'solana:one'), budget })).rejects.toMatchObject({
    code: 'daily_limit_reached',
  });
});

test('an answer that nobody has seen is kept for seven days, and one that cannot be read for good', async () => {
  await answered(1);
  await answered(2, false);
  clock.advance(7 * DAY_MS);
  await answered(3);
  expect((await store.open(payment(1).identity))?.answer?.body).toEqual({ call: 1 });
  clock.advance(1);
  await answered(4);
  expect(await store.open(payment(1).identity)).toBeUndefined();
  expect((await store.open(payment(2).identity))?.answer?.body).toEqual({ call: 2 });
  expect((await store.open(payment(3).identity))?.answer?.body).toEqual({ call: 3 });
});

test('a payment says when it changed last', async () => {
  const { id } = (await store.write(payment(1))) ?? { id: '' };
  const written = await store.payment(id);
  expect(written?.updated_at).toBe(written?.created_at);
  for (const state of ['sent', 'refused'] as const) {
    clock.advance(60_000);
    await store.note(id, state, null);
    expect(Date.parse((await store.payment(id))?.updated_at ?? '')).toBe(clock.now());
  }
  expect((await store.payment(id))?.created_at).toBe(written?.created_at);
});
