import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { inMemory } from '../cli/memory.ts';
import { worldClock } from '../clock.ts';
import { pgbouncerIsInstalled, postgresKeepsTime, startPostgres } from '../store/postgres.ts';
import { BIN, farelockIn, PASSENGER, type Runner, serveIn } from './farelock.ts';

/** Processes by duty: one serves and does no work, another works and serves nothing. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** `farelock worker` as a process of its own, once it works. */
async function workIn({ env }: Runner) {
  const worker = spawn(process.execPath, [BIN, 'worker', '--json'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  closing.push(() => worker.kill('SIGKILL'));
  const [line] = await once(worker.stdout, 'data');
  expect(JSON.parse(String(line))).toMatchObject({ airline: { provider: 'sandbox' } });
  return {
    async stop(): Promise<unknown> {
      worker.kill('SIGTERM');
      return (await once(worker, 'exit'))[0];
    },
  };
}

/** Connections past the pooler that hear of work. */
async function listeners(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const listening = `query like 'listen%' or query = 'select 1'`;
    const { rows } = await client.query(`select count(*)::int as n from pg_stat_activity where ${listening}`);
    return (rows[0] as { n: number }).n;
  } finally {
    await client.end();
  }
}

test.runIf(postgresKeepsTime && pgbouncerIsInstalled)(
  'what a process without a worker takes in, another process does; through a pooler of transactions',
  async () => {
    const database = await startPostgres({ nowMs: worldClock.now() });
    const operator = farelockIn({
      FARELOCK_DATABASE_URL: await database.pool(),
      FARELOCK_LISTEN_URL: database.url,
      FARELOCK_TICKETING_MS: '20',
    });
    closing.push(database.close, operator.close);
    const served = await serveIn(operator, ['--no-worker']);
    closing.push(served.stop);
    const tool = inMemory(farelockIn({ FARELOCK_FLIGHTS_URL: served.flightsUrl, FARELOCK_RPC_URL: served.rpcUrl }));
    closing.push(tool.close);
    const json = async <T>(...args: string[]): Promise<T> => {
      const ran = await tool.run([...args, '--json']);
      expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
      return ran.json<T>();
    };
    const passengers = join(tool.home, 'passengers.json');
    writeFileSync(passengers, JSON.stringify([PASSENGER]), { mode: 0o600 });
    await json('wallet', 'new');
    await json('wallet', 'airdrop');
    const found = await json<{ offers: { offer_id: string; total_currency: string }[] }>(
      ...['search', 'LIS', 'BER', '--depart', '+30d', '--no-wait', '--all-fares'],
    );
    const sold = found.offers.find((one) => one.total_currency === 'USD' && !one.offer_id.startsWith('lowcost:'));
    const { intent_id } = await json<{ intent_id: string }>('intent', 'create', sold?.offer_id ?? '');
    await json('book', intent_id, '--passengers', passengers, '--yes', '--no-wait');
    const status = async () => (await json<{ status: string }>('status', intent_id)).status;
    expect(await status()).toBe('active');
    const worker = await workIn(operator);
    await expect.poll(() => listeners(database.url)).toBe(2);
    await expect.poll(status, { timeout: 30_000 }).toBe('booked');
    expect(await worker.stop()).toBe(0);
    expect(await served.stop()).toBe(0);
  },
);

test.runIf(postgresKeepsTime).each([90, -90])(
  'a process whose clock is %i seconds ahead of the database takes no part',
  async (seconds) => {
    const database = await startPostgres({ nowMs: worldClock.now() });
    const operator = farelockIn({ FARELOCK_DATABASE_URL: database.url, TEST_CLOCK_JUMPS: `0:${seconds * 1000}` });
    closing.push(database.close, operator.close);
    for (const duty of [['serve', '--port', '0'], ['worker']]) {
      const ran = await operator.run([...duty, '--json']);
      expect(ran.exitCode, ran.stdout).toBe(5);
      expect(ran.json()).toMatchObject({
        error: { code: 'clock_differs', detail: { seconds: expect.closeTo(seconds, -1) } },
      });
      expect(ran.stdout).toContain(`seconds ${seconds > 0 ? 'ahead of' : 'behind'} the database's`);
    }
  },
);
