// npm run bench: how long commands take, as whole processes, against an empty Node script of the same minute (the
// floor). Rounds are interleaved, so that a machine whose speed drifts slows every row alike; medians are printed.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fill } from './fill.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 15);
const root = resolve(import.meta.dirname, '../..');
const bin = join(root, 'bin/farelock.js');
const home = mkdtempSync(join(tmpdir(), 'farelock-bench-'));
const served = mkdtempSync(join(tmpdir(), 'farelock-bench-served-'));
const used = mkdtempSync(join(tmpdir(), 'farelock-bench-used-'));
const env = { ...process.env, FARELOCK_HOME: home, FARELOCK_TICKETING_MS: '50', NO_COLOR: '1' };
// A bundle of certificates costs every Node start what it would not cost a user.
delete env.NODE_EXTRA_CA_CERTS;

const node = (args, options = {}) => {
  const begun = process.hrtime.bigint();
  const ran = spawnSync(process.execPath, args, { env, encoding: 'utf8', ...options });
  const ms = Number(process.hrtime.bigint() - begun) / 1e6;
  if (ran.status !== 0) throw new Error(`node ${args.join(' ')}: ${ran.stderr || ran.stdout}`);
  return { ms, stdout: ran.stdout };
};
const farelock = (...args) => node([bin, ...args]);
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

const empty = join(home, 'empty.mjs');
writeFileSync(empty, '');
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

// The paid call alone: the slower tier takes as long as it takes.
const SEARCH = ['search', 'LIS', 'BER', '--depart', '+30d', '--json', '--no-wait'];
const offersOf = (...args) => JSON.parse(farelock(...SEARCH, '--limit', '200', ...args).stdout).offers;
const affordable = (offer) => offer.total_currency === 'USD' && Number(offer.total_amount_decimal) < 400;
let offers = [];
const newIntent = () => {
  if (offers.length === 0) offers = offersOf('--all-fares').filter(affordable);
  const offer = offers.pop();
  return JSON.parse(farelock('intent', 'create', offer.offer_id, '--json').stdout).intent_id;
};

try {
  farelock('wallet', 'balance', '--json'); // makes the home: keys, ledger, wallet
  for (let i = 0; i < 2 * ROUNDS; i += 10) farelock('wallet', 'airdrop', '--usdc', '10000', '--json');
  const known = newIntent();
  cpSync(home, used, { recursive: true });
  fill(join(used, 'service.db'), 100_000);

  const server = spawn(process.execPath, [bin, 'serve', '--port', '0', '--json'], {
    env: { ...env, FARELOCK_HOME: served },
  });
  const urls = await new Promise((resolve, reject) => {
    let text = '';
    server.stdout.on('data', (chunk) => {
      text += chunk;
      if (text.includes('\n')) resolve(JSON.parse(text.split('\n')[0]));
    });
    server.on('exit', () => reject(new Error('serve did not start')));
  });
  const remote = {
    ...env,
    FARELOCK_HOME: join(served, 'client'),
    FARELOCK_FLIGHTS_URL: urls.flights_url,
    FARELOCK_RPC_URL: urls.rpc_url,
    FARELOCK_KEYPAIR: join(served, 'client.json'),
  };
  node([bin, 'wallet', 'new', '--json'], { env: remote });
  node([bin, 'wallet', 'airdrop', '--sol', '1', '--usdc', '1000', '--json'], { env: remote });
  const depart = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);

  const rows = [
    { name: 'node (empty script)', run: () => node([empty]) },
    { name: 'farelock --version', budget: 25, run: () => farelock('--version') },
    { name: 'farelock --help', budget: 25, run: () => farelock('--help') },
    { name: 'farelock status', budget: 70, run: () => farelock('status', known, '--json') },
    {
      name: 'status, much used',
      run: () => node([bin, 'status', known, '--json'], { env: { ...env, FARELOCK_HOME: used } }),
    },
    { name: 'farelock search --json', budget: 200, run: () => farelock(...SEARCH) },
    {
      name: 'farelock book --no-wait',
      budget: 230,
      prepare: newIntent,
      run: (intent) => farelock('book', intent, '--passengers', passengers, '--yes', '--no-wait', '--json'),
      // Untimed: the next command would otherwise do this booking's work.
      after: (intent) => farelock('status', intent, '--watch', '--json'),
    },
    { name: 'search, served: farelock', run: () => node([bin, ...SEARCH], { env: remote }) },
    {
      name: 'search, served: stock x402',
      run: () =>
        node([
          join(root, 'test/bench/stock-client.mjs'),
          urls.flights_url,
          urls.rpc_url,
          remote.FARELOCK_KEYPAIR,
          depart,
        ]),
    },
  ];
  const times = new Map(rows.map((row) => [row.name, []]));
  for (let round = -1; round < ROUNDS; round++) {
    for (const row of rows) {
      const prepared = row.prepare?.();
      const { ms } = row.run(prepared);
      row.after?.(prepared);
      if (round >= 0) times.get(row.name).push(ms); // the first round warms the disk cache
    }
  }
  server.kill('SIGTERM');

  const floor = median(times.get(rows[0].name));
  process.stdout.write(`${ROUNDS} rounds, medians of whole processes, Node ${process.version}\n\n`);
  process.stdout.write(
    `${'command'.padEnd(30)}${'ms'.padStart(8)}${'/ floor'.padStart(10)}${'+ floor'.padStart(10)}${'budget'.padStart(10)}\n`,
  );
  for (const row of rows) {
    const ms = median(times.get(row.name));
    const over = row.budget === undefined ? '' : `+${row.budget}${ms - floor <= row.budget ? '' : ' !'}`;
    process.stdout.write(
      `${row.name.padEnd(30)}${ms.toFixed(0).padStart(8)}${(ms / floor).toFixed(2).padStart(10)}${`+${(ms - floor).toFixed(0)}`.padStart(10)}${over.padStart(10)}\n`,
    );
  }
  const [fresh, full] = [median(times.get('farelock status')), median(times.get('status, much used'))];
  process.stdout.write(
    `\nstatus with 100,000 of everything against a fresh home: ${(full / fresh).toFixed(2)}\n`,
  );
  const ours = median(times.get('search, served: farelock'));
  const stock = median(times.get('search, served: stock x402'));
  process.stdout.write(
    `farelock against the stock x402 client, the same paid call: ${(ours / stock).toFixed(2)}\n`,
  );
} finally {
  rmSync(home, { recursive: true, force: true });
  rmSync(used, { recursive: true, force: true });
  rmSync(served, { recursive: true, force: true });
}
