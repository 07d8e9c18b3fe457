// node test/sim/torture.mjs [--runs 200] [--seed 7]: bookings that are killed (kill -9) at random moments and then resumed
// by running the same command again. Every journey must end booked or refunded, nothing may be paid or captured
// twice, and all USDC must be accounted for, to the unit. The books are audited over plain JSON-RPC.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
};
const RUNS = option('runs', 200);
let seed = option('seed', Date.now() % 1_000_000);
const BIN = resolve(import.meta.dirname, '../../bin/farelock.js');
/** No command takes this long: one that does hangs, and that ends the run as a failure. */
const HANGS_AFTER_MS = 180_000;
const MINT = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const home = mkdtempSync(join(tmpdir(), 'farelock-torture-'));
const env = { ...process.env, FARELOCK_HOME: home, FARELOCK_TICKETING_MS: '100', NO_COLOR: '1' };
delete env.NODE_EXTRA_CA_CERTS;

/** mulberry32: the same seed kills at the same moments. */
function random() {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}

function farelock(args, scenario = '') {
  const ran = spawnSync(process.execPath, [BIN, ...args, '--json'], {
    env: { ...env, FARELOCK_SCENARIO: scenario },
    encoding: 'utf8',
    timeout: HANGS_AFTER_MS,
    killSignal: 'SIGKILL',
  });
  let body = null;
  try {
    body = JSON.parse(ran.stdout);
  } catch {
    const ended = ran.signal ? `${ran.signal} after ${HANGS_AFTER_MS} ms` : `exit ${ran.status}`;
    throw new Error(`farelock ${args.join(' ')}: ${ended}\n${ran.stdout}\n${ran.stderr}`);
  }
  return { status: ran.status, body };
}

/** Starts a command and kills it after `ms`; says whether it had ended by itself before. */
function killed(args, scenario, ms) {
  return new Promise((done) => {
    const child = spawn(process.execPath, [BIN, ...args, '--json'], {
      env: { ...env, FARELOCK_SCENARIO: scenario },
      stdio: 'ignore',
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), ms);
    child.on('exit', (_code, signal) => {
      clearTimeout(timer);
      done(signal === 'SIGKILL');
    });
  });
}

const problems = [];
const expect = (holds, what) => {
  if (!holds) problems.push(what);
};

const passengers = join(home, 'passengers.json');
writeFileSync(
  passengers,
  JSON.stringify([
    {
      given_name: 'Ana',
      family_name: 'Moreira',
      born_on: '1990-04-12',
      title: 'ms',
      gender: 'f',
      email: 'ana@example.com',
      phone_number: '+351912345678',
    },
  ]),
);

const SCENARIOS = ['', '', '', 'ticketing_fails', 'outcome_unknown', 'sold_out'];
const ends = { booked: 0, refunded: 0 };
let kills = 0;
let offers = [];
let longest = 900;

try {
  farelock(['wallet', 'balance']);
  for (let run = 0; run < RUNS; run++) {
    const scenario = SCENARIOS[Math.floor(random() * SCENARIOS.length)] ?? '';
    if (run % 20 === 0) farelock(['wallet', 'airdrop', '--usdc', '10000']);
    if (offers.length === 0) {
      offers = farelock([
        'search',
        'LIS',
        'BER',
        '--depart',
        `+${20 + (run % 60)}d`,
        '--all-fares',
        '--no-wait',
        '--limit',
        '120',
      ]).body.offers.filter(
        (offer) =>
          offer.total_currency === 'USD' &&
          Number(offer.total_amount_decimal) < 450 &&
          Number(offer.total_amount_decimal) >= 10,
      );
    }
    const offer = offers.pop();
    const createArgs = ['intent', 'create', offer.offer_id];
    // Every fourth journey is killed while it is created, too.
    if (run % 4 === 3 && (await killed(createArgs, scenario, random() * 500))) kills++;
    const created = farelock(createArgs, scenario);
    const intent = created.body.intent_id ?? created.body.error?.detail?.intent_id;
    if (!intent) {
      expect(false, `run ${run}: no intent: ${JSON.stringify(created.body)}`);
      continue;
    }
    const book = ['book', intent, '--passengers', passengers, '--yes'];
    const begun = Date.now();
    if (await killed(book, scenario, random() * longest)) kills++;
    else longest = Math.max(600, Math.min(longest, (Date.now() - begun) * 1.1));
    const ended = farelock(book, scenario);
    const status = farelock(['status', intent], scenario).body.status;
    expect(
      status === 'booked' || status === 'refunded',
      `run ${run} (${scenario}): ended ${status}: ${JSON.stringify(ended.body)}`,
    );
    if (status in ends) ends[status]++;
    if (scenario === '' || scenario === 'outcome_unknown')
      expect(status === 'booked', `run ${run} (${scenario}): ${status}: ${JSON.stringify(ended.body)}`);
    if (process.stderr.isTTY) process.stderr.write(`\r${run + 1}/${RUNS} journeys, ${kills} kills`);
    else if ((run + 1) % 10 === 0) process.stderr.write(`${run + 1}/${RUNS} journeys, ${kills} kills\n`);
  }
  await audit();
} finally {
  if (problems.length === 0) rmSync(home, { recursive: true, force: true });
}

async function audit() {
  const server = spawn(process.execPath, [BIN, 'serve', '--port', '0', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const urls = await new Promise((ready) => {
    let text = '';
    server.stdout.on('data', (chunk) => {
      text += chunk;
      if (text.includes('\n')) ready(JSON.parse(text.split('\n')[0]));
    });
  });
  const rpc = async (method, ...params) => {
    const answer = await fetch(urls.rpc_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const { result, error } = await answer.json();
    if (error) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  };
  const held = async (owner) => {
    const { value } = await rpc('getTokenAccountsByOwner', owner, { mint: MINT }, { encoding: 'jsonParsed' });
    return value.reduce((sum, one) => sum + BigInt(one.account.data.parsed.info.tokenAmount.amount), 0n);
  };
  const atomic = (decimal) => BigInt(Math.round(Number(decimal) * 1e6));

  const wallet = farelock(['wallet', 'show']).body.address;
  const intents = farelock(['intent', 'list']).body.intents;
  const shown = intents.map((one) => farelock(['intent', 'show', one.intent_id]).body);
  const payments = farelock(['payments', 'list', '--limit', '1000000']).body.payments;
  const supply = BigInt((await rpc('getTokenSupply', MINT)).value.amount);
  const inWallet = await held(wallet);

  const fees = payments.filter((one) => one.resource !== 'POST /air/book' && one.state === 'answered');
  const treasury = fees[0]?.pay_to ?? null;
  let captured = 0n;
  for (const intent of shown) {
    const vault = (await rpc('getAccountInfo', intent.escrow.vault_address, { encoding: 'base64' })).value;
    if (intent.status === 'booked' || intent.status === 'refunded')
      expect(vault === null, `${intent.intent_id}: ${intent.status} and its vault is open`);
    else
      expect(
        vault === null || (await held(intent.escrow.address)) === 0n,
        `${intent.intent_id}: ${intent.status} and its vault holds money`,
      );
    if (intent.status === 'booked') captured += BigInt(intent.escrow.amount);
    const paid = payments.filter((one) => one.pay_to === intent.escrow.address && one.state === 'answered');
    expect(paid.length <= 1, `${intent.intent_id}: paid ${paid.length} times`);
  }
  expect(treasury !== null, 'the treasury is not known');
  const inTreasury = treasury ? await held(treasury) : 0n;
  expect(
    inWallet + inTreasury === supply,
    `wallet ${inWallet} + treasury ${inTreasury} is not the supply ${supply}`,
  );
  const paidFees = fees.reduce((sum, one) => sum + atomic(one.amount), 0n);
  expect(
    inTreasury === captured + paidFees,
    `treasury ${inTreasury} is not captured ${captured} + fees ${paidFees}`,
  );
  server.kill('SIGTERM');
}

process.stdout.write(
  `\n${RUNS} journeys, ${kills} kills: ${ends.booked} booked, ${ends.refunded} refunded\n`,
);
for (const problem of problems) process.stdout.write(`✗ ${problem}\n`);
if (problems.length > 0) process.stdout.write(`kept for inspection: ${home}\n`);
process.exit(problems.length === 0 ? 0 : 1);
