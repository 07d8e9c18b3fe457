import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { inMemory } from '../cli/memory.ts';
import { worldClock } from '../clock.ts';
import { postgresKeepsTime, startPostgres } from '../store/postgres.ts';
import { farelockIn, serveIn } from './farelock.ts';
import { asked } from './stage.ts';

/** Keys on a read-only mount: everything else is in PostgreSQL. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Nothing can be written there until the end of the test: a mount for root, who may write to every folder. */
function freeze(home: string): void {
  if (process.getuid?.() !== 0) {
    chmodSync(home, 0o500);
    closing.push(() => chmodSync(home, 0o700));
    return;
  }
  execFileSync('mount', ['--bind', home, home]);
  closing.push(() => execFileSync('umount', ['-l', home]));
  execFileSync('mount', ['-o', 'remount,ro,bind', home]);
}

test.runIf(postgresKeepsTime)('a home that cannot be written serves, and says at its start what waits', async () => {
  const database = await startPostgres({ nowMs: worldClock.now() });
  const chainHome = farelockIn();
  closing.push(database.close, chainHome.close);
  const chain = await serveIn(chainHome, ['--cluster-only']);
  closing.push(chain.stop);
  const at = { FARELOCK_RPC_URL: chain.rpcUrl };
  const operator = farelockIn({ ...at, FARELOCK_DATABASE_URL: database.url });
  closing.push(operator.close);
  const keys = (await operator.run(['cluster', 'keys', '--json'])).json<{ wallets: { address: string }[] }>();
  for (const { address } of keys.wallets) {
    await asked(chain.rpcUrl, 'requestAirdrop', [address, 20_000_000_000]);
    await asked(chain.rpcUrl, 'farelock_airdropUsdc', [address, 0]);
  }
  // The first process makes the keys, where they can be written.
  await (await serveIn(operator)).stop();
  freeze(operator.home);
  expect(() => writeFileSync(join(operator.home, 'new'), '')).toThrow();
  const served = await serveIn(operator);
  closing.push(served.stop);
  expect(served.log()).toContain('home_not_writable');
  for (const waits of ['the sandbox airline tickets nothing', 'mails wait', 'pages wait'])
    expect(served.log()).toContain(waits);
  expect((await fetch(`${served.flightsUrl}/ready`)).status).toBe(200);
  const customer = inMemory(farelockIn({ ...at, FARELOCK_FLIGHTS_URL: served.flightsUrl }));
  closing.push(customer.close);
  await customer.run(['wallet', 'new']);
  await customer.run(['wallet', 'airdrop']);
  const found = await customer.run(['search', 'LIS', 'BER', '--depart', '+30d', '--no-wait', '--json']);
  expect(found.exitCode, found.stdout).toBe(0);
  const locked = await customer.run(['intent', 'create', '1', '--json']);
  expect(locked.exitCode, locked.stdout).toBe(0);
});
