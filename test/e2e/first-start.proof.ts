import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { worldClock } from '../clock.ts';
import { rounds, upTo } from '../rounds.ts';
import { postgresKeepsTime, startPostgres, type TestPostgres } from '../store/postgres.ts';
import { farelockIn, serveIn } from './farelock.ts';

const AT_ONCE = 8;

let server: TestPostgres | null = null;
beforeAll(async () => {
  if (postgresKeepsTime) server = await startPostgres({ nowMs: worldClock.now() });
});
afterAll(() => server?.close());

const atOnce = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: AT_ONCE }, work));

/** Asks as a balancer does: what takes long at first, such as filling the wallets, is a 503 until it is done. */
async function readyAt(url: string): Promise<void> {
  await expect.poll(async () => (await fetch(`${url}/ready`)).status, { timeout: 30_000, interval: 200 }).toBe(200);
}

describe.each(upTo(rounds(0, 5)))('processes that start together, %s', (round) => {
  const newHome = () => mkdtempSync(join(tmpdir(), 'farelock-first-'));

  test(`${AT_ONCE} servers come up on a new home, and all of them serve`, async () => {
    const home = newHome();
    const servers = await atOnce(() => serveIn(farelockIn({}, home)));
    await Promise.all(servers.map(({ flightsUrl }) => readyAt(flightsUrl)));
    const keyFiles = new Set(servers.map(({ operatorKeyFile }) => operatorKeyFile));
    const ends = await Promise.all(servers.map((one) => one.stop()));
    rmSync(home, { recursive: true, force: true });
    expect(keyFiles.size).toBe(1);
    expect(ends).toEqual(Array(AT_ONCE).fill(0));
  }, 120_000);

  test.runIf(postgresKeepsTime)(
    `${AT_ONCE} servers come up on a new PostgreSQL database`,
    async () => {
      const home = newHome();
      const client = new pg.Client({ connectionString: server?.url });
      await client.connect();
      await client.query(`create database first_${round}`);
      await client.end();
      const url = server?.url.replace('/postgres?', `/first_${round}?`) ?? '';
      const servers = await atOnce(() => serveIn(farelockIn({ FARELOCK_DATABASE_URL: url }, home)));
      await Promise.all(servers.map(({ flightsUrl }) => readyAt(flightsUrl)));
      await Promise.all(servers.map((one) => one.stop()));
      rmSync(home, { recursive: true, force: true });
    },
    120_000,
  );

  test.each<[string, string[]]>([
    ['the wallet, made once and filled once', ['wallet', 'balance', '--json']],
    ['orders of the demo partner', ['partner', 'orders', 'list', '--json']],
    ['operators', ['keys', 'list', '--json']],
  ])(
    `${AT_ONCE} commands at once on a new home all show %s`,
    async (_what, args) => {
      const home = newHome();
      const runs = await atOnce(() => farelockIn({}, home).run(args));
      rmSync(home, { recursive: true, force: true });
      expect(runs.map(({ exitCode, stdout }) => (exitCode === 0 ? '' : stdout))).toEqual(Array(AT_ONCE).fill(''));
      // When a key was last used differs from one to the next.
      const shown = runs.map(({ stdout }) => stdout.replace(/"last_used_at":\s*("[^"]*"|null)/g, ''));
      expect(new Set(shown).size).toBe(1);
    },
    120_000,
  );
});
