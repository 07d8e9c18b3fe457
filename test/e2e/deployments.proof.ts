import { execa } from 'execa';
import { afterEach, expect, test } from 'vitest';
import type { Offer } from '../../src/wire/flights/index.ts';
import { inMemory } from '../cli/memory.ts';
import { worldClock } from '../clock.ts';
import { postgresKeepsTime, startPostgres } from '../store/postgres.ts';
import { BIN, farelockIn, PASSENGER, type Runner, type Served, serveIn } from './farelock.ts';

/** The same service on other foundations: PostgreSQL for its tables, another process's cluster over JSON-RPC. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing.length = 0;
});

function home(env: Record<string, string> = {}): Runner {
  const runner = farelockIn(env);
  closing.push(runner.close);
  return runner;
}

async function serving(runner: Runner, args: readonly string[] = []): Promise<Served> {
  const served = await serveIn(runner, args);
  closing.push(served.stop);
  return served;
}

async function bookOn(served: Served): Promise<string> {
  const client = inMemory(home({ FARELOCK_FLIGHTS_URL: served.flightsUrl, FARELOCK_RPC_URL: served.rpcUrl }));
  client.env.FARELOCK_KEYPAIR = `${client.home}/me.json`;
  await client.run(['wallet', 'new']);
  const filled = await client.run(['wallet', 'airdrop', '--sol', '1', '--usdc', '2500', '--json']);
  expect(filled.exitCode, filled.stdout).toBe(0);
  const found = await client.run(['search', 'LIS', 'BER', '--depart', '+30d', '--json', '--no-wait']);
  expect(found.exitCode, found.stdout).toBe(0);
  const [offer] = found.json<{ offers: Offer[] }>().offers;
  const created = await client.run(['intent', 'create', offer?.offer_id ?? '', '--json']);
  expect(created.exitCode, created.stdout).toBe(0);
  const { intent_id } = created.json<{ intent_id: string }>();
  const booked = await client.run(['book', intent_id, '--passengers', '-', '--yes', '--json'], {
    input: JSON.stringify([PASSENGER]),
  });
  expect(booked.exitCode, booked.stdout + booked.stderr).toBe(0);
  return booked.json<{ status: string }>().status;
}

test.runIf(postgresKeepsTime)(
  'a journey on PostgreSQL ends booked',
  async () => {
    const database = await startPostgres({ nowMs: worldClock.now() });
    closing.push(database.close);
    // By the environment: an address with a password in it has no place in a list of processes.
    const served = await serving(home({ FARELOCK_DATABASE_URL: database.url }));
    expect(await bookOn(served)).toBe('booked');
  },
  120_000,
);

test('a journey over a cluster of another process ends booked; without fees the operator is told', async () => {
  const chain = await serving(home());
  const operator = home();
  const args = ['--rpc-url', chain.rpcUrl];
  const refused = await execa(process.execPath, [BIN, 'serve', '--port', '0', '--json', ...args], {
    env: operator.env,
    reject: false,
  });
  expect(refused.exitCode).toBe(6);
  const { error } = JSON.parse(refused.stdout) as { error: { code: string; message: string } };
  expect(error.code).toBe('insufficient_funds');
  for (const key of ['authority', 'facilitator']) {
    const filled = await inMemory(operator).run(['wallet', 'airdrop', '--sol', '5', '--usdc', '0', '--json'], {
      env: {
        FARELOCK_KEYPAIR: `${operator.home}/keys/${key}.json`,
        FARELOCK_FLIGHTS_URL: chain.flightsUrl,
        FARELOCK_RPC_URL: chain.rpcUrl,
      },
    });
    expect(filled.exitCode, filled.stdout).toBe(0);
  }
  const served = await serving(operator, args);
  expect(served.rpcUrl).toBe(chain.rpcUrl);
  expect(await bookOn(served)).toBe('booked');
}, 180_000);
