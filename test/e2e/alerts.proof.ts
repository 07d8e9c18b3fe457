import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import type { Address } from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import pg from 'pg';
import { afterEach, describe, expect, test } from 'vitest';
import { DAY_MS, systemClock } from '../../src/kernel/clock.ts';
import type { Cluster } from '../../src/solana/cluster.ts';
import { readOwnKeypair } from '../../src/solana/keypair.ts';
import { openRpcCluster } from '../../src/solana/rpc/index.ts';
import { type Signer, signerFromSeed } from '../../src/solana/signer.ts';
import { buildTransaction } from '../../src/solana/transaction.ts';
import type { CreatedIntent, Offer, OfferDetailsResponse, SearchResponse } from '../../src/wire/flights/index.ts';
import { inMemory } from '../cli/memory.ts';
import { WORLD_STARTS_MS, worldClock } from '../clock.ts';
import { isHere } from '../needs.mjs';
import { sentSignature } from '../solana/lying-rpc.ts';
import { postgresKeepsTime, startPostgres } from '../store/postgres.ts';
import { farelockIn, PASSENGER, serveIn } from './farelock.ts';
import { kept } from './kept.ts';
import { ALERTS, checkRules, freePort, playRule, prometheusIsInstalled, watching } from './prometheus.ts';
import { signedCall } from './signed-call.ts';
import { asked, openProxy, openStage, ran } from './stage.ts';

/**
 * The shipped alerts in a real Prometheus: a loaded service fires none, and each one fires when its fault is made.
 * Windows and waits are shortened; nothing else of the rules is.
 */

const seen = new Set<string>();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const watched = async (...ports: number[]) => {
  const watch = await watching(ports, seen);
  closing.push(watch.close);
  return watch;
};

/** Repeats `work` until the test ends, whatever comes of it. */
function repeating(pauseMs: number, work: () => Promise<unknown>): () => Promise<void> {
  let isOver = false;
  const done = (async () => {
    for (; !isOver; await passed(pauseMs)) await work().catch(() => undefined);
  })();
  const stop = () => {
    isOver = true;
    return done;
  };
  closing.push(stop);
  return stop;
}

const inDays = (days: number): string => new Date(WORLD_STARTS_MS + days * DAY_MS).toISOString().slice(0, 10);
const SEARCH = { origin_iata: 'LIS', destination_iata: 'BER', depart_date: inDays(30), limit: 40 };

async function payerOn(rpcUrl: string): Promise<Signer> {
  const payer = signerFromSeed(randomBytes(32));
  await asked(rpcUrl, 'farelock_airdropUsdc', [payer.address, 20_000_000_000]);
  return payer;
}

/** Searches, locks and books, as a client with a key of its own. */
async function journey(url: string, payer: Signer, cluster: Cluster): Promise<void> {
  const buy = async <T>(path: string, body: object) => (await signedCall<T>(`${url}${path}`, body, payer, cluster))();
  const { body: found } = await buy<SearchResponse>('/air/search', SEARCH);
  const offer = found.offers.find((one) => one.total_currency === 'USD' && !one.offer_id.startsWith('lowcost:'));
  const wallets = { funding_wallet: payer.address, refund_wallet: payer.address };
  const made = await buy<CreatedIntent>('/air/intents', { offer_id: offer?.offer_id, ...wallets });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const booked = await buy('/air/book', { intent_id: made.body.intent_id, passengers: [PASSENGER] });
  expect(booked.status, JSON.stringify(booked.body)).toBe(200);
}

describe.runIf(isHere('Prometheus', prometheusIsInstalled) && postgresKeepsTime)('the alerts', () => {
  test('promtool finds nothing wrong with the file', () => {
    expect(checkRules()).toContain(`${ALERTS.length} rules found`);
  });

  test('a payment whose client never asks again pages for an hour, not for ever', () => {
    const open = { 'farelock_payments_open{state="settled"}': '0x60 1x180 2x60' };
    playRule('FarelockPaidNotAnswered', open, { 60: false, 70: true, 110: true, 130: false, 230: false, 250: true });
  });

  test('probes do not hide that every call fails, and what is turned away under load is no error', () => {
    const calls = (route: string, code: number) =>
      `farelock_http_request_duration_seconds_count{route="${route}",method="POST",code="${code}"}`;
    const failing = { [calls('/air/search', 503)]: '0+1x60', [calls('/health', 200)]: '0+60x60' };
    playRule('FarelockErrors', failing, { 30: true });
    playRule(
      'FarelockErrors',
      { [calls('/air/search', 200)]: '0+9x60', [calls('none', 503)]: '0+99x60' },
      { 30: false },
    );
  });

  test('none fires under load; then a lagging node, an empty wallet, late and dead processes, a locked database', async () => {
    const database = await startPostgres({ nowMs: worldClock.now() });
    const chainHome = farelockIn();
    closing.push(database.close, chainHome.close);
    const chain = await kept(chainHome, ['serve', '--cluster-only']);
    closing.push(chain.stop);
    const rpcUrl = chain.shown().rpc_url ?? '';
    const between = await openProxy(rpcUrl);
    const operator = farelockIn({
      FARELOCK_DATABASE_URL: database.url,
      FARELOCK_RPC_URL: `${between.url},${rpcUrl}`,
      FARELOCK_TICKETING_MS: '20',
      FARELOCK_MOST_REQUESTS: '25',
    });
    closing.push(between.close, operator.close);
    const { wallets } = (await operator.run(['cluster', 'keys', '--json'])).json<{ wallets: { address: string }[] }>();
    for (const { address } of wallets) await asked(rpcUrl, 'requestAirdrop', [address, 20_000_000_000]);
    const cluster = await openRpcCluster({ urls: [rpcUrl], clock: systemClock });
    closing.push(cluster.close);
    const [serves, works] = [await freePort(), await freePort()];
    const served = await serveIn(operator, ['--no-worker', '--metrics', `127.0.0.1:${serves}`]);
    const worker = await kept(operator, ['worker', '--metrics', `127.0.0.1:${works}`]);
    closing.push(served.stop, worker.stop);

    const watch = await watched(serves, works);
    const payer = await payerOn(rpcUrl);
    let journeys = 0;
    const rest = repeating(200, async () => {
      await journey(served.flightsUrl, payer, cluster);
      journeys++;
    });
    expect.soft(await watch.over(40_000)).toEqual([]);
    expect.soft(await watch.troubles()).toEqual([]);
    expect.soft(journeys).toBeGreaterThan(5);

    between.answer = async (_call, honest) => {
      const answer = await honest();
      const { context } = (answer.result ?? {}) as { context?: { slot: number } };
      if (context) context.slot -= 100;
      return answer;
    };
    const facilitator = readOwnKeypair(join(operator.home, 'keys', 'facilitator.json'));
    const amount = 19_600_000_000n;
    const away = { source: facilitator as never, destination: payer.address as Address, amount };
    const blockhash = await cluster.latestBlockhash();
    await cluster.send(
      buildTransaction({ feePayer: facilitator, instructions: [getTransferSolInstruction(away)], blockhash }).wire,
    );
    const runs = repeating(300, () => worker.halt(900));
    await watch.until(['FarelockClusterLags', 'FarelockWalletLow', 'FarelockEventLoopLate']);
    await Promise.all([runs(), rest()]);

    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    closing.push(() => holder.end().catch(() => undefined));
    await holder.query('begin');
    await holder.query('lock table intents, bookings, settlements in access exclusive mode');
    const crowd = Array.from({ length: 60 }, () =>
      repeating(300, () => fetch(`${served.flightsUrl}/air/intents/int_${'0'.repeat(26)}`)),
    );
    await watch.until(['FarelockDatabaseBusy', 'FarelockStateUnknown', 'FarelockSheds', 'FarelockErrors'], 150_000);
    await holder.end();
    await Promise.all(crowd.map((stop) => stop()));

    served.kill();
    await watch.until(['FarelockDown']);
  }, 600_000);

  /** Clocks run 20 times as fast: ages grow so. */
  test('a cluster that loses transactions, and then everything', async () => {
    const metrics = await freePort();
    const stage = await openStage(20, undefined, ['--metrics', `127.0.0.1:${metrics}`]);
    closing.push(stage.close);
    const cluster = await openRpcCluster({ urls: [stage.rpcUrl], clock: systemClock });
    closing.push(cluster.close);
    const watch = await watched(metrics);
    const buyer = async () => {
      const payer = await payerOn(stage.rpcUrl);
      const buy = async <T>(path: string, body: object) =>
        signedCall<T>(`${stage.flightsUrl()}${path}`, body, payer, cluster);
      const { body: found } = await (await buy<SearchResponse>('/air/search', SEARCH))();
      const offer = found.offers.find((one) => one.total_currency === 'USD');
      const wallets = { funding_wallet: payer.address, refund_wallet: payer.address };
      const lock = () => buy('/air/intents', { offer_id: offer?.offer_id, ...wallets });
      return { lock, search: () => buy('/air/search', SEARCH) };
    };

    // Dies between the payment, which follows the opening of the escrow, and the answer. Its client does not ask again.
    const gone = await (await buyer()).lock();
    let sends = 0;
    stage.between.answer = async (call, honest) => {
      if (call.method !== 'sendTransaction' || ++sends < 2) return honest();
      await honest();
      stage.kill();
      return null;
    };
    await gone().catch(() => undefined);
    await stage.ended();
    expect(sends).toBe(2);
    stage.between.answer = (_call, honest) => honest();
    await stage.start();
    await watch.until(['FarelockPaidNotAnswered']);

    const other = await buyer();
    const [lock, search] = [await other.lock(), await other.search()];
    const lost = new Set<string>();
    let isAway = false;
    stage.between.answer = async (call, honest) => {
      if (call.method === 'sendTransaction') lost.add(sentSignature(call));
      const named = call.method === 'getSignatureStatuses' ? (call.params[0] as string[]) : [];
      return isAway || call.method === 'sendTransaction' || named.some((one) => lost.has(one)) ? null : honest();
    };
    repeating(2_000, lock);
    await expect.poll(() => lost.size, { timeout: 30_000 }).toBeGreaterThan(0);
    const before = new Set(lost);
    repeating(2_000, search);
    await expect.poll(() => [...lost].some((one) => !before.has(one)), { timeout: 30_000 }).toBe(true);
    await passed(1_000);
    isAway = true;
    await watch.until(
      ['ClusterAway', 'EndpointAway', 'PaymentUnknown', 'PaymentsFail', 'EffectInDoubt'].map(
        (name) => `Farelock${name}`,
      ),
      150_000,
    );
  }, 300_000);

  test('a booking that waits for a person, no worker for two months, and an airline that is away', async () => {
    const metrics = await freePort();
    const options = ['--metrics', `127.0.0.1:${metrics}`];
    const operator = farelockIn({
      FARELOCK_SCENARIO: 'pay_pressed_no_confirmation',
      FARELOCK_TICKETING_MS: '20',
      FARELOCK_LOWCOST_MS: '20',
    });
    const tool = inMemory(farelockIn());
    closing.push(operator.close, tool.close);
    const start = async (...more: string[]) => {
      const served = await serveIn(operator, [...options, ...more]);
      Object.assign(tool.env, { FARELOCK_FLIGHTS_URL: served.flightsUrl, FARELOCK_RPC_URL: served.rpcUrl });
      closing.push(served.stop);
      return served;
    };
    const json = <T>(line: string) => ran<T>(tool, line.split(' '));
    const passengers = join(tool.home, 'passengers.json');
    const passport = { nationality: 'PT', passport_number: 'CB123456', passport_expiry: '2099-05-01' };
    writeFileSync(passengers, JSON.stringify([{ ...PASSENGER, ...passport }]), { mode: 0o600 });
    const book = async (offerId: string | undefined, ...how: string[]) => {
      const { intent_id: id } = await json<{ intent_id: string }>(`intent create ${offerId}`);
      await json(['book', id, '--passengers', passengers, '--yes', ...how].join(' '));
    };
    const offers = async (isLowcost: boolean) =>
      (await json<{ offers: Offer[] }>('search LIS BER --depart +30d --all-fares --limit 500 --wait')).offers.filter(
        (one) => one.total_currency === 'USD' && one.offer_id.startsWith('lowcost:') === isLowcost,
      );

    let served = await start();
    const watch = await watched(metrics);
    await json('wallet new');
    await json('wallet airdrop --sol 1 --usdc 20000');
    await book((await offers(false))[0]?.offer_id);
    const [flight] = await offers(true);
    const { fare_menu } = await json<OfferDetailsResponse>(`offer ${flight?.offer_id}`);
    await book(fare_menu?.fares[1]?.offer_id, '--no-wait');
    await watch.until(['FarelockStuck']);

    await served.stop();
    served = await start('--no-worker');
    await book((await offers(false))[0]?.offer_id, '--no-wait');
    await served.stop();
    operator.env.TEST_CLOCK_STARTS_MS = String(WORLD_STARTS_MS + 60 * DAY_MS);
    operator.env.FARELOCK_DUFFEL_TOKEN = 'duffel_test_away';
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    served = await start('--no-worker', '--provider', 'duffel', '--duffel-url', nowhere);
    const cluster = await openRpcCluster({ urls: [served.rpcUrl], clock: systemClock });
    closing.push(cluster.close);
    const payer = await payerOn(served.rpcUrl);
    const later = { ...SEARCH, depart_date: inDays(90) };
    repeating(500, async () => (await signedCall(`${served.flightsUrl}/air/search`, later, payer, cluster))());
    await watch.until(
      ['JobsOverdue', 'BookingSlow', 'UpkeepOverdue', 'AirlineRefuses'].map((name) => `Farelock${name}`),
      150_000,
    );
  }, 400_000);

  test('every rule of the file has fired', () => {
    expect([...seen].sort()).toEqual([...ALERTS].sort());
  });
});
