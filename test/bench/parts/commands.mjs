import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { intentMaker, passengersFile, ROOT, SEARCH } from '../homes.mjs';
import { line } from '../statistics.mjs';

/**
 * How long commands take, as whole processes, against an empty Node script of the same minute (the floor). Rounds are
 * interleaved, so that a machine whose speed drifts slows every row alike.
 */
export const title = 'Commands, over an empty Node script';
export const rounds = 15;

export async function run({ stage, rounds, say }) {
  const home = stage.folder();
  const env = stage.envOf(home);
  const empty = join(home, 'empty.mjs');
  writeFileSync(empty, '');
  const passengers = passengersFile(home);
  const newIntent = intentMaker(stage, env);
  stage.farelock(env, 'wallet', 'balance', '--json'); // makes the home: keys, ledger, wallet
  for (let i = 0; i < 2 * rounds; i += 10) stage.farelock(env, 'wallet', 'airdrop', '--usdc', '10000', '--json');
  const known = newIntent();
  const { remote, stock } = await servedSearches(stage);

  const rows = [
    { name: 'node (empty script)', run: () => stage.node([empty], env) },
    { name: 'farelock --version', most: 10, run: () => stage.farelock(env, '--version') },
    { name: 'farelock --help', most: 10, run: () => stage.farelock(env, '--help') },
    { name: 'farelock status', most: 40, run: () => stage.farelock(env, 'status', known, '--json') },
    { name: 'farelock search --json', most: 100, run: () => stage.farelock(env, ...SEARCH) },
    {
      name: 'farelock book --no-wait',
      most: 110,
      prepare: newIntent,
      run: (intent) => stage.farelock(env, 'book', intent, '--passengers', passengers, '--yes', '--no-wait', '--json'),
      // Untimed: the next command would otherwise do this booking's work.
      after: (intent) => stage.farelock(env, 'status', intent, '--watch', '--json'),
    },
    { name: 'search, served: farelock', run: remote },
    { name: 'search, served: stock x402 client', run: stock },
  ];
  const times = new Map(rows.map((row) => [row.name, []]));
  for (let round = -1; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`);
    for (const row of rows) {
      const prepared = row.prepare?.();
      const { ms } = row.run(prepared);
      row.after?.(prepared);
      if (round >= 0) times.get(row.name).push(ms); // the first round warms the disk cache
    }
  }
  const [floor] = times.values();
  const lines = rows.slice(1).map(({ name, most }) => {
    const values = times.get(name);
    return {
      ...line(name, 'ms', {
        values,
        against: floor,
        to: 'floor',
        ...(most === undefined ? {} : { goal: `floor +${most}` }),
      }),
      over: line(name, 'ms', { values: values.map((ms, round) => ms - floor[round]) }).value,
    };
  });
  return [
    line(rows[0].name, 'ms', { values: floor }),
    ...lines,
    line('farelock against the stock client, the same paid call', 'ms', {
      values: times.get('search, served: farelock'),
      against: times.get('search, served: stock x402 client'),
      to: 'stock client',
    }),
  ];
}

async function servedSearches(stage) {
  const served = stage.folder('served');
  const { flightsUrl, rpcUrl } = await stage.serve(served);
  const keypair = join(served, 'client.json');
  const remote = stage.envOf(join(served, 'client'), {
    FARELOCK_FLIGHTS_URL: flightsUrl,
    FARELOCK_RPC_URL: rpcUrl,
    FARELOCK_KEYPAIR: keypair,
  });
  stage.farelock(remote, 'wallet', 'new', '--json');
  stage.farelock(remote, 'wallet', 'airdrop', '--sol', '1', '--usdc', '1000', '--json');
  const depart = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  return {
    remote: () => stage.farelock(remote, ...SEARCH),
    stock: () => stage.node([join(ROOT, 'test/bench/stock-client.mjs'), flightsUrl, rpcUrl, keypair, depart], remote),
  };
}
