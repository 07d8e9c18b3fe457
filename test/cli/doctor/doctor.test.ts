import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Sqlite from 'libsql';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { worldClock } from '../../clock.ts';
import { proofTest } from '../../proof-only.ts';
import { runInMemory, temporaryHome } from '../memory.ts';

/** `farelock doctor` looks at everything and changes nothing. */

interface Shown {
  readonly id: string;
  readonly status: 'ok' | 'warning' | 'failed';
  readonly message: string;
  readonly fix: string | null;
  readonly next: string[];
}

let place: ReturnType<typeof temporaryHome>;
beforeEach(() => {
  place = temporaryHome();
});
afterEach(() => place.close());

async function examined(environment: Record<string, string> = {}) {
  const run = await runInMemory(['doctor', '--json'], {
    environment: { FARELOCK_HOME: place.home, ...environment },
    folder: place.home,
  });
  const report = run.json() as { status: string; profile: string | null; checks: Shown[] };
  const check = (id: string) => report.checks.find((one) => one.id === id);
  return { ...run, report, check };
}

/** Every file under a folder with what is in it, its mode and when it was changed. */
function printOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const stat = statSync(join(folder, name));
      const content = stat.isFile() ? readFileSync(join(folder, name)) : '';
      return [name, stat.mode, stat.mtimeMs, createHash('sha256').update(content).digest('hex')].join(' ');
    });
}

test('a home that is not there is not set up yet, and is not made', async () => {
  const home = join(place.home, 'none');
  const run = await examined({ FARELOCK_HOME: home });
  expect(run.exitCode).toBe(0);
  expect(run.check('home')).toMatchObject({ status: 'warning', message: `Not set up yet: ${home}` });
  expect(existsSync(home)).toBe(false);
});

describe('of a home that is in use', () => {
  beforeEach(async () => {
    const used = temporaryHome();
    const argv = ['search', 'LIS', 'BER', '--depart', '+30d', '--no-wait'];
    expect((await runInMemory(argv, { environment: { FARELOCK_HOME: used.home } })).exitCode).toBe(0);
    // As the process that made it would leave it, were it killed now: this one still has its files open.
    cpSync(used.home, place.home, { recursive: true });
    used.close();
  });

  test('all is well, and not one byte of it changes', async () => {
    const before = printOf(place.home);
    const run = await examined();
    expect(run.report.checks.filter(({ status }) => status !== 'ok')).toEqual([]);
    expect([run.exitCode, run.report.status]).toEqual([0, 'ok']);
    expect(run.check('balance')?.message).toMatch(/^9999\.\d+ USDC, 10 SOL$/);
    expect(printOf(place.home)).toEqual(before);
  });

  test('no key is shown', async () => {
    const keys = readdirSync(join(place.home, 'keys')).map((name) =>
      readFileSync(join(place.home, 'keys', name), 'utf8').trim(),
    );
    const wallet = readFileSync(join(place.home, 'wallet.json'), 'utf8').trim();
    const { stdout } = await examined({
      FARELOCK_API_KEY: 'flk_demo_planted',
      FARELOCK_OPERATOR_KEY: 'flk_op_planted',
    });
    for (const secret of [...keys, wallet, 'planted']) expect(stdout).not.toContain(secret);
  });

  test('a file that others can read fails, with the command that closes it', async () => {
    chmodSync(join(place.home, 'wallet.json'), 0o644);
    const run = await examined();
    expect([run.exitCode, run.report.status]).toEqual([8, 'failed']);
    expect(run.check('modes')).toMatchObject({ status: 'failed', next: [`chmod -R go-rwx ${place.home}`] });
    expect(run.check('wallet')).toMatchObject({ next: [`chmod 600 ${join(place.home, 'wallet.json')}`] });
  });

  test('a database that is damaged, one of a newer version and one that is behind are told apart', async () => {
    writeFileSync(join(place.home, 'sandbox-airline.db'), 'not a database at all, but long enough to be read as one');
    const client = new Sqlite(join(place.home, 'client.db'));
    client.exec("insert into schema_steps (name, breaks) values ('999_from_the_future', 1)");
    client.close();
    const service = new Sqlite(join(place.home, 'service.db'));
    service.exec('delete from schema_steps where rowid in (select max(rowid) from schema_steps)');
    service.close();
    const run = await examined();
    expect(run.exitCode).toBe(8);
    expect(run.check('airline_database')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('damaged'),
    });
    expect(run.check('client_database')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('999_from_the_future'),
    });
    expect(run.check('service_database')).toMatchObject({ status: 'warning' });
  });

  test('a key ring that is gone while its database is there fails before a new one is made', async () => {
    rmSync(join(place.home, 'keys', 'client.json'));
    const run = await examined();
    expect(run.check('keys')).toMatchObject({ status: 'failed', message: expect.stringContaining('is missing') });
    expect(existsSync(join(place.home, 'keys', 'client.json'))).toBe(false);
  });

  test('a payment that was never answered, with the command that resumes it', async () => {
    const client = new Sqlite(join(place.home, 'client.db'));
    client.exec("update payments set live_key = 'x', state = 'sent'");
    const { payment_id: id } = client.prepare('select payment_id from payments').get() as { payment_id: string };
    client.close();
    const run = await examined();
    expect(run.exitCode).toBe(0);
    expect(run.check('open_payments')).toMatchObject({
      status: 'warning',
      next: ['farelock payments list', `farelock payments resume ${id}`],
    });
  });
});

test('settings that cannot be read are a finding, and the rest is looked at', async () => {
  writeFileSync(join(place.home, 'config.json'), '{ no', { mode: 0o600 });
  const run = await examined();
  expect(run.exitCode).toBe(8);
  expect(run.check('settings')).toMatchObject({ status: 'failed' });
  expect(run.check('disk')).toMatchObject({ status: 'ok' });
  expect(run.check('cluster')).toBeUndefined();
});

test('services that answer are held to their clock and their keys; what refuses is named', async () => {
  const wallets = [{ wallet: 'authority', address: 'Auth', asset: 'SOL', holds: '0.01', needs: '0.04' }];
  let ready: object = { status: 'not_ready' };
  const server = createServer((request, response) => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (request.url === '/health')
      answer(200, { status: 'ok', time: new Date(worldClock.now() - 600_000).toISOString() });
    else if (request.url === '/ready') answer(503, ready);
    else answer(401, { code: 'unauthenticated', message: 'no' });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const run = await examined({
      FARELOCK_FLIGHTS_URL: url,
      FARELOCK_PARTNER_URL: url,
      FARELOCK_OPERATOR_KEY: 'flk_op_wrong',
      FARELOCK_API_KEY: 'flk_demo_wrong',
    });
    expect(run.exitCode).toBe(8);
    expect(run.check('flight_service')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('not ready'),
    });
    expect(run.check('clock')).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(/^This computer's clock is 10 min fast/),
    });
    expect(run.check('partner_service')).toMatchObject({ status: 'ok' });
    expect(run.check('operator_key')).toMatchObject({ status: 'failed' });
    expect(run.check('api_key')).toMatchObject({ status: 'failed' });
    expect(run.check('cluster')).toMatchObject({ status: 'warning' });
    ready = { status: 'not_ready', wallets };
    expect((await examined({ FARELOCK_FLIGHTS_URL: url })).check('flight_service')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('the authority Auth holds 0.01 SOL and needs 0.04'),
    });
  } finally {
    server.close();
  }
});

proofTest('a service that is not there is told, with nobody waited for longer than a check may take', async () => {
  const run = await examined({ FARELOCK_FLIGHTS_URL: 'http://127.0.0.1:9', FARELOCK_RPC_URL: 'http://127.0.0.1:9' });
  expect(run.exitCode).toBe(8);
  expect(run.check('flight_service')).toMatchObject({ status: 'failed', message: "Can't reach 127.0.0.1:9." });
  expect(run.check('cluster')?.status).toBe('failed');
});

test.each([80, 140])('on a terminal of %i columns each line has its mark and fits', async (columns) => {
  const run = await runInMemory(['doctor'], {
    terminal: true,
    columns,
    environment: { FARELOCK_HOME: place.home },
    folder: place.home,
  });
  const lines = run.stdout.trimEnd().split('\n');
  expect(lines.filter((line) => !/^([✓!✗] | {2})/.test(line))).toEqual([]);
  expect(lines.filter((line) => line.length > columns)).toEqual([]);
});
