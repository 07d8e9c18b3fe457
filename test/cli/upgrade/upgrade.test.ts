import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { version } from '../../../package.json' with { type: 'json' };
import { installationOf } from '../../../src/cli/commands/upgrade/run.ts';
import { isNoticeWanted } from '../../../src/cli/upgrade/index.ts';
import { isNewer, registryOf, updateNotice } from '../../../src/cli/upgrade/latest.ts';
import { runInMemory, temporaryHome } from '../memory.ts';

/** Of newer versions: where they are looked for, when, and what is said. */

const place = temporaryHome();
afterAll(() => place.close());

describe('farelock upgrade', () => {
  let registry: Server;
  let address = '';
  const asked: string[] = [];
  beforeAll(async () => {
    registry = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.setHeader('content-type', 'application/json').end('{"latest":"99.1.0"}');
    });
    await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(registry.address() as AddressInfo).port}/npm`;
  });
  afterAll(() => new Promise((resolve) => registry.close(resolve)));

  test('asks the registry of npm for the newest version, and says how to get it', async () => {
    const environment = { FARELOCK_HOME: place.home, npm_config_registry: address };
    const ran = await runInMemory(['upgrade', '--json'], { environment });
    expect(ran.json()).toMatchObject({ version, latest: '99.1.0', is_latest: false });
    expect(asked).toEqual(['/npm/-/package/farelock/dist-tags']);
    expect(JSON.parse(readFileSync(join(place.home, 'update.json'), 'utf8'))).toMatchObject({ latest: '99.1.0' });
    const shown = await runInMemory(['upgrade'], { terminal: true, environment });
    expect(shown.stdout).toMatch(/Newest +99\.1\.0/);
  });

  test('a registry that does not answer is no error', async () => {
    const environment = { FARELOCK_HOME: place.home, npm_config_registry: 'http://127.0.0.1:9/' };
    const ran = await runInMemory(['upgrade', '--json'], { environment });
    expect(ran.exitCode).toBe(0);
    expect(ran.json()).toMatchObject({ latest: null, is_latest: null, command: expect.any(String) });
  });
});

test('the registry is that of npm: its variable, the user’s .npmrc, the public one', () => {
  const file = join(place.home, '.npmrc');
  writeFileSync(file, 'fund=false\nregistry = https://npm.example/all/\n');
  expect(registryOf({ HOME: place.home })).toBe('https://npm.example/all/');
  expect(registryOf({ HOME: join(place.home, 'none'), NPM_CONFIG_USERCONFIG: file })).toBe('https://npm.example/all/');
  expect(registryOf({ HOME: place.home, npm_config_registry: 'https://other.example/' })).toBe(
    'https://other.example/',
  );
  expect(registryOf({ HOME: join(place.home, 'none') })).toBe('https://registry.npmjs.org/');
});

test.each([
  ['0.2.0', '0.1.9', true],
  ['0.10.0', '0.9.0', true],
  ['0.1.0', '0.1.0', false],
  ['0.1.0', '1.0.0', false],
])('%s is newer than %s: %s', (one, other, expected) => {
  expect(isNewer(one, other)).toBe(expected);
});

describe('the notice', () => {
  const DAY = 24 * 3_600_000;
  let home = '';
  let looks = 0;
  let count = 0;
  beforeEach(() => {
    home = join(place.home, `home-${count++}`);
    mkdirSync(home);
    looks = 0;
  });
  const at = (nowMs: number) => updateNotice({ home, version: '0.1.0', nowMs, look: () => looks++ });
  const found = (lookedAt: number, latest: string | null) =>
    writeFileSync(join(home, 'update.json'), JSON.stringify({ looked_at: lookedAt, latest }));

  test('at first there is nothing to say; a look begins, once a day though no answer comes', () => {
    expect([at(DAY), at(DAY + 1), at(2 * DAY)]).toEqual([null, null, null]);
    expect(looks).toBe(1);
    at(2 * DAY + 1);
    expect(looks).toBe(2);
  });

  test('what the last look has found is said, and the next command', () => {
    found(DAY, '0.2.0');
    expect(at(DAY + 5)).toBe('farelock 0.2.0 is out; this is 0.1.0. Next: farelock upgrade');
    expect(looks).toBe(0);
    found(DAY, '0.1.0');
    expect(at(DAY + 5)).toBeNull();
  });

  test('a damaged note and a home that is not there stop nothing', () => {
    writeFileSync(join(home, 'update.json'), '{');
    expect(at(DAY)).toBeNull();
    expect(looks).toBe(1);
    home = join(home, 'none');
    expect(at(DAY)).toBeNull();
    expect(existsSync(home)).toBe(false);
  });

  test('a script, a build and a pipe hear nothing of it', () => {
    const terminal = { isTTY: true };
    expect(isNoticeWanted(['status', '1'], {}, terminal)).toBe(true);
    expect(isNoticeWanted(['status', '1'], { CI: 'true' }, terminal)).toBe(false);
    expect(isNoticeWanted(['status', '1'], { NO_UPDATE_NOTIFIER: '1' }, terminal)).toBe(false);
    expect(isNoticeWanted(['status', '1'], {}, { isTTY: false })).toBe(false);
    for (const word of ['--json', '--json=status', '--ndjson', '--quiet', '-q', '--version', 'mcp']) {
      expect(isNoticeWanted(['status', word], {}, terminal), word).toBe(false);
    }
  });
});

describe('how it was installed', () => {
  const made = (folder: string, files: Record<string, string> = {}) => {
    const path = join(place.home, folder);
    mkdirSync(path, { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
    return join(path, 'node_modules/farelock/bin/farelock.js');
  };
  const project = { 'package.json': '{"devDependencies":{"farelock":"^0.1.0"}}' };
  test.each([
    ['npm', () => made('usr/lib'), 'npm install --global farelock@latest'],
    ['npx', () => made('.npm/_npx/1a2b', { 'package.json': '{}' }), 'npx farelock@latest'],
    ['pnpm', () => made('share/pnpm/global/5'), 'pnpm add --global farelock@latest'],
    ['project', () => made('shop', project), 'npm install farelock@latest'],
    ['project', () => made('shop2', { ...project, 'pnpm-lock.yaml': '' }), 'pnpm add farelock@latest'],
    ['checkout', () => join(place.home, 'src/farelock/bin/farelock.js'), 'git pull && npm run setup'],
  ])('%s', (by, script, command) => {
    expect(installationOf(script())).toEqual({ by, command });
  });
});
