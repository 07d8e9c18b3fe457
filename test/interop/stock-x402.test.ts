import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { Connection, Keypair, PublicKey } from '@solana/web3.js';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authCaptureClient } from '../../src/payments/auth-capture/index.ts';
import type { CreatedIntent, Intent, Order, SearchResponse } from '../../src/wire/flights/index.ts';
import { worldClock, worldClockEnv } from '../clock.ts';
import { farelockIn, PASSENGER, type Served, serveIn } from '../e2e/farelock.ts';
import { ran } from '../e2e/stage.ts';
import { cases } from '../proof-only.ts';

/**
 * The whole journey with clients that nobody here wrote: the stock x402 client over a plain fetch, with its own scheme or
 * with our plug-in beside it, web3.js for the money, against `farelock serve` and its /rpc, and against a service on a
 * cluster of another process, to which it has deployed the escrow program.
 */

const USDC = new PublicKey('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU');

const ROOT = resolve(import.meta.dirname, '../..');
const OWN = 'its own cluster';
const depart = new Date(worldClock.now() + 30 * 86_400_000).toISOString().slice(0, 10);
const TRIP = { origin_iata: 'LIS', destination_iata: 'BER', depart_date: depart };

const closing: (() => unknown)[] = [];
let served: Served;
let chain: Connection;
let me: Keypair;
let client: x402HTTPClient;
/** Escrow programs that the client trusts with its money. */
const programs: string[] = [];

async function serving(env: Record<string, string> = {}, args: readonly string[] = []): Promise<Served> {
  const home = farelockIn(env);
  closing.push(home.close);
  const one = await serveIn(home, args);
  closing.push(one.stop);
  return one;
}

async function onAnotherCluster(): Promise<Served> {
  const bare = await serving({}, ['--cluster-only', '--without-program']);
  const place = { FARELOCK_RPC_URL: bare.rpcUrl, FARELOCK_NETWORK: 'devnet', FARELOCK_GENESIS: bare.genesis ?? '' };
  const operator = farelockIn(place);
  closing.push(operator.close);
  for (const command of ['fund', 'deploy --final --yes', 'check'])
    await ran(operator, ['cluster', ...command.split(' ')]);
  const service = await serveIn(operator);
  closing.push(service.stop);
  expect(service.rpcUrl).toBe(bare.rpcUrl);
  return service;
}

async function paying(): Promise<void> {
  chain = new Connection(served.rpcUrl, 'confirmed');
  me = Keypair.generate();
  const signer = await createKeyPairSignerFromBytes(me.secretKey);
  const genesis = await chain.getGenesisHash();
  const authCapture = authCaptureClient({ signer, programs, rpcUrl: served.rpcUrl, genesis, now: worldClock.now });
  const x402 = new x402Client()
    .register('solana:*', new ExactSvmScheme(signer, { rpcUrl: served.rpcUrl }))
    .register('solana:*', authCapture);
  x402.setSpendControls(false); // its own cap of 1 USD would refuse every fare
  client = new x402HTTPClient(x402);
  await chain.requestAirdrop(me.publicKey, 1_000_000_000);
  await fetch(served.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'farelock_airdropUsdc',
      params: [me.publicKey.toBase58(), 3_000_000_000],
    }),
  });
}

const holds = async (owner: PublicKey): Promise<number> => {
  const { value } = await chain.getParsedTokenAccountsByOwner(owner, { mint: USDC });
  return value.reduce((sum, one) => sum + Number(one.account.data.parsed.info.tokenAmount.amount), 0);
};

/** A paid call, as the protocol's own documentation has it: ask, read the challenge, sign, ask again. */
async function paid<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const ask = (extra: Record<string, string>) =>
    fetch(served.flightsUrl + path, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers, ...extra },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const challenge = await ask({});
  expect(challenge.status).toBe(402);
  const shown = await challenge.json();
  const required = client.getPaymentRequiredResponse((name) => challenge.headers.get(name), shown);
  expect(required).toEqual(shown);
  const signature = client.encodePaymentSignatureHeader(await client.createPaymentPayload(required));
  const answer = await ask(signature);
  const settled = answer.ok ? client.getPaymentSettleResponse((name) => answer.headers.get(name)) : null;
  return { status: answer.status, body: (await answer.json()) as T, settled, again: () => ask(signature) };
}

const page = (name: string): string => readFileSync(join(ROOT, `docs/${name}.md`), 'utf8');

/** Runs lines of a page as a program that has the client's key. */
async function printedBy(lines = '', env: Record<string, string> = {}): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'farelock-lines-'));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'key.json'), JSON.stringify([...me.secretKey]), { mode: 0o600 });
  const { stdout } = await execa(process.execPath, ['--input-type=module'], {
    cwd: ROOT,
    input: lines,
    env: {
      ...worldClockEnv,
      ...{ KEYPAIR: join(folder, 'key.json'), RPC_URL: served.rpcUrl, FLIGHTS_URL: served.flightsUrl },
      ...env,
    },
  });
  return stdout;
}

const SERVICES = cases<readonly [string, () => Promise<Served>]>(
  [[OWN, serving]],
  [['a program that it deployed to another cluster', onAnotherCluster]],
);

describe.each(SERVICES)('a service on %s', (where, serve) => {
  beforeAll(async () => {
    served = await serve();
    await paying();
  });
  afterAll(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  test.each([
    ['exact', {}, undefined],
    ['auth-capture where it is taken', { prefer: 'auth-capture' }, 'authorized'],
  ])(
    'search, intent, book, poll, order: paid by the stock client, by %s, to the unit',
    async (_scheme, prefer, kind) => {
      const supply = (await chain.getTokenSupply(USDC)).value.amount;
      const before = await holds(me.publicKey);
      const depart = new Date(worldClock.now() + 30 * 86_400_000).toISOString().slice(0, 10);
      const trip = { origin_iata: 'LIS', destination_iata: 'BER', depart_date: depart };
      const search = await paid<SearchResponse>('POST', '/air/search', trip, prefer);
      expect(search.status).toBe(200);
      expect(search.settled).toMatchObject({ success: true, payer: me.publicKey.toBase58() });

      // The second journey locks another fare.
      const offer = search.body.offers.filter((one) => one.total_currency === 'USD')[kind ? 1 : 0];
      const wanted = { funding_wallet: me.publicKey.toBase58(), offer_id: offer?.offer_id };
      const created = await paid<CreatedIntent>('POST', '/air/intents', wanted, prefer);
      expect(created.status).toBe(201);
      const intent = created.body;

      programs.push(intent.escrow.program_id);
      const body = { intent_id: intent.intent_id, passengers: [PASSENGER] };
      const booked = await paid('POST', '/air/book', body, prefer);
      expect(booked.status).toBe(200);
      const replay = await booked.again();
      expect(replay.status).toBe(200);
      expect(await replay.json()).toEqual(booked.body);

      const polled = async (): Promise<Intent> => {
        for (let i = 0; i < 100; i++) {
          const now = (await (await fetch(`${served.flightsUrl}/air/intents/${intent.intent_id}`)).json()) as Intent;
          if (now.status !== 'active') return now;
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        throw new Error('the intent stayed active');
      };
      const done = await polled();
      expect([done.status, done.escrow.kind]).toEqual(['booked', kind]);
      expect(done.escrow.address === intent.escrow.address).toBe(kind === undefined);

      const order = await paid<Order>('GET', `/air/orders/${done.order_id}`, undefined, {
        'X-Customer-Support-Code': intent.customer_support_code,
        ...prefer,
      });
      expect(order.status).toBe(200);
      expect(order.body.booking_reference).toMatch(/^[A-Z0-9]{6}$/);

      expect(before - (await holds(me.publicKey))).toBe(100_000 + 100_000 + intent.escrow.amount + 10_000);
      expect(await chain.getAccountInfo(new PublicKey(done.escrow.vault_address))).toBeNull();
      expect((await chain.getTokenSupply(USDC)).value.amount).toBe(supply);
      const capture = await chain.getTransaction(done.capture_tx_hash ?? '', { maxSupportedTransactionVersion: 0 });
      expect(capture?.meta?.err).toBeNull();
    },
  );

  test.runIf(where === OWN)('the lines of docs/paying.md pay a search by x402', async () => {
    const lines = /^## x402\n[\s\S]*?^```js\n([\s\S]*?)^```/m.exec(page('paying'))?.[1];
    const before = await holds(me.publicKey);
    expect(await printedBy(lines, { DEPART: depart })).toMatch(/^200 ey/);
    expect(before - (await holds(me.publicKey))).toBe(100_000);
  });

  // The lines know public networks alone.
  test.runIf(where === OWN)('the lines of docs/auth-capture-svm.md book by auth-capture', async () => {
    const lines = /^```js book\n([\s\S]*?)^```/m.exec(page('auth-capture-svm'))?.[1];
    const search = await paid<SearchResponse>('POST', '/air/search', TRIP);
    const offer = search.body.offers.filter((one) => one.total_currency === 'USD')[2];
    const created = await paid<CreatedIntent>('POST', '/air/intents', { offer_id: offer?.offer_id });
    const { intent_id, escrow } = created.body;
    const before = await holds(me.publicKey);
    const booking = JSON.stringify({ intent_id, passengers: [PASSENGER] });
    expect(await printedBy(lines, { PROGRAM: escrow.program_id, BOOKING: booking })).toBe('200 open');
    expect(before - (await holds(me.publicKey))).toBe(escrow.amount);
  });
});
