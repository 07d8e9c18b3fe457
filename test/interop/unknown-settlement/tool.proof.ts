import { spawn } from 'node:child_process';
import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { SearchResponse } from '../../../src/wire/flights/index.ts';
import { worldClock } from '../../clock.ts';
import { BIN, farelockIn, type Runner, type Served, serveIn } from '../../e2e/farelock.ts';
import { asked } from '../../e2e/stage.ts';
import { LOSSES, type Misbehaving, openMisbehaving } from './misbehaving.ts';

/**
 * The unknown settlement with the built tool, the built service and the stock x402 client: what is between them carries
 * a payment out and keeps the answer to itself.
 */

const PRICE = 100_000;
const depart = new Date(worldClock.now() + 30 * 86_400_000).toISOString().slice(0, 10);

let served: Served;
let between: Misbehaving;
let tool: Runner;
let day = 30;
const closing: (() => unknown)[] = [];
beforeAll(async () => {
  const operated = farelockIn();
  closing.push(operated.close);
  served = await serveIn(operated);
  closing.push(served.stop);
  between = await openMisbehaving(() => served.flightsUrl);
  closing.push(between.close);
  tool = farelockIn({ FARELOCK_RPC_URL: served.rpcUrl, FARELOCK_FLIGHTS_URL: between.url });
  closing.push(tool.close);
  await tool.run(['wallet', 'new']);
  await tool.run(['wallet', 'airdrop', '--sol', '1', '--usdc', '10']);
}, 120_000);
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});
beforeEach(() => {
  between.behave();
  between.signatures.clear();
  day++;
});

const held = async (): Promise<number> =>
  Number((await tool.run(['wallet', 'balance', '--json'])).json<{ usdc_atomic: string }>().usdc_atomic);
const search = () => ['search', 'LIS', 'BER', '--depart', `+${day}d`, '--no-wait', '--json'];

test('killed while it waits for the answer: the same command brings it, with the same payment', {
  timeout: 180_000,
}, async () => {
  const before = await held();
  let carriedOut = () => {};
  const isCarriedOut = new Promise<void>((resolve) => {
    carriedOut = resolve;
  });
  between.behave(async (pass) => {
    await pass();
    carriedOut();
    return null;
  });
  const doomed = spawn(process.execPath, [BIN, ...search()], { env: { ...process.env, ...tool.env }, stdio: 'ignore' });
  const ended = new Promise((resolve) => doomed.once('exit', resolve));
  await isCarriedOut;
  doomed.kill('SIGKILL');
  await ended;
  between.behave();
  const again = await tool.run(search());
  expect(again.exitCode).toBe(0);
  expect(again.json<SearchResponse>().offers.length).toBeGreaterThan(0);
  expect(between.signatures.size).toBe(1);
  expect(before - (await held())).toBe(PRICE);
});

const MODES = ['a 5xx after settling', 'a second 402 after settling', 'a slow answer'] as const;

test.each(MODES)('%s: the command that it names brings the answer', { timeout: 180_000 }, async (mode) => {
  const before = await held();
  between.behave(LOSSES[mode]());
  const lost = await tool.run([...search(), '--timeout', mode === 'a slow answer' ? '0.5' : '10']);
  // Whether the answer came late and was taken, or not: one signature.
  expect(between.signatures.size).toBe(1);
  between.behave();
  if (lost.exitCode !== 0) {
    const { error } = lost.json<{ error: { code: string; next?: string[] } }>();
    expect(error.code).toMatch(/^[a-z_]+$/);
    // Without one of its own it is the same command again.
    const told = await tool.run(error.next?.[0] ? [...error.next[0].split(' ').slice(1), '--json'] : search());
    expect(told.exitCode, told.stderr).toBe(0);
  }
  expect(between.signatures.size).toBe(1);
  expect(before - (await held())).toBe(PRICE);
});

/** The stock client: it keeps no journal, and signs whatever challenge it is given. */
async function stock() {
  const signer = await createKeyPairSignerFromPrivateKeyBytes(crypto.getRandomValues(new Uint8Array(32)));
  await asked(served.rpcUrl, 'farelock_airdropUsdc', [signer.address, 10 * PRICE]);
  const client = new x402HTTPClient(
    new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl: served.rpcUrl })),
  );
  const post = (headers: Record<string, string> = {}) =>
    fetch(`${between.url}/air/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ origin_iata: 'LIS', destination_iata: 'OPO', depart_date: depart }),
      signal: AbortSignal.timeout(5_000),
    });
  const sign = async () => {
    const challenge = await post();
    const required = client.getPaymentRequiredResponse((name) => challenge.headers.get(name), await challenge.json());
    return client.encodePaymentSignatureHeader(await client.createPaymentPayload(required));
  };
  const spent = async () => {
    const { value } = await asked<{
      value: { account: { data: { parsed: { info: { tokenAmount: { amount: string } } } } } }[];
    }>(served.rpcUrl, 'getTokenAccountsByOwner', [
      signer.address,
      { programId: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' },
      { encoding: 'jsonParsed' },
    ]);
    return 10 * PRICE - Number(value[0]?.account.data.parsed.info.tokenAmount.amount);
  };
  return { post, sign, spent };
}

test('the stock client that repeats its payload is charged once; one that signs anew buys a second answer', async () => {
  const { post, sign, spent } = await stock();
  const first = await sign();
  between.behave(LOSSES['a 5xx after settling']());
  for (let again = 0; again < 2; again++) expect((await post(first)).status).toBe(502);
  between.behave();
  const answer = await post(first);
  expect(answer.status).toBe(200);
  expect(await spent()).toBe(PRICE);
  // A payment is bound to its challenge: nothing ties a new one to the call that was lost, so that it is a new call.
  expect((await post(await sign())).status).toBe(200);
  expect(await spent()).toBe(2 * PRICE);
  // And the first one still has its own answer, for nothing.
  expect(await (await post(first)).text()).toBe(await answer.text());
  expect(await spent()).toBe(2 * PRICE);
});
