import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import type { CreatedIntent, Health, Intent, Offer } from '../../src/wire/flights/index.ts';
import { inMemory } from '../cli/memory.ts';
import { worldClock } from '../clock.ts';
import { postgresKeepsTime, startPostgres } from '../store/postgres.ts';
import { BIN, farelockIn, PASSENGER, type Runner, type Served, serveIn } from './farelock.ts';
import { asked } from './stage.ts';

/**
 * A service whose database is put back to before some journeys: the cluster, the airline, the service and the travellers'
 * tool are processes of their own, and know better.
 */

interface Finding {
  readonly kind: string;
  readonly subject: string;
  readonly outcome: string;
}
interface Reconciled {
  readonly status: string;
  readonly counts: Record<string, number>;
  readonly findings: readonly Finding[];
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const home = (env: Record<string, string> = {}): Runner => {
  const runner = farelockIn(env);
  closing.push(runner.close);
  return runner;
};

/**
 * In this process: what is killed, and what serves, are processes of their own. A service that is busy, on a machine that
 * is, turns calls away before they are paid: they are made again.
 */
async function ran<T>(runner: Runner, args: string[], input = ''): Promise<T> {
  for (let tries = 0; ; tries++) {
    const done = await inMemory(runner).run([...args, '--json'], { input });
    if (tries < 20 && done.stdout.includes('"not_ready"')) await passed(300);
    else {
      expect(done.exitCode, `${args.join(' ')}: ${done.stdout}${done.stderr}`).toBe(0);
      return done.json<T>();
    }
  }
}

/** `farelock sandbox duffel`, which shares nothing with the service. */
async function serveAirline(): Promise<string> {
  const runner = home();
  const child = spawn(process.execPath, [BIN, 'sandbox', 'duffel', '--port', '0', '--json'], {
    env: { ...process.env, ...runner.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  closing.push(() => void child.kill('SIGKILL'));
  return new Promise((ready) => {
    child.stdout.once('data', (chunk: Buffer) => ready((JSON.parse(String(chunk)) as { url: string }).url));
  });
}

const usdcOf = async (traveller: Runner) =>
  Number((await ran<{ usdc_atomic: number }>(traveller, ['wallet', 'balance'])).usdc_atomic);

interface World {
  readonly operator: Runner;
  readonly traveller: Runner;
  readonly desk: Runner;
  readonly airline: string;
  readonly options: readonly string[];
  start(): Promise<Served>;
  stop(): Promise<void>;
}

async function openWorld(env: Record<string, string> = {}): Promise<World> {
  const chain = await serveIn(home(), ['--cluster-only']);
  closing.push(chain.stop);
  const { rpcUrl } = chain;
  const airline = await serveAirline();
  const operator = home({ FARELOCK_RPC_URL: rpcUrl, FARELOCK_DUFFEL_TOKEN: 'duffel_test_restored', ...env });
  const options = ['--provider', 'duffel', '--duffel-url', airline];
  const keys = await ran<{ wallets: { address: string }[] }>(operator, ['cluster', 'keys']);
  for (const { address } of keys.wallets) await asked(rpcUrl, 'requestAirdrop', [address, 20_000_000_000]);
  const [traveller, desk] = [home({ FARELOCK_RPC_URL: rpcUrl }), home({ FARELOCK_RPC_URL: rpcUrl })];
  let served: Served | null = null;
  const stop = async (): Promise<void> => {
    served?.kill();
    await served?.ended;
  };
  closing.push(stop);
  return {
    ...{ operator, traveller, desk, airline, options, stop },
    async start() {
      served = await serveIn(operator, options);
      for (const { env } of [traveller, desk]) env.FARELOCK_FLIGHTS_URL = served.flightsUrl;
      desk.env.FARELOCK_OPERATOR_KEY = readFileSync(served.operatorKeyFile, 'utf8').trim();
      return served;
    },
  };
}

/** Journeys before and after `backUp`, then `restore`, and what the service makes of it. */
async function putBack(world: World, backUp: () => Promise<void>, restore: () => Promise<void>): Promise<void> {
  const { operator, traveller, desk, airline, options } = world;
  await world.start();
  await ran(traveller, ['wallet', 'new']);
  await ran(traveller, ['wallet', 'airdrop', '--sol', '1', '--usdc', '20000']);
  // An airline sells a person one seat on a flight, and one search one ticket.
  let day = 30;
  const search = () =>
    ran<{ offers: Offer[] }>(
      traveller,
      `search LIS BER --depart +${day++}d --all-fares --limit 300 --no-wait`.split(' '),
    );
  const lock = async (): Promise<CreatedIntent> => {
    const { offers } = await search();
    const offer = offers.find(
      (one) =>
        one.total_currency === 'USD' && one.owner_name === 'Duffel Airways' && one.conditions?.refund_allowed === true,
    );
    return ran(traveller, ['intent', 'create', offer?.offer_id ?? '']);
  };
  const book = ({ intent_id }: CreatedIntent): Promise<Intent> =>
    ran(traveller, ['book', intent_id, '--passengers', '-', '--yes'], JSON.stringify([PASSENGER]));
  const show = ({ intent_id }: CreatedIntent) => ran<Intent>(traveller, ['status', intent_id]);

  const [open, refunded] = [await lock(), await lock()];
  expect((await book(refunded)).status).toBe('booked');
  await ran(traveller, ['refund', 'request', refunded.intent_id, '--reason', 'The meeting was called off.']);
  await backUp();
  // The hour that is forgotten: a capture, a pay-out, an unknown journey, an open lock, a payment for a search.
  expect((await book(open)).status).toBe('booked');
  const approval = ['refund', 'approve', refunded.intent_id, '--amount', '20', '--note', 'Goodwill', '--yes'];
  await ran(desk, approval);
  const unknown = await lock();
  expect((await book(unknown)).status).toBe('booked');
  const unpaid = await lock();
  await search();
  const sums = async () => ({ traveller: await usdcOf(traveller), orders: await ordersAt(airline) });
  const before = await sums();
  await world.stop();
  await restore();

  const again = await world.start();
  const ready = await fetch(`${again.flightsUrl}/ready`);
  const health = (await ready.json()) as Health;
  expect([ready.status, health.checks?.database]).toEqual([503, 'database_behind']);
  expect(health.reconcile).toBeDefined();
  const refused = await inMemory(traveller).run(['intent', 'create', unpaid.offer_id, '--json']);
  expect(refused.stdout).toContain('database_behind');
  await world.stop();

  expect((await ran<{ needs_reconcile: boolean }>(operator, ['db', 'status'])).needs_reconcile).toBe(true);
  const reconcile = ['db', 'reconcile', ...options];
  const looked = await ran<Reconciled>(operator, [...reconcile, '--dry-run']);
  expect(looked.findings.map(({ kind, subject, outcome }) => [kind, subject, outcome])).toEqual(
    expect.arrayContaining([
      ['captured', open.intent_id, 'carried_on'],
      ['refund_paid', refunded.intent_id, 'carried_on'],
      ['order_adopted', unknown.intent_id, 'carried_on'],
      ['escrow_unknown', unpaid.escrow.address, 'carried_on'],
    ]),
  );
  // Three searches and two creations.
  expect(looked.counts).toMatchObject({ payment_unknown: 5 });
  await killed(operator, reconcile);
  await ran(operator, reconcile);
  expect(await ran<Reconciled>(operator, reconcile)).toMatchObject({ status: 'same', findings: [] });

  const last = await world.start();
  await expect.poll(async () => (await fetch(`${last.flightsUrl}/ready`)).status, { timeout: 20_000 }).toBe(200);
  await passed(1_500);
  for (const one of [open, unknown]) expect(await show(one)).toMatchObject({ status: 'booked' });
  expect(await show(refunded)).toMatchObject({ status: 'refunded' });
  expect(await sums()).toEqual(before);
  await world.stop();
  expect(await ran<Reconciled>(operator, [...reconcile, '--dry-run'])).toMatchObject({ status: 'same' });
}

const ordersAt = async (airline: string): Promise<number> => {
  const headers = { authorization: 'Bearer duffel_test_restored', 'duffel-version': 'v2' };
  const answer = await fetch(`${airline}/sandbox/orders`, { headers });
  return ((await answer.json()) as { orders: unknown[] }).orders.length;
};

/** Kills the comparison somewhere on its way, and leaves it there. */
async function killed({ env }: Runner, args: readonly string[]): Promise<void> {
  for (const ms of [800, 900, 1_000, 1_100, 1_200, 1_300]) {
    const child = spawn(process.execPath, [BIN, ...args, '--json'], {
      env: { ...process.env, ...env },
      stdio: 'ignore',
    });
    const ended = new Promise((done) => child.once('exit', done));
    await Promise.race([passed(ms), ended]);
    child.kill('SIGKILL');
    await ended;
  }
}

test('a home that is restored from its backup is reconciled, and every effect of the hour between is there once', async () => {
  const world = await openWorld();
  const folder = mkdtempSync(join(tmpdir(), 'farelock-backup-'));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'a.backup');
  await putBack(
    world,
    async () => void (await ran(world.operator, ['db', 'backup', file])),
    async () => {
      const { home } = world.operator;
      for (const name of readdirSync(home)) if (/\.db(-|$)/.test(name)) rmSync(join(home, name));
      await ran(world.operator, ['db', 'restore', file]);
    },
  );
}, 180_000);

/** The lines of the page about backups of PostgreSQL: settings, and commands in their order. */
function pageOf() {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/operations.md'), 'utf8');
  const [, part = ''] = /^## Backups of PostgreSQL\n([\s\S]*?)^## /m.exec(page) ?? [];
  const settings = [...part.matchAll(/^ {4}(\w+) = (.*)$/gm)].map(([, name, value]) => `${name}=${value}`);
  const [[, backup = ''] = [], [, restore = ''] = []] = [...part.matchAll(/^```sh\n([\s\S]*?)^```/gm)];
  return { settings, backup: backup.trim().split('\n'), restore: restore.trim().split('\n') };
}

test.runIf(postgresKeepsTime)(
  'a PostgreSQL that is put back to a point in time by the commands of the page is reconciled',
  async () => {
    const page = pageOf();
    let folder = '';
    const here = (text: string) =>
      text
        .replaceAll('/var/backups/farelock', `${folder}/backups`)
        .replaceAll('/var/lib/postgresql/17/main', `${folder}/data`);
    const server = await startPostgres({
      settings: (at) => {
        folder = at;
        return ['-F', ...page.settings.flatMap((one) => ['-c', here(one).replace(/='(.*)'$/, '=$1')])];
      },
      nowMs: worldClock.now(),
    });
    closing.push(server.close);
    const query = async (statement: string) => {
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      const { rows } = await client.query<Record<string, unknown>>(statement);
      await client.end();
      return rows[0];
    };
    server.sh(`mkdir -p ${folder}/backups/wal`);
    const world = await openWorld({ FARELOCK_DATABASE_URL: server.url });
    let moment = '';
    await putBack(
      world,
      async () => {
        for (const line of page.backup) server.sh(here(line));
        await passed(1_000);
        moment = String((await query('select now()::text as now'))?.now);
        await passed(1_000);
      },
      async () => {
        await query('select pg_switch_wal()');
        await expect.poll(() => readdirSync(`${folder}/backups/wal`).length, { timeout: 20_000 }).toBeGreaterThan(1);
        for (const line of page.restore) {
          if (line === 'systemctl stop postgresql') await server.stop();
          else if (line === 'systemctl start postgresql') await server.begin();
          // The scene stops, compares and starts the services itself.
          else if (!/^(systemctl|farelock) /.test(line))
            server.sh(here(line).replace('2026-11-26 08:00:00+00', moment));
        }
        await expect
          .poll(async () => (await query('select pg_is_in_recovery() as is'))?.is, { timeout: 20_000 })
          .toBe(false);
      },
    );
    expect(existsSync(`${folder}/data/recovery.signal`)).toBe(false);
  },
  240_000,
);
