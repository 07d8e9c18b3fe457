import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { findAssociatedTokenPda, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import pg from 'pg';
import { counting, countsOf } from '../counted.mjs';
import { fillServices, fillTool, serviceStatements } from '../fill.mjs';
import { cpuSeconds, intentMaker, passengersFile, pause } from '../homes.mjs';
import { openPayer } from '../payer.mjs';
import { line, median, ratios } from '../statistics.mjs';
import { commandRows, requestRows } from './growth-rows.mjs';

/**
 * Commands and requests in homes that were used much, against a fresh one. Every kind of row is there as often; of the
 * last day, so that nothing of it is old enough to be swept while it is measured.
 */
export const title = 'Growth, against a fresh home';
export const rounds = 7;

const REPEATS = 5;
const IDLE_MS = 6000;
const GOAL = '≤ 1.3';

export async function run({ stage, stores, rounds, rows, say }) {
  say('making homes');
  const base = await baseHome(stage);
  const lines = [];
  for (const store of stores) {
    const homes = [];
    for (const count of [0, ...rows]) {
      say(`filling in ${count.toLocaleString('en-US')} rows on ${store.name}`);
      homes.push(await filledHome(stage, store, base, count));
    }
    if (store.name === 'libsql') lines.push(...commandLines(stage, homes, rounds, say));
    lines.push(...(await requestLines(stage, store, homes, rounds, say)));
  }
  return lines;
}

/** A home with a wallet, an intent that is not paid for, and demo partners. */
async function baseHome(stage) {
  const home = stage.folder('base');
  const env = stage.envOf(home);
  const wallet = JSON.parse(stage.farelock(env, 'wallet', 'balance', '--json').stdout);
  for (let i = 0; i < 3; i++) stage.farelock(env, 'wallet', 'airdrop', '--usdc', '10000', '--json');
  const newIntent = intentMaker(stage, env);
  const [known, booked] = [newIntent(), newIntent()];
  const passengers = passengersFile(home);
  stage.farelock(env, 'book', booked, '--passengers', passengers, '--yes', '--json');
  stage.farelock(env, 'partner', 'orders', 'list', '--json');
  return { home, known, booked, passengers, wallet };
}

async function filledHome(stage, store, base, count) {
  const home = stage.folder(`rows-${count}`);
  cpSync(base.home, home, { recursive: true });
  const env = stage.envOf(home);
  let databaseUrl = null;
  const given = { rows: count, days: 1 };
  if (store.name === 'postgres') {
    databaseUrl = await store.newDatabase();
    // Its first start makes the tables.
    await (await stage.serve(home, { args: ['--database-url', databaseUrl] })).stop();
    if (count > 0) await fillPostgres(databaseUrl, given);
  } else if (count > 0) {
    fillServices(join(home, 'service.db'), given);
    const { address } = base.wallet;
    fillTool(home, { rows: count, wallet: address, usdcAccount: await accountOf(address) });
  }
  // The newest of a history are real in every home.
  for (let i = 0; i < 3; i++) stage.farelock(env, 'wallet', 'airdrop', '--usdc', '10000', '--json');
  return { ...base, home, env, databaseUrl, count, newIntent: intentMaker(stage, env, { leave: 2 }) };
}

async function fillPostgres(url, given) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of serviceStatements(given).split(/;\s*$/m))
      if (statement.trim()) await client.query(statement);
    // As its own servant does in time.
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

/** Where Circle's USDC of devnet lies that a wallet holds. */
async function accountOf(owner) {
  const [account] = await findAssociatedTokenPda({
    owner,
    mint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
    tokenProgram: TOKEN_PROGRAM_ADDRESS,
  });
  return account;
}

const named = (name, count) => `${name}, ${count.toLocaleString('en-US')}`;

/** The lines of what was measured in each home: `times` by name, each a list of the homes' lists. */
function linesOf(times, homes, store) {
  return [...times].flatMap(([name, perHome]) => [
    { ...line(`${name}, fresh`, 'ms', { store, values: perHome[0] }) },
    ...perHome.slice(1).map((values, place) =>
      line(named(name, homes[place + 1].count), 'ms', {
        store,
        values,
        against: perHome[0],
        to: 'fresh',
        // A list that is empty in a fresh home has a page to show in a used one.
        beside: ratios(values, perHome[1]),
        goal: GOAL,
      }),
    ),
  ]);
}

function commandLines(stage, homes, rounds, say) {
  const rows = commandRows(stage);
  const times = new Map(rows.map(({ name }) => [name, homes.map(() => [])]));
  for (let round = -1; round < rounds; round++) {
    say(`commands, round ${round + 1} of ${rounds}`);
    for (const row of rows) {
      for (const [place, home] of homes.entries()) {
        const ms = timed(row, home);
        if (round >= 0) times.get(row.name)[place].push(ms);
      }
    }
  }
  return linesOf(times, homes, 'libsql');
}

/** NaN for a command that fails: an older build may open what is only filled in. */
function timed(row, home) {
  try {
    const prepared = row.prepare?.(home);
    const { ms } = row.run(home, prepared);
    row.after?.(home, prepared);
    return ms;
  } catch (error) {
    process.stderr.write(`\n${String(error).slice(0, 300)}\n`);
    return Number.NaN;
  }
}

async function requestLines(stage, store, homes, rounds, say) {
  const servers = [];
  for (const home of homes) {
    const { file, env } = counting(stage);
    const args = home.databaseUrl === null ? [] : ['--database-url', home.databaseUrl];
    const server = await stage.serve(home.home, { args, env });
    servers.push({ ...server, ...home, file, payer: await openPayer(server) });
  }
  const rows = requestRows(store.name);
  const times = new Map(rows.map(({ name }) => [name, homes.map(() => [])]));
  for (const server of servers) await countsOf(server.pid, server.file);
  const pauses = servers.map(() => []);
  for (let round = -1; round < rounds; round++) {
    say(`requests on ${store.name}, round ${round + 1} of ${rounds}`);
    for (const row of rows) {
      for (const [place, server] of servers.entries()) {
        const ms = await answered(row, server);
        if (round >= 0) times.get(row.name)[place].push(ms);
      }
    }
    for (const [place, server] of servers.entries()) {
      const { longestPauseMs } = await countsOf(server.pid, server.file);
      if (round >= 0) pauses[place].push(longestPauseMs);
    }
  }
  const idle = await idleLines(stage, store, servers, say);
  return [
    ...linesOf(times, homes, store.name),
    ...servers.map(({ count }, place) =>
      line(`longest pause of the event loop, ${count === 0 ? 'fresh' : count.toLocaleString('en-US')}`, 'ms', {
        store: store.name,
        values: pauses[place],
        goal: '≤ 50',
      }),
    ),
    ...idle,
  ];
}

/** The median of a few of the same request. */
async function answered(row, server) {
  const times = [];
  for (let i = 0; i < REPEATS; i++) {
    const prepared = await row.prepare?.(server);
    const began = performance.now();
    // A row may time a part of it.
    const given = await row.run(server, prepared);
    times.push(given?.ms ?? performance.now() - began);
  }
  return median(times);
}

/** Servers that nobody asks anything, without the hook that counts. */
async function idleLines(stage, store, servers, say) {
  say(`idle on ${store.name}`);
  for (const server of servers) await server.stop();
  const quiet = [];
  for (const { home, databaseUrl } of servers) {
    const args = databaseUrl === null ? [] : ['--database-url', databaseUrl];
    quiet.push(await stage.serve(home, { args }));
  }
  await pause(4000);
  const shares = quiet.map(() => []);
  for (let round = 0; round < 3; round++) {
    const before = quiet.map(({ pid }) => cpuSeconds(pid));
    await pause(IDLE_MS);
    for (const [place, { pid }] of quiet.entries())
      shares[place].push(((cpuSeconds(pid) - before[place]) / (IDLE_MS / 1000)) * 100);
  }
  for (const server of quiet) await server.stop();
  return servers.map(({ count }, place) => ({
    ...line(`idle serve, ${count === 0 ? 'fresh' : count.toLocaleString('en-US')}`, '% of a core', {
      store: store.name,
      values: shares[place],
      goal: '≤ 0.5',
    }),
  }));
}
