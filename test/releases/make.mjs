// Makes what a release leaves behind, with that release's own build: a home whose bookings and refunds are in every
// state, and the same on PostgreSQL. `node test/releases/make.mjs <folder of a built release> <name>`.
// The clock is the tests' own, so that the homes can be opened at any time.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import Sqlite from 'libsql';
import { startPostgres } from '../store/postgres-server.mjs';

const [release, name] = process.argv.slice(2);
const HERE = import.meta.dirname;
const STARTS_MS = Date.UTC(2026, 10, 21, 9);
const PASSENGER = {
  given_name: 'Ana',
  family_name: 'Moreira',
  born_on: '1990-04-12',
  title: 'ms',
  gender: 'f',
  email: 'ana@example.com',
  phone_number: '+351912345678',
};

const startedNs = process.hrtime.bigint();
const clock = {
  NODE_EXTRA_CA_CERTS: '',
  NODE_OPTIONS: `--require ${JSON.stringify(resolve(HERE, '../moved-clock.cjs'))}`,
  TEST_CLOCK_STARTS_MS: String(STARTS_MS),
  TEST_CLOCK_STARTED_NS: String(startedNs),
};
const BIN = resolve(release, 'bin/farelock.js');
const folder = mkdtempSync(join(tmpdir(), 'farelock-release-'));
const passengers = join(folder, 'passengers.json');
writeFileSync(passengers, JSON.stringify([PASSENGER]));

const run = promisify(execFile);
/** Runs a command of the release to its end. @returns its JSON document, also of a failure */
async function tool(environment, words, killAfterMs = 0) {
  const env = { ...process.env, ...clock, ...environment };
  const options = {
    env,
    maxBuffer: 1 << 28,
    ...(killAfterMs ? { timeout: killAfterMs, killSignal: 'SIGKILL' } : {}),
  };
  try {
    return JSON.parse((await run(process.execPath, [BIN, ...words, '--json'], options)).stdout);
  } catch (error) {
    if (error.killed) return null;
    if (error.stdout) return JSON.parse(error.stdout);
    throw error;
  }
}

/** What one customer and one operator do, one booking for each state that it can be left in. */
async function journeys(environment, scenario) {
  const ask = async (...words) => {
    const said = await tool(environment(), words);
    if (said.error) throw new Error(`${words.join(' ')}: ${said.error.message}`);
    return said;
  };
  const { offers } = await ask(...'search LIS BER --depart +30d --all-fares --limit 90 --no-wait'.split(' '));
  const left = offers.filter((one) => one.total_currency === 'USD' && one.owner_name !== undefined);
  left.sort((a, b) => Date.parse(b.expires_at) - Date.parse(a.expires_at));
  const next = (isRefundable = false) => {
    const at = left.findIndex((one) => !isRefundable || one.conditions?.refund_allowed === true);
    return left.splice(at, 1)[0].offer_id;
  };
  const lock = async (isRefundable) => {
    return (await ask('intent', 'create', next(isRefundable))).intent_id;
  };
  const book = (id, ...more) => ['book', id, '--passengers', passengers, '--yes', ...more];
  const states = { unpaid: await lock() };
  for (const state of ['booked', 'requested', 'claimed', 'rejected', 'approved', 'paid']) {
    const id = await lock(true);
    const booked = await tool(await scenario('none'), book(id));
    if (booked.status !== 'booked') throw new Error(`${state}: ${JSON.stringify(booked)}`);
    states[state] = id;
    if (state !== 'booked') await ask('refund', 'request', id, '--reason', 'Plans changed');
  }
  await ask('refund', 'claim', states.claimed);
  await ask('refund', 'reject', states.rejected, '--reason', 'Too late.', '--yes');
  await ask('refund', 'approve', states.paid, '--yes');
  const failing = await lock();
  await tool(await scenario('ticketing_fails'), book(failing));
  states.refunded = failing;
  const doubtful = await lock();
  await tool(await scenario('outcome_unknown'), book(doubtful, '--no-wait'), 8_000);
  states.doubtful = doubtful;
  return { states, lock, book, left };
}

/** SQLite puts what is in its journals into the files, and gives up what is free. */
function settle(home) {
  for (const file of ['service.db', 'client.db', 'ledger.db', 'sandbox-airline.db', 'sandbox-platform.db']) {
    try {
      const database = new Sqlite(join(home, file), { fileMustExist: true });
      database.exec('pragma wal_checkpoint(truncate); vacuum;');
      database.prepare('pragma journal_mode = wal').all();
      database.close();
    } catch (error) {
      if (!/unable to open|no such file/i.test(String(error))) throw error;
    }
  }
}

function keep(made, home, states, dump) {
  settle(home);
  settle(join(home, 'customer'));
  const out = join(HERE, name, made);
  mkdirSync(out, { recursive: true });
  execFileSync('tar', [
    '-czf',
    join(out, 'home.tgz'),
    '--exclude=*.db-wal',
    '--exclude=*.db-shm',
    '-C',
    home,
    '.',
  ]);
  const passedMs = Number((process.hrtime.bigint() - startedNs) / 1_000_000n);
  writeFileSync(
    join(out, 'states.json'),
    `${JSON.stringify({ leftAtMs: STARTS_MS + passedMs, states }, null, 2)}\n`,
  );
  if (dump) writeFileSync(join(out, 'dump.sql.gz'), gzipSync(dump, { level: 9 }));
}

function answerOf(home, question, id) {
  const database = new Sqlite(join(home, 'service.db'), { fileMustExist: true });
  const row = database.prepare(question).get([id]);
  database.close();
  return row?.value;
}
const stateOf = (home, id) => answerOf(home, 'select state as value from bookings where intent_id = ?', id);
const isApproved = (home, id) =>
  answerOf(home, 'select state as value from refund_requests where intent_id = ?', id) !== 'received';

async function embedded() {
  const home = join(folder, 'embedded');
  const environment = { FARELOCK_HOME: home };
  const scenario = async (one, more = {}) => ({ ...environment, FARELOCK_SCENARIO: one, ...more });
  const { states, lock, book, left } = await journeys(() => environment, scenario);
  const queued = await lock();
  const slow = { FARELOCK_TICKETING_MS: '600000' };
  const ticketing = await lock();
  await tool(await scenario('none', slow), book(ticketing), 4_000);
  await tool(await scenario('none', slow), book(queued, '--no-wait'));
  // Killed while its approval is carried out, and while its ticket is paid for.
  for (let ms = 300; ms < 3_000 && !isApproved(home, states.approved); ms += 50)
    await tool(environment, ['refund', 'approve', states.approved, '--yes'], ms);
  for (let ms = 700; ms < 4_000 && !states.capturing && left.length > 0; ms += 100) {
    const id = await lock();
    await tool(await scenario('none', { FARELOCK_TICKETING_MS: '300' }), book(id), ms);
    if (stateOf(home, id) === 'capturing') states.capturing = id;
  }
  Object.assign(states, { queued, ticketing });
  for (const [state, id] of Object.entries(states)) process.stdout.write(`${state}: ${stateOf(home, id)}\n`);
  keep('file', home, states, null);
}

async function onPostgres() {
  const server = await startPostgres();
  const home = join(folder, 'served');
  let child = null;
  let environment = null;
  const stop = async (signal = 'SIGTERM') => {
    if (!child) return;
    const ended = new Promise((done) => child.once('exit', done));
    child.kill(signal);
    await ended;
    child = null;
  };
  const serve = async (scenario, more = {}) => {
    await stop();
    child = spawn(
      process.execPath,
      [BIN, 'serve', '--port', '0', '--database-url', server.url, '--scenario', scenario, '--json'],
      {
        env: { ...process.env, ...clock, ...more, FARELOCK_HOME: home },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const said = await new Promise((line) =>
      child.stdout.once('data', (chunk) => line(JSON.parse(String(chunk)))),
    );
    environment = {
      FARELOCK_HOME: join(home, 'customer'),
      FARELOCK_FLIGHTS_URL: said.flights_url,
      FARELOCK_RPC_URL: said.rpc_url,
      FARELOCK_OPERATOR_KEY: readFileSync(said.operator_key_file, 'utf8').trim(),
    };
    return environment;
  };
  await serve('none');
  for (const words of [
    ['wallet', 'new'],
    ['wallet', 'airdrop', '--sol', '2', '--usdc', '8000'],
  ])
    await tool(environment, words);
  // Each command is a process of its own: the service is begun again only where another scenario is wanted.
  let now = 'none';
  const scenario = async (one, more) => {
    if (one !== now || more) await serve(one, more);
    now = more ? '' : one;
    return environment;
  };
  const { states, lock, book } = await journeys(() => environment, scenario);
  await scenario('none', { FARELOCK_TICKETING_MS: '600000' });
  const ticketing = await lock();
  await tool(environment, book(ticketing, '--no-wait'));
  await new Promise((soon) => setTimeout(soon, 3_000));
  const queued = await lock();
  await tool(environment, book(queued, '--no-wait'));
  await stop('SIGKILL');
  Object.assign(states, { ticketing, queued });
  const dump = execFileSync('pg_dump', ['--no-owner', '--no-privileges', '--inserts', server.url], {
    maxBuffer: 1 << 28,
  });
  keep('postgres', home, states, dump);
  await server.close();
}

await embedded();
await onPostgres();
rmSync(folder, { recursive: true });
