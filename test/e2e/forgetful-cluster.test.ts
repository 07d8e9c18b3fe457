import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import type { Intent, Offer, RefundCase } from '../../src/flights/wire.ts';
import { readOwnKeypair } from '../../src/solana/keypair.ts';
import { type RpcAnswer, type RpcCall, said, sentSignature, told } from '../solana/lying-rpc.ts';
import { farelockIn, PASSENGER, type Runner, serveIn } from './farelock.ts';

/**
 * The built service over a cluster that forgets: an approved refund's pay-out lands, its answer is lost, and for 110 s
 * every question about the transaction is answered as if it had never been, while blocks go on and whatever is sent
 * again is swallowed.
 */

const ROUNDS = Number(process.env.FARELOCK_TEST_ROUNDS ?? 1);
/** One run goes by a clock that runs fast; many take the time that they take, all of them at once. */
const RATE = ROUNDS > 1 ? 1 : 20;
const FORGETS_MS = 110_000 / RATE;
const FAST = { TEST_CLOCK_RATE: String(RATE) };

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const home = (env: Record<string, string> = {}): Runner => {
  const runner = farelockIn({ ...FAST, ...env });
  closing.push(runner.close);
  return runner;
};
const serving = async (runner: Runner, args: string[] = []) => {
  const served = await serveIn(runner, args);
  closing.push(served.stop);
  return served;
};

async function ran<T>(runner: Runner, args: string[], input = ''): Promise<T> {
  const done = await runner.run([...args, '--json'], { input });
  expect(done.exitCode, `${args.join(' ')}: ${done.stdout}${done.stderr}`).toBe(0);
  return done.json<T>();
}

async function asked<T>(url: string, method: string, params: unknown[]): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return ((await (await fetch(url, { method: 'POST', headers, body })).json()) as { result: T }).result;
}

interface PayOut {
  readonly signature: string;
  readonly untilMs: number;
  /** Of what a kind the forgetting is. */
  readonly seed: number;
}

/** Between a service and its cluster. `payouts` holds the first pay-out that was sent for each intent. */
async function openForgetful(rpcUrl: string) {
  const payouts = new Map<string, PayOut>();
  const forgotten = () => [...payouts.values()].filter(({ untilMs }) => performance.now() < untilMs);

  async function lie(call: RpcCall, honest: () => Promise<RpcAnswer>): Promise<RpcAnswer | null> {
    const gone = forgotten();
    const isGone = (signature: unknown) => gone.some((one) => one.signature === signature);
    if (call.method === 'sendTransaction') return sent(call, honest);
    if (call.method === 'getTransaction' && isGone(call.params[0])) return said(call, null);
    const answer = await honest();
    if (call.method === 'getSignatureStatuses') {
      const { value } = told(answer);
      told(answer).value = value.map((status, n) =>
        isGone((call.params[0] as string[])[n]) ? null : status,
      );
    }
    if (call.method === 'getSignaturesForAddress' && gone.length > 0) {
      const named = answer.result as { signature: string }[];
      // All of it is lost, or what is asked about.
      answer.result = gone.some(({ seed }) => seed % 2 === 0)
        ? []
        : named.filter(({ signature }) => !isGone(signature));
    }
    if (call.method === 'getMultipleAccounts' && gone.some(({ seed }) => seed % 5 === 4)) {
      const accounts = told<({ space?: number } | null)[]>(answer);
      accounts.value = accounts.value.map((account) => (account?.space === 1 ? null : account));
    }
    return answer;
  }

  /** null: the answer is lost. What is sent in place of a pay-out that is forgotten reaches the cluster. */
  async function sent(call: RpcCall, honest: () => Promise<RpcAnswer>): Promise<RpcAnswer | null> {
    const wire = Buffer.from(String(call.params[0]), 'base64').toString('latin1');
    const [, intent] = /farelock payout (int_\w+)/.exec(wire) ?? [];
    if (intent === undefined) return honest();
    const signature = sentSignature(call);
    const known = payouts.get(intent);
    if (known?.signature === signature && performance.now() < known.untilMs) return said(call, signature);
    const answer = await honest();
    if (known) return answer;
    const seed = payouts.size;
    payouts.set(intent, { signature, untilMs: performance.now() + FORGETS_MS, seed });
    return seed % 3 === 2 ? answer : null;
  }

  const proxy = createServer(async (incoming, outgoing: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const honest = async () => {
      const headers = { 'content-type': 'application/json' };
      return (await (await fetch(rpcUrl, { method: 'POST', headers, body })).json()) as RpcAnswer;
    };
    const answer = await lie(JSON.parse(body) as RpcCall, honest);
    if (answer) outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    else if (payouts.size % 3 === 1) outgoing.destroy();
    else outgoing.writeHead(502).end('<html>');
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const { port } = proxy.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, payouts, isForgetting: () => forgotten().length > 0 };
}

/** A service over the proxy, with an operator's key and a traveller; and the cluster, which tells the truth. */
async function openStage() {
  const ledger = await serving(home());
  const between = await openForgetful(ledger.rpcUrl);
  const operated = home();
  // The first start makes the keys, and says that they are empty.
  const refused = await operated.run(['serve', '--port', '0', '--rpc-url', between.url, '--json']);
  expect(refused.stdout).toContain('insufficient_funds');
  const addressOf = (name: string) => readOwnKeypair(join(operated.home, 'keys', `${name}.json`)).address;
  for (const name of ['authority', 'facilitator']) {
    await asked(ledger.rpcUrl, 'requestAirdrop', [addressOf(name), 10_000_000_000]);
  }
  const served = await serving(operated, ['--rpc-url', between.url]);
  const traveller = home({ FARELOCK_FLIGHTS_URL: served.flightsUrl, FARELOCK_RPC_URL: ledger.rpcUrl });
  await ran(traveller, ['wallet', 'new']);
  await ran(traveller, ['wallet', 'airdrop', '--sol', '1', '--usdc', '20000']);
  const key = readFileSync(served.operatorKeyFile, 'utf8').trim();
  const desk = async <T>(path: string, body?: object): Promise<T> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const sent = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers };
    return (await (await fetch(`${served.flightsUrl}/operator/refund-requests${path}`, sent)).json()) as T;
  };
  return { ...ledger, between, traveller, desk, treasury: addressOf('treasury') };
}

type Stage = Awaited<ReturnType<typeof openStage>>;

/** Offers that are paid back in full or in part. */
async function refundable({ traveller }: Stage): Promise<Offer[]> {
  const search = 'search LIS BER --depart +30d --all-fares --limit 500 --no-wait'.split(' ');
  const { offers } = await ran<{ offers: Offer[] }>(traveller, search);
  return offers.filter(
    (one) =>
      one.total_currency === 'USD' &&
      one.conditions?.refund_allowed === true &&
      one.conditions.refund_penalty_currency === 'USD' &&
      Number(one.conditions.refund_penalty_amount) < Number(one.total_amount_decimal) - 1,
  );
}

async function requested({ traveller }: Stage, offer: Offer): Promise<string> {
  const { intent_id: id } = await ran<Intent>(traveller, ['intent', 'create', offer.offer_id]);
  await ran(traveller, ['book', id, '--passengers', '-', '--yes'], JSON.stringify([PASSENGER]));
  await ran(traveller, ['refund', 'request', id, '--reason', 'The meeting was called off.']);
  return id;
}

/** What landed on the cluster for an intent. */
async function paidOut({ rpcUrl, treasury }: Stage, intentId: string): Promise<number> {
  const { value } = await asked<{ value: { pubkey: string }[] }>(rpcUrl, 'getTokenAccountsByOwner', [
    treasury,
    { programId: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' },
    { encoding: 'jsonParsed' },
  ]);
  const entries = await asked<{ memo: string | null; err: unknown }[]>(rpcUrl, 'getSignaturesForAddress', [
    value[0]?.pubkey,
  ]);
  return entries.filter(({ memo, err }) => err === null && memo?.includes(`payout ${intentId}`)).length;
}

test('a pay-out that the cluster forgets for 110 s reaches the customer exactly once', async () => {
  const stage = await openStage();
  const { traveller, desk, between } = stage;
  const offers = await refundable(stage);
  expect(offers.length).toBeGreaterThan(0);
  const intents: string[] = [];
  for (let n = 0; n < ROUNDS; n++) intents.push(await requested(stage, offers[n % offers.length] as Offer));
  const usdc = async () =>
    Number((await ran<{ usdc_atomic: string }>(traveller, ['wallet', 'balance'])).usdc_atomic);
  const before = await usdc();

  const approve = (id: string) => desk<RefundCase>(`/${id}/approve`, {});
  const first = Promise.all(intents.map(approve));
  await expect.poll(() => between.payouts.size, { timeout: 20_000 }).toBe(ROUNDS);
  const open = new Set(intents);
  for (const untilMs = performance.now() + 3 * FORGETS_MS; open.size > 0 && performance.now() < untilMs; ) {
    // An operator who sees no end of it presses again.
    for (const id of open) if ((await approve(id)).status === 'refunded') open.delete(id);
    await sleep(10_000 / RATE);
    if (between.isForgetting()) expect(await paidOut(stage, intents[0] ?? '')).toBe(1);
  }
  await first;
  expect([...open]).toEqual([]);
  let due = 0;
  for (const id of intents) {
    expect([id, await paidOut(stage, id)]).toEqual([id, 1]);
    const { decision, payout_tx_hash: signature } = await desk<RefundCase>(`/${id}`);
    due += decision?.payout_amount ?? Number.NaN;
    expect(signature).toBe(between.payouts.get(id)?.signature);
  }
  expect((await usdc()) - before).toBe(due);
}, 900_000);
