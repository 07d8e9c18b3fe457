import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import type { Address } from '@solana/kit';
import Sqlite from 'libsql';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { type Cluster, DEVNET_USDC } from '../../src/solana/cluster.ts';
import { openRpcCluster } from '../../src/solana/rpc/index.ts';
import { type Signer, signerFromSeed } from '../../src/solana/signer.ts';
import { associatedTokenAddress } from '../../src/solana/token.ts';
import type { CreatedIntent, Intent, SearchResponse } from '../../src/wire/flights/index.ts';
import { WORLD_STARTS_MS, worldClock } from '../clock.ts';
import { chances, isProof, rounds, seedOr } from '../rounds.ts';
import { postgresKeepsTime, startPostgres } from '../store/postgres.ts';
import { BIN, farelockIn, PASSENGER, type Runner } from './farelock.ts';
import { type Answer, signedCall } from './signed-call.ts';
import { asked } from './stage.ts';

/**
 * A fleet on one PostgreSQL and a cluster of its own process: several serve, several work, any of them dies at any
 * moment and is started again. Every journey ends booked or refunded, once, and the books are right to the unit.
 */

const JOURNEYS = rounds(6, 2_000);
const [CLIENTS, SERVERS, WORKERS] = isProof ? [16, 4, 2] : [3, 2, 1];
const KILL_EVERY_MS = isProof ? 5_000 : 700;
const PATIENCE_MS = 60_000;
const chance = chances(seedOr(20261126));

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A process that is started again whenever it ends, until it is told to stop. */
async function kept({ env }: Runner, args: readonly string[]) {
  let child: ChildProcess;
  let [isOver, isReady, errors, starts] = [false, false, '', 0];
  let shown: Record<string, string> = {};
  const begin = (more: readonly string[] = []): Promise<void> =>
    new Promise((ready, failed) => {
      child = spawn(process.execPath, [BIN, ...args, ...more, '--json'], {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let text = '';
      child.stdout?.on('data', (chunk: Buffer) => {
        text += String(chunk);
        if (!text.includes('\n')) return;
        const said = JSON.parse(text.slice(0, text.indexOf('\n'))) as Record<string, string>;
        if (said.error) return;
        shown = said;
        isReady = true;
        ready();
      });
      child.stderr?.on('data', (chunk: Buffer) => {
        errors += String(chunk);
      });
      child.once('exit', async (code, signal) => {
        isReady = false;
        if (isOver) return;
        // A process that finds no database, or its port taken, is started again, as a machine does it.
        if (signal !== 'SIGKILL') errors += `${args.join(' ')} ended with ${code}: ${text}\n`;
        if (starts++ > 100) return failed(new Error(errors));
        await passed(500);
        if (isOver) return;
        // On the same port: its clients know no other.
        const { port } = shown.flights_url ? new URL(shown.flights_url) : { port: '' };
        begin(port ? ['--port', port] : []).then(ready, failed);
      });
    });
  const isBegun = begin(args[0] === 'serve' ? ['--port', '0'] : []);
  isBegun.catch(() => undefined);
  await isBegun;
  return {
    shown: () => shown,
    /** Only what runs: one that is killed at each start would never do anything. */
    kill: () => isReady && child.kill('SIGKILL'),
    async stop(): Promise<number | null> {
      isOver = true;
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** Insists on an answer: the same payment is sent again to whoever is there, until one says how it ended. */
async function paid<T>(urls: readonly string[], path: string, body: object, payer: Signer, cluster: Cluster) {
  const untilMs = Date.now() + PATIENCE_MS;
  const any = () => urls[Math.floor(chance() * urls.length)] ?? '';
  let last: unknown = null;
  let send: Awaited<ReturnType<typeof signedCall<T>>> | null = null;
  for (;;) {
    try {
      send ??= await signedCall<T>(`${any()}${path}`, body, payer, cluster);
      const answer = await send(`${any()}${path}`);
      if (answer.status < 500 && answer.status !== 402 && answer.status !== 429)
        return { ...answer, amount: send.amount };
      last = answer;
      // Turned away before it was asked to pay, or asked anew.
      if (answer.status === 402 || send.amount === 0n) send = null;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      last = String(error.cause);
    }
    if (Date.now() > untilMs) throw new Error(`${path} never ended: ${JSON.stringify(last)}`);
    await passed(100 + 400 * chance());
  }
}

test.runIf(postgresKeepsTime)(
  'processes that serve and work beside each other, and die, end every journey once, to the unit',
  async () => {
    const database = await startPostgres({ nowMs: worldClock.now() });
    closing.push(database.close);
    const chainHome = farelockIn({ FARELOCK_TICKETING_MS: '20' });
    const both = await database.follow();
    const operator = farelockIn({ FARELOCK_DATABASE_URL: both, FARELOCK_TICKETING_MS: '20' });
    closing.push(chainHome.close, operator.close);
    const chain = await kept(chainHome, ['serve', '--cluster-only']);
    closing.push(chain.stop);
    const rpcUrl = chain.shown().rpc_url ?? '';
    Object.assign(operator.env, { FARELOCK_RPC_URL: rpcUrl });
    // Makes the operator's keys.
    const keys = (await operator.run(['cluster', 'keys', '--json'])).json<{ wallets: { address: string }[] }>();
    const fill = async (address: string, sol: number, usdc: number) => {
      if (sol > 0) await asked(rpcUrl, 'requestAirdrop', [address, sol * 1_000_000_000]);
      await asked(rpcUrl, 'farelock_airdropUsdc', [address, usdc * 1_000_000]);
    };
    for (const { address } of keys.wallets) await fill(address, 20, 0);
    const cluster = await openRpcCluster({ urls: [rpcUrl], clock: systemClock } as never);
    closing.push(cluster.close);

    const fleet = await Promise.all([
      ...Array.from({ length: SERVERS }, () => kept(operator, ['serve', '--no-worker'])),
      ...Array.from({ length: WORKERS }, () => kept(operator, ['worker'])),
    ]);
    closing.push(() => Promise.all(fleet.map((one) => one.stop())));
    const urls = fleet.slice(0, SERVERS).map((one) => one.shown().flights_url?.replace(/\/$/, '') ?? '');

    let kills = 0;
    const chaos = setInterval(() => {
      if (fleet[Math.floor(chance() * fleet.length)]?.kill()) kills++;
    }, KILL_EVERY_MS);
    closing.push(() => clearInterval(chaos));
    let failing: Promise<void> | null = null;

    const ended: Intent[] = [];
    const spent = new Map<string, { calls: bigint; had: bigint }>();
    let left = JOURNEYS;
    const client = async (): Promise<void> => {
      const wallet = signerFromSeed(randomBytes(32));
      const had = 20_000_000_000n;
      await fill(wallet.address, 0, Number(had / 1_000_000n));
      const account = { calls: 0n, had };
      spent.set(wallet.address, account);
      const buy = async <T>(path: string, body: object): Promise<Answer<T>> => {
        const answer = await paid<T>(urls, path, body, wallet, cluster);
        // What is refused costs nothing; a fare is counted below, where it was booked.
        if (answer.status < 300 && path !== '/air/book') account.calls += answer.amount;
        return answer;
      };
      while (left-- > 0) {
        const found = await buy<SearchResponse>('/air/search', {
          ...{
            origin_iata: 'LIS',
            destination_iata: 'BER',
            depart_date: inDays(30 + Math.floor(chance() * 60)),
            limit: 40,
          },
        });
        expect(found.status, JSON.stringify(found.body)).toBe(200);
        const sold = found.body.offers.filter(
          (one) =>
            one.total_currency === 'USD' && !one.offer_id.startsWith('lowcost:') && one.total_amount < 900_000_000,
        );
        const offer = sold[Math.floor(chance() * sold.length)];
        const made = await buy<CreatedIntent>('/air/intents', {
          ...{ offer_id: offer?.offer_id, funding_wallet: wallet.address, refund_wallet: wallet.address },
        });
        // A fare that became dearer meanwhile, or is sold.
        if (made.status === 409) continue;
        expect(made.status, JSON.stringify(made.body)).toBe(201);
        const { intent_id } = made.body;
        const booked = await buy('/air/book', { intent_id, passengers: [PASSENGER] });
        if (booked.status === 409) continue;
        expect(booked.status, JSON.stringify(booked.body)).toBe(200);
        ended.push(await over(urls, intent_id));
        // In the middle, the database dies too.
        if (ended.length >= JOURNEYS / 3) failing ??= database.failOver();
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    clearInterval(chaos);
    expect(kills).toBeGreaterThan(0);
    expect(failing).not.toBeNull();
    await failing;
    expect(ended.length).toBeGreaterThan(JOURNEYS / 2);

    const held = async (owner: string) =>
      (await cluster.tokenBalance(await associatedTokenAddress(owner as Address, DEVNET_USDC))) ?? 0n;
    for (const [wallet, { had, calls }] of spent) {
      const fares = ended
        .filter((one) => one.funding_wallet === wallet && one.status === 'booked')
        .reduce((sum, one) => sum + BigInt(one.escrow.amount), 0n);
      expect(had - (await held(wallet)), wallet).toBe(calls + fares);
    }
    const orders = new Sqlite(join(operator.home, 'sandbox-airline.db'), { readonly: true } as never);
    const made = orders.prepare('select reference from orders').all() as { reference: string }[];
    orders.close();
    expect(new Set(made.map((one) => one.reference)).size).toBe(made.length);
    const booked = ended.filter((one) => one.status === 'booked').map((one) => one.intent_id);
    expect(made.map((one) => one.reference).sort()).toEqual(booked.sort());
  },
  1_500_000,
);

const inDays = (days: number): string => new Date(WORLD_STARTS_MS + days * 86_400_000).toISOString().slice(0, 10);

/** The intent once it is booked or refunded. */
async function over(urls: readonly string[], intentId: string): Promise<Intent> {
  const untilMs = Date.now() + PATIENCE_MS;
  for (let at = 0; Date.now() < untilMs; at++) {
    const answer = await fetch(`${urls[at % urls.length]}/air/intents/${intentId}`).catch(() => null);
    const intent = answer?.status === 200 ? ((await answer.json()) as Intent) : null;
    if (intent && intent.status !== 'active') return intent;
    await passed(200);
  }
  throw new Error(`${intentId} never ended`);
}
