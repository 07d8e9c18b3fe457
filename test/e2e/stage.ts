import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { payoutMemo } from '../../src/kernel/domain/payout-names.ts';
import { readOwnKeypair, type Signer } from '../../src/solana/keypair.ts';
import type { Intent, Offer } from '../../src/wire/flights/index.ts';
import { inMemory } from '../cli/memory.ts';
import { WORLD_STARTS_MS } from '../clock.ts';
import type { RpcAnswer, RpcCall } from '../solana/lying-rpc.ts';
import { farelockIn, PASSENGER, type Runner, type Served, serveIn } from './farelock.ts';

/**
 * The built service, its cluster, and somebody between them: he hears every call, and may lose it, answer it himself, or
 * kill the service over it.
 */

/** Answers a call; null loses it. `honest` hands it to the cluster. */
export type Between = (call: RpcCall, honest: () => Promise<RpcAnswer>) => Promise<RpcAnswer | null>;

export async function asked<T>(url: string, method: string, params: unknown[]): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const answer = await fetch(url, { method: 'POST', headers, body });
  const { result, error } = (await answer.json()) as { result: T; error?: { message: string } };
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}

export async function ran<T>(runner: Runner, args: string[], input = ''): Promise<T> {
  const done = await runner.run([...args, '--json'], { input });
  expect(done.exitCode, `${args.join(' ')}: ${done.stdout}${done.stderr}`).toBe(0);
  return done.json<T>();
}

/** Somebody between a client and a cluster. */
export async function openProxy(rpcUrl: string) {
  const proxy = { answer: (async (_call, honest) => honest()) as Between };
  let lost = 0;
  const server = createServer(async (incoming, outgoing: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const honest = async () => {
      const headers = { 'content-type': 'application/json' };
      return (await (await fetch(rpcUrl, { method: 'POST', headers, body })).json()) as RpcAnswer;
    };
    const answer = await proxy.answer(JSON.parse(body) as RpcCall, honest);
    if (answer) outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    else if (lost++ % 2 === 0) outgoing.destroy();
    else outgoing.writeHead(502).end('<html>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return Object.assign(proxy, { url: `http://127.0.0.1:${port}/`, close });
}

/**
 * Opens a service over the proxy, with an operator's key and a traveller. All clocks run `rate` times as fast.
 * @param prepare is given the service's home before it serves from it, and the traveller's before it is used: that
 * traveller's commands are processes
 * @param options more of `serve`
 */
export async function openStage(rate: number, prepare?: (runner: Runner) => void, options: readonly string[] = []) {
  const closing: (() => unknown)[] = [];
  const home = (env: Record<string, string> = {}): Runner => {
    const runner = farelockIn({ TEST_CLOCK_SPEED: String(rate), ...env });
    closing.push(runner.close);
    return runner;
  };
  const ledger = await serveIn(home());
  closing.push(ledger.stop);
  const { rpcUrl } = ledger;
  const between = await openProxy(rpcUrl);
  closing.push(between.close);
  const operated = home();
  // The first start makes the keys, and says that they are empty.
  const refused = await operated.run(['serve', '--port', '0', '--rpc-url', between.url, '--json']);
  expect(refused.stdout).toContain('insufficient_funds');
  prepare?.(operated);
  const key = (name: string): Signer => readOwnKeypair(join(operated.home, 'keys', `${name}.json`));
  for (const name of ['authority', 'facilitator']) {
    await asked(rpcUrl, 'requestAirdrop', [key(name).address, 10_000_000_000]);
  }
  let served: Served;
  closing.push(() => served?.stop());
  let aheadMs = 0;
  const start = async (laterMs = 0) => {
    aheadMs += laterMs;
    for (const { env } of [operated, traveller, operator]) {
      env.TEST_CLOCK_STARTS_MS = String(WORLD_STARTS_MS + aheadMs);
    }
    served = await serveIn(operated, ['--rpc-url', between.url, ...options]);
    traveller.env.FARELOCK_FLIGHTS_URL = served.flightsUrl;
    operator.env.FARELOCK_FLIGHTS_URL = served.flightsUrl;
    operator.env.FARELOCK_OPERATOR_KEY = readFileSync(served.operatorKeyFile, 'utf8').trim();
  };
  const clientHome = home({ FARELOCK_RPC_URL: rpcUrl });
  const traveller = prepare ? clientHome : inMemory(clientHome);
  const operator = inMemory(home({ FARELOCK_RPC_URL: rpcUrl }));
  await start();
  prepare?.(traveller);
  await ran(traveller, ['wallet', 'new']);
  await ran(traveller, ['wallet', 'airdrop', '--sol', '1', '--usdc', '20000']);

  return {
    rpcUrl,
    between,
    traveller,
    operator,
    key,
    /** Starts the service again, after it was killed, so much later. */
    start,
    kill: () => served.kill(),
    /** Once the service has ended. */
    ended: () => served.ended,
    flightsUrl: () => served.flightsUrl,

    /** A call to the operator's desk. */
    async desk<T>(path: string, body?: object): Promise<T> {
      const authorization = `Bearer ${operator.env.FARELOCK_OPERATOR_KEY}`;
      const headers = { authorization, 'content-type': 'application/json' };
      const sent = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers };
      return (await (await fetch(`${served.flightsUrl}/operator${path}`, sent)).json()) as T;
    },

    async offers(): Promise<Offer[]> {
      const search = 'search LIS BER --depart +30d --all-fares --limit 500 --no-wait'.split(' ');
      const { offers } = await ran<{ offers: Offer[] }>(traveller, search);
      return offers.filter((one) => one.total_currency === 'USD');
    },

    /** Books an offer and asks for its refund. @returns the intent's id */
    async requested(offer: Offer): Promise<string> {
      const { intent_id: id } = await ran<Intent>(traveller, ['intent', 'create', offer.offer_id]);
      await ran(traveller, ['book', id, '--passengers', '-', '--yes'], JSON.stringify([PASSENGER]));
      await ran(traveller, ['refund', 'request', id, '--reason', 'The meeting was called off.']);
      return id;
    },

    usdc: async () => Number((await ran<{ usdc_atomic: string }>(traveller, ['wallet', 'balance'])).usdc_atomic),

    /** How many pay-outs for an intent landed on the cluster. */
    async paidOut(intentId: string): Promise<number> {
      const { value } = await asked<{ value: { pubkey: string }[] }>(rpcUrl, 'getTokenAccountsByOwner', [
        key('treasury').address,
        { programId: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' },
        { encoding: 'jsonParsed' },
      ]);
      const account = value[0]?.pubkey;
      const entries = await asked<{ memo: string | null; err: unknown }[]>(rpcUrl, 'getSignaturesForAddress', [
        account,
      ]);
      return entries.filter(({ memo, err }) => err === null && memo?.includes(payoutMemo(intentId))).length;
    },

    async close() {
      for (const close of closing.reverse()) await close();
    },
  };
}

export type Stage = Awaited<ReturnType<typeof openStage>>;

/** Whether a fare is paid back, in full or in part. */
export const isRefundable = ({ conditions, total_amount_decimal: total }: Offer): boolean =>
  conditions?.refund_allowed === true &&
  conditions.refund_penalty_currency === 'USD' &&
  Number(conditions.refund_penalty_amount) < Number(total) - 1;

/** The memo of a sent transaction that pays a refund out; null for every other one. */
export const payOutOf = ({ method, params }: RpcCall): string | null => {
  if (method !== 'sendTransaction') return null;
  const wire = Buffer.from(String(params[0]), 'base64').toString('latin1');
  return /farelock payout [0-9a-f]{32}/.exec(wire)?.[0] ?? null;
};
