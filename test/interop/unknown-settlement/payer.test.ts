import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ClientStore } from '../../../src/client/journal/store.ts';
import { contentOfPayload } from '../../../src/client/payer/verify.ts';
import { DEVNET_USDC } from '../../../src/solana/cluster.ts';
import { associatedTokenAddress } from '../../../src/solana/token.ts';
import { openClient } from '../../client/world.ts';
import { LOSSES, type Misbehaving, openMisbehaving } from './misbehaving.ts';
import { openTill, outage, type Till } from './till.ts';

/**
 * The unknown settlement, from the side that pays: whatever a server does with a payment, our client signs no second one
 * while the first can have landed, and each command ends with an answer, or with a code and the next command.
 */

const PRICE = 100_000n;
const SEARCH = { origin_iata: 'LIS', destination_iata: 'BER', depart_date: '2026-12-20' };
/** Long enough for an honest answer on a busy machine, too short for a slow one. */
const TIMEOUT_MS = 400;

let till: Till;
let between: Misbehaving;
let file = 0;
let before: bigint;
const opened: ClientStore[] = [];
beforeAll(async () => {
  till = await openTill();
  between = await openMisbehaving(() => till.url);
});
afterAll(async () => {
  between.close();
  await till.close();
});
beforeEach(async () => {
  till.heal();
  between.behave();
  between.signatures.clear();
  file++;
  const shop = till.open('in its process');
  shop.perform = async () => ({ status: 200, body: { offers: [{ offer_id: `off_${shop.performed.length}` }] } });
  await till.world.cluster.airdropUsdc(till.world.wallet.address, 3n * PRICE);
  before = await till.world.usdc(till.world.treasury);
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.shut();
});
const charged = async () => (await till.world.usdc(till.world.treasury)) - before;

/** A run of the tool: a client of its own, over the journal that the runs before it have left. */
async function run(how: { timeoutMs?: number; isBlind?: boolean } = {}) {
  const { world, clock } = till;
  let journal: ClientStore | undefined;
  /** As src/cli/session/landed.ts: the history of the account that pays. */
  const neverLanded = async (id: string) => {
    if (how.isBlind) return outage();
    const signed = await journal?.signedPayment(id);
    const { memo } = contentOfPayload(signed?.payment.payload ?? '');
    const account = await associatedTokenAddress(world.wallet.address, DEVNET_USDC);
    return world.cluster.isAbsent({ memo: memo ?? '' }, { account, sinceS: 0 });
  };
  const cluster = how.isBlind ? { ...world.cluster, blockHeight: outage } : world.cluster;
  const one = await openClient(world, (request) => fetch(request), {
    file: `payer-${file}.db`,
    baseUrl: between.url,
    timeoutMs: how.timeoutMs ?? 10_000,
    clock: { ...clock, sleep: async () => undefined },
    cluster: async () => cluster,
    neverLanded,
  });
  journal = one.store;
  opened.push(one.store);
  return one.client.search(SEARCH);
}

/** Ended without an answer: it says so by a code, and what to do next. */
const ENDED = { code: expect.stringMatching(/^[a-z_]+$/), fix: expect.stringMatching(/\S/) };

test('clean: one signature, one charge, one answer', async () => {
  expect((await run()).value.offers).toEqual([{ offer_id: 'off_1' }]);
  expect(between.signatures.size).toBe(1);
  expect(await charged()).toBe(PRICE);
});

test.each(Object.keys(LOSSES) as (keyof typeof LOSSES)[])(
  '%s: the same payment again and again, and its answer in the end',
  async (mode) => {
    between.behave(LOSSES[mode]());
    for (const laterMs of [0, 120_000]) {
      till.clock.shift(laterMs);
      await expect(run({ timeoutMs: TIMEOUT_MS })).rejects.toMatchObject(ENDED);
    }
    expect(await charged()).toBe(PRICE);
    between.behave();
    expect((await run()).value.offers).toEqual([{ offer_id: 'off_1' }]);
    expect(between.signatures.size).toBe(1);
    expect(await charged()).toBe(PRICE);
  },
);

test('reconciliation unavailable: nobody can say what became of it, so nothing is signed', async () => {
  between.behave(LOSSES['a second 402 after settling']());
  await expect(run()).rejects.toMatchObject(ENDED);
  till.clock.shift(120_000);
  for (let again = 0; again < 2; again++) await expect(run({ isBlind: true })).rejects.toMatchObject(ENDED);
  between.behave();
  expect((await run()).value.offers).toEqual([{ offer_id: 'off_1' }]);
  expect(between.signatures.size).toBe(1);
  expect(await charged()).toBe(PRICE);
});

test('declared safe: a second signature only once the first can land no more, and the chain has said so', async () => {
  till.lie({ send: outage }, async () => null);
  // The service says that it failed, long before anybody can know.
  between.behave(async (pass) => {
    const { headers, body } = await pass();
    const challenge = await till.post('/air/search', SEARCH);
    const said = { ...((await challenge.json()) as object), error: 'payment_settlement_failed: no' };
    const header = Buffer.from(JSON.stringify(said)).toString('base64');
    return { status: 402, headers: { ...headers, 'payment-required': header }, body };
  });
  for (let again = 0; again < 2; again++) await expect(run()).rejects.toMatchObject(ENDED);
  expect(between.signatures.size).toBe(1);
  till.heal();
  between.behave();
  till.clock.shift(120_000);
  expect((await run()).value.offers).toHaveLength(1);
  expect(between.signatures.size).toBe(2);
  expect(await charged()).toBe(PRICE);
});
