import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
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
import { cuttable } from './cuttable.ts';
import { BIN, farelockIn, PASSENGER, type Runner } from './farelock.ts';
import { kept } from './kept.ts';
import { type Answer, signedCall } from './signed-call.ts';
import { asked } from './stage.ts';

/**
 * A fleet on one PostgreSQL and a cluster of its own process: several serve, several work, any of them dies at any
 * moment and is started again. Every journey ends booked or refunded, once, and the books are right to the unit.
 */

const JOURNEYS = rounds(4, 2_000);
const [CLIENTS, SERVERS, WORKERS] = isProof ? [64, 4, 2] : [3, 2, 1];
const KILL_EVERY_MS = isProof ? 5_000 : 4_000;
const PATIENCE_MS = isProof ? 240_000 : 150_000;
/** What runs before it is replaced: the tool of another version. */
const BEFORE = process.env.TEST_BIN_BEFORE ?? BIN;
const SOCKET = '.s.PGSQL.5432';
const chance = chances(seedOr(20261126));

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

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
      if (!(error instanceof TypeError || (error as Error).name === 'TimeoutError')) throw error;
      last = String((error as Error).cause ?? error);
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
    const operator = farelockIn({
      ...{ FARELOCK_DATABASE_URL: both, FARELOCK_TICKETING_MS: '20' },
      // An older version refuses a setting that it does not know.
      ...(BEFORE === BIN && { FARELOCK_MOST_CREATIONS: String(CLIENTS) }),
    });
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
    for (const { address } of keys.wallets) await fill(address, 100, 0);
    const cluster = await openRpcCluster({ urls: [rpcUrl], clock: systemClock } as never);
    closing.push(cluster.close);

    // The first process has a network of its own, and the last server and the last worker have clocks that go wrong.
    const sockets = new URL(both).searchParams.get('host')?.split(',') ?? [];
    const folders = sockets.map(() => mkdtempSync(join(tmpdir(), 'farelock-line-')));
    const toDatabase = sockets.map((folder, at) =>
      cuttable({ path: join(folder, SOCKET) }, join(folders[at] ?? '', SOCKET)),
    );
    const toCluster = await cuttable({ port: Number(new URL(rpcUrl).port) });
    const lines = [toCluster, ...(await Promise.all(toDatabase))];
    const apart = {
      FARELOCK_DATABASE_URL: both.replace(/host=.*/, `host=${folders.map(encodeURIComponent).join(',')}`),
      FARELOCK_RPC_URL: `http://127.0.0.1:${toCluster.port}/rpc`,
    };
    const wrong = isProof ? { TEST_CLOCK_JUMPS: '8000:90000' } : {};
    const fleet = await Promise.all(
      Array.from({ length: SERVERS + WORKERS }, async (_, at) => {
        const duty = at < SERVERS ? ['serve', '--no-worker'] : ['worker'];
        const own = at === 0 ? apart : at === SERVERS - 1 || at === SERVERS + WORKERS - 1 ? wrong : {};
        const one = await kept({ ...operator, env: { ...operator.env, ...own } }, duty, BEFORE);
        closing.push(one.stop);
        return one;
      }),
    );
    const ports = fleet.slice(0, SERVERS).map((one) => Number(new URL(one.shown().flights_url ?? '').port));
    const door = await cuttable({ port: ports[0] ?? 0 });
    lines.push(door);
    closing.push(() => {
      for (const line of lines) line.close();
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    });
    const urls = [door.port, ...ports.slice(1)].map((port) => `http://127.0.0.1:${port}`);

    /** What happens once that part of the journeys has ended. The gate has the database's death alone. */
    const death = { after: 3 / 6, name: 'the database dies', act: () => database.failOver() };
    const faults: Fault[] = [
      { after: 1 / 6, name: 'the cluster fails for 20 s', act: () => chain.halt(20_000) },
      { after: 2 / 6, name: 'the network of one process is cut for 40 s', act: () => cutFor(lines, 40_000) },
      death,
      { after: 4 / 6, name: 'each process is replaced by another version', act: () => replaced(operator, fleet) },
    ];
    const fail = failing(isProof ? faults : [death]);

    let kills = 0;
    const chaos = setInterval(() => {
      if (fleet[Math.floor(chance() * fleet.length)]?.kill()) kills++;
    }, KILL_EVERY_MS);
    closing.push(() => clearInterval(chaos));

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
        fail.at(ended.length / JOURNEYS);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    clearInterval(chaos);
    expect(kills).toBeGreaterThan(0);
    await fail.over();
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

interface Fault {
  readonly after: number;
  readonly name: string;
  readonly act: () => Promise<unknown>;
}

/** Begins each fault at its part of the journeys. */
function failing(faults: readonly Fault[]) {
  const begun = new Map<Fault, Promise<unknown>>();
  return {
    at(part: number): void {
      for (const fault of faults) {
        if (part < fault.after || begun.has(fault)) continue;
        if (isProof) process.stdout.write(`${fault.name}\n`);
        begun.set(fault, fault.act());
      }
    },
    /** Each of them happened, and its end was seen. */
    async over(): Promise<void> {
      expect([...begun.keys()]).toEqual(faults);
      await Promise.all(begun.values());
    },
  };
}

type Line = Awaited<ReturnType<typeof cuttable>>;

async function cutFor(lines: readonly Line[], ms: number): Promise<void> {
  for (const line of lines) line.cut();
  await passed(ms);
  for (const line of lines) line.mend();
}

/** The database gains what the next version needs; then each process ends in peace, and comes back as that version. */
async function replaced(operator: Runner, fleet: readonly Awaited<ReturnType<typeof kept>>[]): Promise<void> {
  const migrated = await operator.run(['db', 'migrate', '--json']);
  expect(migrated.exitCode, migrated.stdout).toBe(0);
  for (const one of fleet) await one.become(BIN);
}

const inDays = (days: number): string => new Date(WORLD_STARTS_MS + days * 86_400_000).toISOString().slice(0, 10);

/** The intent once it is booked or refunded. */
async function over(urls: readonly string[], intentId: string): Promise<Intent> {
  const untilMs = Date.now() + PATIENCE_MS;
  for (let at = 0; Date.now() < untilMs; at++) {
    const signal = AbortSignal.timeout(10_000);
    const answer = await fetch(`${urls[at % urls.length]}/air/intents/${intentId}`, { signal }).catch(() => null);
    const intent = answer?.status === 200 ? ((await answer.json()) as Intent) : null;
    if (intent && intent.status !== 'active') return intent;
    await passed(200);
  }
  throw new Error(`${intentId} never ended`);
}
