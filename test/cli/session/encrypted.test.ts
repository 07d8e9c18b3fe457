import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type MemoryRun, runInMemory, temporaryHome } from '../memory.ts';

/** Keys, tokens, codes and passengers leave this machine encrypted, and for the host that was named. */

let place: ReturnType<typeof temporaryHome>;
let server: Server;
let port = 0;
let seen: IncomingMessage[] = [];
let location: string | null = null;

beforeEach(async () => {
  place = temporaryHome();
  seen = [];
  location = null;
  server = createServer((request, response) => {
    seen.push(request);
    response.writeHead(location === null ? 200 : 307, {
      'content-type': 'application/json',
      ...(location !== null && { location }),
    });
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  port = (server.address() as AddressInfo).port;
  writeFileSync(join(place.home, 'key'), 'flk_demo_0123456789abcdefghij', { mode: 0o600 });
});
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
  place.close();
});

const run = (line: string, environment: Record<string, string> = {}): Promise<MemoryRun> =>
  runInMemory(line.split(' '), {
    environment: { FARELOCK_HOME: place.home, FARELOCK_PROJECT_FILE: 'off', ...environment },
  });
const error = (ran: MemoryRun) => ran.json().error as { code: string; message: string; next: readonly string[] };

/** Reaches this machine, and is none of its loopback names. */
const away = () => `http://0.0.0.0:${port}`;
const withProfile = async (url: string) =>
  expect(
    await run(
      `config profile add far --flights-url ${url} --partner-url ${url} --api-key-file ${place.home}/key --operator-key-file ${place.home}/key`,
    ),
  ).toMatchObject({ exitCode: 0 });

describe('over http to another machine', () => {
  test.each(['partner orders list', 'refund queue', 'intent show int_1', 'search LIS BER --depart +30d --dry-run'])(
    '%s sends nothing, and says what to set',
    async (line) => {
      await withProfile(away());
      const ran = await run(`${line} --profile far --json`);
      expect(ran.exitCode).toBe(4);
      expect(error(ran)).toMatchObject({
        code: 'address_unencrypted',
        message: expect.stringContaining(away()),
        next: [
          expect.stringMatching(/^farelock config set (flights|partner)_url https:\/\/0\.0\.0\.0 --profile far$/),
          `farelock config set http_hosts 0.0.0.0:${port} --profile far`,
        ],
      });
      expect(seen).toEqual([]);
    },
  );

  test('neither does doctor, nor an address of the environment', async () => {
    await withProfile(away());
    const looked = await run('doctor --profile far --json');
    expect(looked.exitCode, looked.stdout).toBe(8);
    const checks = looked.json().checks as { id: string; status: string; message: string }[];
    for (const id of ['flight_service', 'partner_service']) {
      expect(checks.find((one) => one.id === id)).toMatchObject({
        status: 'failed',
        message: expect.stringContaining('unencrypted'),
      });
    }
    expect(checks.map(({ id }) => id)).not.toEqual(expect.arrayContaining(['api_key']));
    const named = { FARELOCK_PARTNER_URL: away(), FARELOCK_API_KEY: 'flk_demo_0123456789abcdefghij' };
    expect(error(await run('partner orders list --json', named)).code).toBe('address_unencrypted');
    expect(seen.filter(({ headers }) => headers['x-api-key'] || headers.authorization)).toEqual([]);
  });

  test('a host that is named for it is called, and no other', async () => {
    await withProfile(away());
    await run(`config set http_hosts 0.0.0.0:${port} --profile far`);
    expect(await run('partner orders list --profile far --json')).toMatchObject({ exitCode: 0 });
    expect(seen.map(({ headers }) => headers['x-api-key'])).toEqual(['flk_demo_0123456789abcdefghij']);
    await run('config set http_hosts 10.0.0.1:4020 --profile far');
    expect((await run('partner orders list --profile far')).exitCode).toBe(4);
    const named = { FARELOCK_HTTP_HOSTS: `0.0.0.0:${port}` };
    expect((await run('partner orders list --profile far', named)).exitCode).toBe(0);
  });
});

test.each(['127.0.0.1', 'localhost'])('%s is this machine', async (host) => {
  await withProfile(`http://${host}:${port}`);
  expect(await run('partner orders list --profile far --json')).toMatchObject({ exitCode: 0 });
});

test('a project file cannot name such hosts', async () => {
  const folder = join(place.home, 'project');
  const { mkdirSync } = await import('node:fs');
  mkdirSync(folder);
  writeFileSync(join(folder, '.farelock.json'), JSON.stringify({ http_hosts: '0.0.0.0' }));
  const ran = await runInMemory(['config', 'list', '--json'], { environment: { FARELOCK_HOME: place.home }, folder });
  expect(error(ran).code).toBe('settings_invalid');
});

test('a service that sends calls on to another host is not followed: no key goes there', async () => {
  await withProfile(`http://127.0.0.1:${port}`);
  location = `http://localhost:${port}/taken`;
  const ran = await run('partner orders list --profile far --json');
  expect(error(ran)).toMatchObject({
    code: 'unexpected_answer',
    message: `127.0.0.1:${port} redirects calls to http://localhost:${port}, which is not followed.`,
  });
  expect(seen.map(({ url }) => url)).not.toContain('/taken');
});
