import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Intent, Offer, RefundCase, RefundPlan, RefundQueue } from '../../src/wire/flights/index.ts';
import { inMemory } from '../cli/memory.ts';
import { farelockIn, PASSENGER, type Runner, type Served, serveIn } from './farelock.ts';

/** A refund request as it is in life: the tools of a traveller and of an operator, and the built service. */

let server: Runner;
let client: Runner;
let operator: Runner;
let served: Served;
let penalty: number;
let intent: Intent;

async function ran<T>(runner: Runner, args: string[], exitCode = 0, input = ''): Promise<T> {
  const done = await runner.run([...args, '--json'], { input });
  expect(done.exitCode, `${args.join(' ')}: ${done.stdout}${done.stderr}`).toBe(exitCode);
  return done.json<T>();
}

const usdc = async () => Number((await ran<{ usdc_atomic: string }>(client, ['wallet', 'balance'])).usdc_atomic);

/** Every mail that the service wrote so far, its long lines joined again. */
const mails = () => {
  const folder = join(server.home, 'outbox/mail');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.eml'))
    .map((name) => readFileSync(join(folder, name), 'utf8').replaceAll('=\r\n', ''));
};

beforeAll(async () => {
  server = farelockIn();
  served = await serveIn(server);
  const urls = { FARELOCK_FLIGHTS_URL: served.flightsUrl, FARELOCK_RPC_URL: served.rpcUrl };
  client = inMemory(farelockIn(urls));
  client.env.FARELOCK_KEYPAIR = join(client.home, 'me.json');
  const key = readFileSync(served.operatorKeyFile, 'utf8').trim();
  operator = inMemory(farelockIn({ ...urls, FARELOCK_OPERATOR_KEY: key }));

  await ran(client, ['wallet', 'new']);
  await ran(client, ['wallet', 'airdrop', '--sol', '1', '--usdc', '2500']);
  const found = await ran<{ offers: Offer[] }>(
    client,
    'search LIS BER --depart +30d --all-fares --limit 500 --no-wait'.split(' '),
  );
  const offer = found.offers.find(
    ({ total_currency: currency, conditions }) =>
      currency === 'USD' &&
      conditions?.refund_allowed === true &&
      conditions.refund_penalty_currency === 'USD' &&
      Number(conditions.refund_penalty_amount) > 0,
  );
  if (!offer) throw new Error('no refundable fare with a penalty');
  penalty = Math.round(Number(offer.conditions?.refund_penalty_amount) * 1_000_000);
  const created = await ran<Intent>(client, ['intent', 'create', offer.offer_id]);
  intent = await ran<Intent>(
    client,
    ['book', created.intent_id, '--passengers', '-', '--yes'],
    0,
    JSON.stringify([PASSENGER]),
  );
  expect(intent.status).toBe('booked');
}, 120_000);
afterAll(async () => {
  await served?.stop();
  for (const runner of [client, operator, server]) runner?.close();
});

test('over HTTP: asked for, claimed, approved once, and the fare is back minus its penalty, to the unit', async () => {
  const held = await usdc();
  const asked = ['refund', 'request', intent.intent_id, '--reason', 'The meeting was called off.'];
  expect(await ran(client, asked)).toMatchObject({
    intent_id: intent.intent_id,
    status: 'received',
    payment: { amount: '0.10' },
  });
  expect(held - (await usdc())).toBe(100_000);
  // The traveller's tool has no key to the operator's desk.
  await ran(client, ['refund', 'queue'], 4);

  const queue = await ran<RefundQueue>(operator, ['refund', 'queue']);
  expect(queue.refund_requests).toMatchObject([{ intent_id: intent.intent_id, status: 'received' }]);
  const id = queue.refund_requests[0]?.request_id ?? '';
  const claimed = await ran<RefundCase>(operator, ['refund', 'claim', id]);
  expect(claimed.claimed_by).not.toBeNull();

  const before = await usdc();
  const payout = intent.escrow.amount - penalty;
  const plan = await ran<RefundPlan>(operator, ['refund', 'approve', id, '--dry-run']);
  expect(plan).toMatchObject({
    captured_amount: intent.escrow.amount,
    penalty_amount: penalty,
    payout_amount: payout,
    refund_wallet: intent.refund_wallet,
  });
  expect(await usdc()).toBe(before);
  expect((await ran<RefundCase>(operator, ['refund', 'show', id])).status).toBe('received');

  const approved = await ran<RefundCase>(operator, ['refund', 'approve', id, '--yes']);
  expect(approved).toMatchObject({ status: 'refunded', decision: { payout_amount: payout } });
  expect((await usdc()) - before).toBe(payout);
  expect(await ran(client, ['status', intent.intent_id])).toMatchObject({
    status: 'refunded',
    refund_reason: 'refund_request_approved',
    refund_tx_hash: approved.payout_tx_hash,
  });

  const again = await ran<RefundCase>(operator, ['refund', 'approve', id, '--yes']);
  expect(again).toMatchObject({ status: 'refunded', payout_tx_hash: approved.payout_tx_hash });
  const other = ['refund', 'approve', id, '--yes', '--amount', '1', '--note', 'another'];
  expect((await ran<{ error: { code: string } }>(operator, other, 5)).error.code).toBe('case_already_decided');
  expect((await usdc()) - before).toBe(payout);
  await expect
    .poll(() => mails().filter((mail) => mail.includes(approved.payout_tx_hash ?? '-')), { timeout: 15_000 })
    .toMatchObject([expect.stringContaining(`To: Ana <${PASSENGER.email}>`)]);
}, 120_000);
