// Makes what a release leaves behind, with that release's own build: a home whose bookings, refunds and ramp orders are in
// every state, and the same on PostgreSQL. `node test/releases/make.mjs <folder of a built release> <name>`.
// The clock is the tests' own, so that the homes can be opened at any time.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import Sqlite from 'libsql';
import pg from 'pg';
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
  // Carriers that sell on their own web sites ask for them.
  nationality: 'PT',
  passport_number: 'CB123456',
  passport_expiry: '2099-05-01',
};
const BANK = ['--source-transaction-id', 'src-1'];
const BACK = ['--return-reason', 'The account is closed.', '--refund-reference-id', 'ref-1'];
/** The updates that bring a ramp order into each status. */
const RAMP = {
  AWAITING_FUNDS: [],
  IN_REVIEW: [['IN_REVIEW']],
  FUNDS_RECEIVED: [['FUNDS_RECEIVED', ...BANK]],
  PAYMENT_SUBMITTED: [
    ['FUNDS_RECEIVED', ...BANK],
    ['PAYMENT_SUBMITTED', '--destination-transaction-id', 'dst-1'],
  ],
  PAYMENT_PROCESSED: [['FUNDS_RECEIVED', ...BANK], ['PAYMENT_PROCESSED']],
  REFUNDING: [
    ['FUNDS_RECEIVED', ...BANK],
    ['REFUNDING', ...BACK],
  ],
  REFUNDED: [['FUNDS_RECEIVED', ...BANK], ['REFUNDING', ...BACK], ['REFUNDED']],
  CANCELED: [['CANCELED']],
  ERROR: [['ERROR', '--reason', 'The bank is closed.']],
};
/** Who has the home has the partner's key; a service that is elsewhere is given it (FARELOCK_API_KEY). */
const ACTS_AS = ['--partner', 'par_sandbox_pix'];
/** The platform leaves an order of .0024 alone; of .0002 it takes it, and its first answer never comes. */
const orderOf = (amount, actsAs = []) =>
  `partner orders create par_sandbox_pix --customer cus_demo_ana --country BRA --ramp ONRAMP --from BRL --to SOLANA_USDC --method BRA_PIX --amount ${amount}`
    .split(' ')
    .concat(actsAs);

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
  const options = { env, maxBuffer: 1 << 28, ...(killAfterMs ? { timeout: killAfterMs, killSignal: 'SIGKILL' } : {}) };
  try {
    return JSON.parse((await run(process.execPath, [BIN, ...words, '--json'], options)).stdout);
  } catch (error) {
    if (error.killed) return null;
    if (error.stdout) return JSON.parse(error.stdout);
    throw error;
  }
}

/** What one customer and one operator do, one booking for each state that it can be left in. */
async function journeys(environment, scenario, actsAs = []) {
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
  await scenario('none');
  const whole = await ask(...'search LIS BER --depart +30d --all-fares --limit 500 --wait'.split(' '));
  const cheap = whole.offers.filter((one) => one.offer_id.startsWith('lowcost:') && one.total_currency === 'USD');
  const lockCheap = async () => (await ask('intent', 'create', cheap.pop().offer_id)).intent_id;
  states.lowcost_booked = await lockCheap();
  const booked = await tool(await scenario('none'), book(states.lowcost_booked));
  if (booked.status !== 'booked') throw new Error(`lowcost: ${JSON.stringify(booked)}`);
  for (const [status, updates] of Object.entries(RAMP)) {
    const { id } = await ask(...orderOf('60.0024', actsAs));
    for (const [to, ...more] of updates)
      await ask('partner', 'orders', 'update', id, '--status', to, ...more, ...actsAs);
    states[`ramp_${status}`] = id;
  }
  return { states, lock, lockCheap, book, left };
}

/** Begins a command that is killed once `found` finds something. @returns what it found, or null when the command ended before */
async function killedWhen(environment, words, found) {
  const child = spawn(process.execPath, [BIN, ...words, '--json'], {
    env: { ...process.env, ...clock, ...environment },
    stdio: 'ignore',
  });
  const ended = new Promise((done) => child.once('exit', () => done(true)));
  for (;;) {
    const value = await found();
    if (value) {
      child.kill('SIGKILL');
      await ended;
      return value;
    }
    if (await Promise.race([ended, pause(5)])) return null;
  }
}

const pause = (ms) => new Promise((done) => setTimeout(() => done(false), ms));

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
  execFileSync('tar', ['-czf', join(out, 'home.tgz'), '--exclude=*.db-wal', '--exclude=*.db-shm', '-C', home, '.']);
  const passedMs = Number((process.hrtime.bigint() - startedNs) / 1_000_000n);
  writeFileSync(join(out, 'states.json'), `${JSON.stringify({ leftAtMs: STARTS_MS + passedMs, states }, null, 2)}\n`);
  if (dump) writeFileSync(join(out, 'dump.sql.gz'), gzipSync(dump, { level: 9 }));
}

function answerOf(home, question, id) {
  const database = new Sqlite(join(home, 'service.db'), { fileMustExist: true });
  const row = id === undefined ? database.prepare(question).get() : database.prepare(question).get([id]);
  database.close();
  return row?.value;
}
const IN_DOUBT =
  "select order_id as value from partner_orders where creation = 'creating' and source_amount = '61.0002'";
const stateOf = (home, id) => answerOf(home, 'select state as value from bookings where intent_id = ?', id);
const isApproved = (home, id) =>
  answerOf(home, 'select state as value from refund_requests where intent_id = ?', id) !== 'received';

async function embedded() {
  const home = join(folder, 'embedded');
  const environment = { FARELOCK_HOME: home };
  const scenario = async (one, more = {}) => ({ ...environment, FARELOCK_SCENARIO: one, ...more });
  const { states, lock, lockCheap, book, left } = await journeys(() => environment, scenario, ACTS_AS);
  const pressed = await lockCheap();
  await tool(await scenario('pay_pressed_no_confirmation'), book(pressed), 12_000);
  const cheapQueued = await lockCheap();
  const queued = await lock();
  const slow = { FARELOCK_TICKETING_MS: '600000' };
  const ticketing = await lock();
  await tool(await scenario('none', slow), book(ticketing), 4_000);
  // Killed while its approval is carried out, and while its ticket is paid for.
  for (let ms = 300; ms < 3_000 && !isApproved(home, states.approved); ms += 50)
    await tool(environment, ['refund', 'approve', states.approved, '--yes'], ms);
  await tool(await scenario('none', slow), book(cheapQueued, '--no-wait'));
  await tool(await scenario('none', slow), book(queued, '--no-wait'));
  // The platform hears of it a moment after its row is written.
  const inDoubt = () => answerOf(home, IN_DOUBT);
  await killedWhen(environment, orderOf('61.0002', ACTS_AS), async () => inDoubt() && pause(1_500).then(inDoubt));
  states.ramp_doubt = inDoubt();
  // The next command would go on with it: this comes last.
  for (let times = 0; times < 12 && !states.capturing && left.length > 0; times++) {
    const id = await lock();
    const seen = () => stateOf(home, id) === 'capturing';
    await killedWhen(await scenario('none', { FARELOCK_TICKETING_MS: '300' }), book(id), seen);
    if (seen()) states.capturing = id;
  }
  Object.assign(states, { queued, ticketing, lowcost_pressed: pressed, lowcost_queued: cheapQueued });
  for (const [state, id] of Object.entries(states)) process.stdout.write(`${state}: ${stateOf(home, id)}\n`);
  keep('file', home, states, null);
}

/** A home of its own: the next command would end the refund. */
async function cutOffRefund() {
  const home = join(folder, 'refunding');
  const environment = { FARELOCK_HOME: home };
  const words = 'search LIS BER --depart +30d --all-fares --limit 90 --no-wait'.split(' ');
  const { offers } = await tool(environment, words);
  const left = offers.filter((one) => one.total_currency === 'USD' && one.owner_name !== undefined);
  const failing = { ...environment, FARELOCK_SCENARIO: 'ticketing_fails' };
  const states = {};
  for (const [times, { offer_id }] of left.slice(0, 12).entries()) {
    const { intent_id: id } = await tool(environment, ['intent', 'create', offer_id]);
    const seen = () => stateOf(home, id) === 'refunding';
    await killedWhen(failing, ['book', id, '--passengers', passengers, '--yes'], seen);
    states[seen() ? 'refunding' : `missed_${times}`] = id;
    if (states.refunding) return keep('refunding', home, states, null);
  }
  throw new Error('no refund was cut off');
}

async function valueIn(url, question) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(question);
  await client.end();
  return rows[0]?.value;
}

async function onPostgres() {
  const server = await startPostgres({ nowMs: STARTS_MS });
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
      { env: { ...process.env, ...clock, ...more, FARELOCK_HOME: home }, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const said = await new Promise((line) => child.stdout.once('data', (chunk) => line(JSON.parse(String(chunk)))));
    environment = {
      FARELOCK_HOME: join(home, 'customer'),
      FARELOCK_FLIGHTS_URL: said.flights_url,
      FARELOCK_RPC_URL: said.rpc_url,
      FARELOCK_PARTNER_URL: said.partner_url,
      FARELOCK_API_KEY: readFileSync(join(home, 'keys/partner-par_sandbox_pix.key'), 'utf8').trim(),
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
  const { states, lock, lockCheap, book } = await journeys(() => environment, scenario);
  const pressed = await lockCheap();
  await tool(await scenario('pay_pressed_no_confirmation'), book(pressed), 12_000);
  await scenario('none', { FARELOCK_TICKETING_MS: '600000' });
  const ticketing = await lock();
  await tool(environment, book(ticketing, '--no-wait'));
  await new Promise((soon) => setTimeout(soon, 3_000));
  const queued = await lock();
  const cheapQueued = await lockCheap();
  const inDoubt = () => valueIn(server.url, IN_DOUBT);
  await tool(environment, book(cheapQueued, '--no-wait'));
  await killedWhen(environment, orderOf('61.0002'), async () => (await inDoubt()) && pause(1_500).then(inDoubt));
  await tool(environment, book(queued, '--no-wait'));
  await stop('SIGKILL');
  states.ramp_doubt = await inDoubt();
  Object.assign(states, { ticketing, queued, lowcost_pressed: pressed, lowcost_queued: cheapQueued });
  const dump = execFileSync('pg_dump', ['--no-owner', '--no-privileges', '--inserts', server.url], {
    maxBuffer: 1 << 28,
  });
  keep('postgres', home, states, dump);
  await server.close();
}

await embedded();
await cutOffRefund();
await onPostgres();
rmSync(folder, { recursive: true });
