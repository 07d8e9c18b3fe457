import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { postgresIsInstalled, startPostgres } from '../../store/postgres-server.mjs';
import { cpuSeconds, firstLine, PASSENGER, pause, stopped } from '../homes.mjs';
import { atOnce, openPayer, searchBody } from '../payer.mjs';
import { line, percentile } from '../statistics.mjs';
import { SETTINGS } from '../stores.mjs';

/**
 * What a journey costs on one PostgreSQL with a cluster of its own process, and what each process beside the first adds:
 * a search, an intent, a booking, and its work until the ticket. Then what a process costs that has nothing to do.
 */
export const title = 'A fleet on one PostgreSQL';
export const rounds = 24;

const SIZES = [1, 2, 4];
const CLIENTS = 4;
const WARM = 4;
const IDLE_MS = 60_000;

/** @param rounds journeys with each number of processes */
export async function run({ stage, rounds, say }) {
  if (!postgresIsInstalled) throw new Error('PostgreSQL is not installed');
  const log = join(stage.folder('log'), 'postgres.log');
  writeFileSync(log, '');
  const database = await startPostgres({ settings: [...SETTINGS, '-c', 'log_statement=all'], log });
  stage.keep(() => database.close());
  const chain = await processOf(stage, stage.folder(), ['serve', '--port', '0', '--cluster-only'], {});
  const env = { FARELOCK_DATABASE_URL: database.url, FARELOCK_RPC_URL: chain.shown.rpc_url };
  const home = stage.folder();
  const keys = JSON.parse(stage.farelock(stage.envOf(home, env), 'cluster', 'keys', '--json').stdout);
  const bank = await openPayer({ flightsUrl: '', rpcUrl: chain.shown.rpc_url });
  for (const { address } of keys.wallets) await bank.rpc('requestAirdrop', address, 50_000_000_000);

  const lines = [];
  let alone = null;
  for (const size of SIZES) {
    const fleet = [];
    for (let at = 0; at < size; at++) fleet.push(await processOf(stage, home, ['serve', '--port', '0'], env));
    const urls = fleet.map(({ shown }) => shown.flights_url.replace(/\/$/, ''));
    const clients = await atOnce(CLIENTS, Array.from({ length: CLIENTS }), async (_, place) =>
      openPayer({ flightsUrl: urls[place % size], rpcUrl: chain.shown.rpc_url }),
    );
    const journeys = (count) =>
      atOnce(CLIENTS, Array.from({ length: count }), async (_, place) => journey(clients[place % CLIENTS], say, place));
    await journeys(Math.max(WARM, size));
    const cpu = () => fleet.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
    const [cpuBefore, serverBefore, before] = [cpu(), serverSeconds(database.pid), statSync(log).size];
    const bytesBefore = await bytesOf(database.url);
    const took = await journeys(rounds);
    const perJourney = {
      cpu: ((cpu() - cpuBefore) * 1000) / rounds,
      server: ((serverSeconds(database.pid) - serverBefore) * 1000) / rounds,
      bytes: ((await bytesOf(database.url)) - bytesBefore) / rounds / 1024,
      statements: statementsSince(log, before) / rounds,
      search: percentile(
        took.map(({ searchMs }) => searchMs),
        0.95,
      ),
      booked: percentile(
        took.map(({ bookedMs }) => bookedMs),
        0.95,
      ),
    };
    alone ??= perJourney;
    const of = (name, unit, key) =>
      line(`${name}, ${size} of serve`, unit, { values: [perJourney[key]], against: [alone[key]], to: 'one of serve' });
    lines.push(
      of('CPU of a journey', 'ms', 'cpu'),
      of('CPU of PostgreSQL for a journey', 'ms', 'server'),
      of('statements of a journey', '', 'statements'),
      of('bytes of a journey in the database', 'KiB', 'bytes'),
      of('search, p95', 'ms', 'search'),
      of('journey until it is paid, p95', 'ms', 'booked'),
    );
    for (const one of fleet) await one.stop();
  }
  for (const [name, args] of [
    ['serve', ['serve', '--port', '0']],
    ['worker', ['worker']],
  ]) {
    const idle = await processOf(stage, home, args, env);
    say(`an idle ${name}`);
    await pause(15_000);
    const [cpuBefore, before] = [cpuSeconds(idle.pid), statSync(log).size];
    await pause(IDLE_MS);
    lines.push(
      line(`idle ${name}, of a core`, '%', {
        values: [((cpuSeconds(idle.pid) - cpuBefore) / IDLE_MS) * 100_000],
        goal: '0.3',
      }),
      line(`idle ${name}, statements a second`, '', {
        values: [(statementsSince(log, before) / IDLE_MS) * 1000],
        goal: '1',
      }),
    );
    await idle.stop();
  }
  return lines;
}

/** A process of the tool, once it says that it is there. */
async function processOf(stage, home, args, env) {
  const child = spawn(process.execPath, [stage.bin, ...args, '--json'], {
    env: stage.envOf(home, env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = () => stopped(child, 'SIGTERM');
  stage.keep(stop);
  return { pid: child.pid, shown: JSON.parse(await firstLine(child)), stop };
}

/** Statements that clients sent, each a round trip; those of transactions count as one with their locks. */
const statementsSince = (log, from) =>
  readFileSync(log)
    .subarray(from)
    .toString('utf8')
    .match(/LOG: {2}(?:statement|execute [^:]*): /g)?.length ?? 0;

/** CPU of a server and of its connections, ended ones included. */
function serverSeconds(pid) {
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return [
          readFileSync(`/proc/${name}/stat`, 'latin1')
            .replace(/^.*\) /s, '')
            .split(' '),
        ];
      } catch {
        return [];
      }
    });
  const own = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  const ticks = (fields, ...places) => places.reduce((sum, place) => sum + Number(fields[place]), 0);
  // After the state: parent, …; user and system time, then those of ended children.
  const connections = stats.filter(([, parent]) => Number(parent) === pid);
  return (ticks(own, 11, 12, 13, 14) + connections.reduce((sum, fields) => sum + ticks(fields, 11, 12), 0)) / 100;
}

async function bytesOf(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('select pg_database_size(current_database())::float8 as bytes');
  await client.end();
  return rows[0].bytes;
}

async function journey(client, say, place) {
  say(`journey ${place + 1}`);
  const beganMs = performance.now();
  const { offers } = await client.call('/air/search', { ...searchBody(), limit: 200, cheapest_per_itinerary: false });
  const searchMs = performance.now() - beganMs;
  const sold = offers.filter((one) => one.total_currency === 'USD' && Number(one.total_amount_decimal) < 400);
  const { offer_id } = sold[place % sold.length];
  const wallets = { funding_wallet: client.address, refund_wallet: client.address };
  const { intent_id } = await client.call('/air/intents', { offer_id, ...wallets });
  await client.call('/air/book', { intent_id, passengers: [PASSENGER] });
  const bookedMs = performance.now() - beganMs;
  for (let status = 'active'; status === 'active'; await pause(250))
    ({ status } = await client.look(`/air/intents/${intent_id}`));
  return { searchMs, bookedMs };
}
