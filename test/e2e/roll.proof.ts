import { randomBytes } from 'node:crypto';
import { setTimeout as passed } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import type { Cluster } from '../../src/solana/cluster.ts';
import { openRpcCluster } from '../../src/solana/rpc/index.ts';
import { signerFromSeed } from '../../src/solana/signer.ts';
import type { CreatedIntent, SearchResponse } from '../../src/wire/flights/index.ts';
import { WORLD_STARTS_MS, worldClock } from '../clock.ts';
import { postgresKeepsTime, startPostgres } from '../store/postgres.ts';
import { BIN, farelockIn, PASSENGER } from './farelock.ts';
import { kept } from './kept.ts';
import { signedCall } from './signed-call.ts';
import { asked } from './stage.ts';

/**
 * Each process of a fleet is replaced under load, as clients see it behind a balancer that asks /ready: nothing is
 * refused, reset or left without an answer. `TEST_BIN_BEFORE`: bin/farelock.js of the version that is replaced.
 */

const BEFORE = process.env.TEST_BIN_BEFORE ?? BIN;
const [SERVERS, WORKERS, CLIENTS] = [3, 2, 6];
const ASKED_EVERY_MS = 500;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Sends each call to a process that said it was ready when it was asked last. */
function balanced(urls: readonly string[]) {
  const ready = new Set(urls);
  let [turn, isOver] = [0, false];
  const asking = (async () => {
    for (; !isOver; await passed(ASKED_EVERY_MS))
      await Promise.all(
        urls.map(async (url) => {
          const signal = AbortSignal.timeout(2_000);
          const isReady = await fetch(`${url}/ready`, { signal }).then(
            ({ ok }) => ok,
            () => false,
          );
          if (isReady) ready.add(url);
          else ready.delete(url);
        }),
      );
  })();
  return {
    next(): string {
      const now = [...ready];
      return now[turn++ % now.length] ?? '';
    },
    async stop() {
      isOver = true;
      await asking;
    },
  };
}

const said = (status: number, body: unknown): string =>
  status === 503 ? `503 ${(body as { code?: string }).code}` : String(status);

test.runIf(postgresKeepsTime)(
  'a roll is not seen by clients behind a balancer',
  async () => {
    const database = await startPostgres({ nowMs: worldClock.now() });
    const chainHome = farelockIn();
    const operator = farelockIn({ FARELOCK_DATABASE_URL: database.url, FARELOCK_TICKETING_MS: '20' });
    closing.push(database.close, chainHome.close, operator.close);
    const chain = await kept(chainHome, ['serve', '--cluster-only']);
    closing.push(chain.stop);
    const rpcUrl = chain.shown().rpc_url ?? '';
    operator.env.FARELOCK_RPC_URL = rpcUrl;
    const keys = (await operator.run(['cluster', 'keys', '--json'])).json<{ wallets: { address: string }[] }>();
    for (const { address } of keys.wallets) await asked(rpcUrl, 'requestAirdrop', [address, 20_000_000_000]);
    const cluster: Cluster = await openRpcCluster({ urls: [rpcUrl], clock: systemClock } as never);
    closing.push(cluster.close);
    const fleet = [];
    for (let at = 0; at < SERVERS + WORKERS; at++) {
      const one = await kept(operator, at < SERVERS ? ['serve', '--no-worker'] : ['worker'], BEFORE);
      closing.push(one.stop);
      fleet.push(one);
    }
    const balancer = balanced(fleet.slice(0, SERVERS).map((one) => one.shown().flights_url?.replace(/\/$/, '') ?? ''));
    closing.push(balancer.stop);

    const seen = new Map<string, number>();
    const count = (what: string) => void seen.set(what, (seen.get(what) ?? 0) + 1);
    const told = async <T>(call: () => Promise<T>): Promise<T> => {
      try {
        return await call();
      } catch (error) {
        count(String((error as { cause?: { code?: string } }).cause?.code ?? error));
        throw error;
      }
    };
    let isOver = false;
    let booked = 0;
    const client = async () => {
      const wallet = signerFromSeed(randomBytes(32));
      await asked(rpcUrl, 'farelock_airdropUsdc', [wallet.address, 200_000_000_000]);
      const buy = async <T>(path: string, body: object): Promise<{ status: number; body: T }> => {
        for (;;) {
          const send = await told(() => signedCall<T>(`${balancer.next()}${path}`, body, wallet, cluster));
          // The answer of a payment that is still being settled comes with the same payment.
          for (;;) {
            const answer = await told(() => send(`${balancer.next()}${path}`));
            count(said(answer.status, answer.body));
            if (answer.status === 503) {
              await passed(500);
              // Turned away before it was asked to pay.
              if (send.amount === 0n) break;
            } else if (answer.status === 402) break;
            else return answer;
          }
        }
      };
      while (!isOver) {
        const depart_date = new Date(WORLD_STARTS_MS + (30 + (booked % 60)) * 86_400_000).toISOString().slice(0, 10);
        const found = await buy<SearchResponse>('/air/search', {
          ...{ origin_iata: 'LIS', destination_iata: 'BER', depart_date, limit: 40 },
        });
        const sold = found.body.offers.filter(
          (one) => one.total_currency === 'USD' && !one.offer_id.startsWith('lowcost:') && one.total_amount < 900e6,
        );
        const offer = sold[(randomBytes(1)[0] ?? 0) % sold.length];
        const wallets = { funding_wallet: wallet.address, refund_wallet: wallet.address };
        const made = await buy<CreatedIntent>('/air/intents', { offer_id: offer?.offer_id, ...wallets });
        if (made.status !== 201) continue;
        const { intent_id } = made.body;
        if ((await buy('/air/book', { intent_id, passengers: [PASSENGER] })).status !== 200) continue;
        for (let status = 'active'; status === 'active'; await passed(200)) {
          const answer = await told(() => fetch(`${balancer.next()}/air/intents/${intent_id}`));
          const intent = (await answer.json()) as { status: string };
          count(said(answer.status, intent));
          if (answer.status === 200) ({ status } = intent);
        }
        booked++;
      }
    };
    const clients = Array.from({ length: CLIENTS }, client);
    const load = Promise.all(clients);
    load.catch(() => undefined);
    // Adds what the next version needs; the one before goes on beside it.
    const migrated = await operator.run(['db', 'migrate', '--json']);
    expect(migrated.exitCode, migrated.stdout).toBe(0);
    for (const one of fleet) {
      await passed(4_000);
      await one.become(BIN);
    }
    await passed(4_000);
    isOver = true;
    await load;
    process.stdout.write(`${booked} journeys, ${JSON.stringify(Object.fromEntries(seen))}\n`);
    expect(booked).toBeGreaterThan(CLIENTS);
    // A service may be busy, and says so; on a quiet machine none is.
    expect([...seen.keys()].filter((what) => !/^(200|201|402|409|503 not_ready)$/.test(what))).toEqual([]);
  },
  600_000,
);
