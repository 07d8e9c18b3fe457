import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { profileOf } from '../../src/cli/session/profile-in-use.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { lockBeside } from '../../src/store/libsql/lock.ts';
import { type MemoryOptions, type MemoryRun, runInMemory, temporaryHome } from './memory.ts';

/** Flags over environment over project file over user file, and what a project file can never do. */

let place: ReturnType<typeof temporaryHome>;
let home: string;
let project: string;
beforeEach(() => {
  place = temporaryHome();
  home = join(place.home, 'home');
  project = join(place.home, 'project', 'deep', 'er');
  mkdirSync(home, { mode: 0o700 });
  mkdirSync(project, { recursive: true });
});
afterEach(() => place.close());

const run = (line: string, options: MemoryOptions = {}): Promise<MemoryRun> =>
  runInMemory(line.split(' '), {
    folder: project,
    ...options,
    environment: { FARELOCK_HOME: home, HOME: place.home, ...options.environment },
  });
const write = (path: string, value: unknown, mode = 0o600) =>
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value), { mode });
const userFile = () => join(home, 'config.json');
const projectFile = () => join(place.home, 'project', '.farelock.json');
const error = (ran: MemoryRun) => ran.json().error as { code: string; message: string; fix: string };
const profile = (environment: Record<string, string> = {}, globals: object = {}) =>
  profileOf(
    { FARELOCK_HOME: home, HOME: place.home, ...environment },
    { input: false, color: false, ...globals },
    home,
    project,
  );

async function origins(line = 'config list --show-origin --json', options: MemoryOptions = {}) {
  const ran = await run(line, options);
  expect(ran.exitCode, ran.stdout).toBe(0);
  const listed = ran.json().settings as { key: string; value: string; origin: string; source: string }[];
  return new Map(listed.map((one) => [one.key, one]));
}

const STAGING = { flights_url: 'https://flights.example', rpc_url: 'https://rpc.example/?api-key=hidden' };

describe('precedence', () => {
  test('without any file it is the embedded profile, and nothing is made', async () => {
    const listed = await origins();
    expect(listed.get('profile')).toMatchObject({ value: 'local', origin: 'default' });
    expect(listed.get('flights_url')).toMatchObject({ value: 'embedded', origin: 'default' });
    expect(() => statSync(userFile())).toThrow();
  });

  test('flags over environment over project file over user file, and the list says which won', async () => {
    write(userFile(), {
      profile: 'staging',
      profiles: { staging: { ...STAGING, keypair: '/k/user.json' }, other: STAGING },
      limits: { per_call: '2.00' },
    });
    expect((await origins()).get('profile')).toMatchObject({ value: 'staging', origin: 'user' });
    write(projectFile(), { profile: 'other', limits: { per_call: '0.50' } });
    const inProject = await origins();
    expect(inProject.get('profile')).toMatchObject({ value: 'other', origin: 'project' });
    expect(inProject.get('limits.per_call')).toMatchObject({ value: '0.50', origin: 'project' });
    const environment = { FARELOCK_PROFILE: 'staging', FARELOCK_KEYPAIR: '/k/env.json' };
    const inEnvironment = await origins(undefined, { environment });
    expect(inEnvironment.get('profile')).toMatchObject({ value: 'staging', origin: 'environment' });
    expect(inEnvironment.get('keypair')).toMatchObject({
      value: '/k/env.json',
      origin: 'environment',
      source: 'FARELOCK_KEYPAIR',
    });
    const byFlag = await origins('config list --json --profile other --keypair /k/flag.json', { environment });
    expect(byFlag.get('profile')).toMatchObject({ value: 'other', origin: 'flag', source: '--profile' });
    expect(byFlag.get('keypair')).toMatchObject({ value: '/k/flag.json', origin: 'flag' });
  });

  test('addresses in the environment are a profile of their own, without the keys of another', async () => {
    write(userFile(), {
      profile: 'staging',
      profiles: { staging: { ...STAGING, operator_key_file: '/k/op', keypair: '/k/user.json' } },
    });
    const alone = await profile({ FARELOCK_FLIGHTS_URL: 'https://elsewhere.example' });
    expect(alone).toMatchObject({
      name: 'environment',
      flightsUrl: 'https://elsewhere.example',
      operatorKeyFile: null,
      keypair: null,
    });
    const named = await profile({ FARELOCK_FLIGHTS_URL: 'https://elsewhere.example', FARELOCK_PROFILE: 'staging' });
    expect(named).toMatchObject({ flightsUrl: 'https://elsewhere.example', operatorKeyFile: null });
    expect(named.notes.join()).toMatch(/operator_key_file of profile staging is not used/);
    expect((await profile()).operatorKeyFile).toBe('/k/op');
  });

  test('local is embedded whatever addresses the environment has', async () => {
    const named = await profile({ FARELOCK_FLIGHTS_URL: 'https://x.example' }, { profile: 'local' });
    expect(named).toMatchObject({ name: 'local', isEmbedded: true, flightsUrl: null });
  });
});

describe('a project file', () => {
  test.each([
    ['keypair', { keypair: '/tmp/evil.json' }],
    ['flights_url', { flights_url: 'https://evil.example' }],
    ['rpc_url', { rpc_url: 'https://evil.example' }],
    ['api_key_file', { api_key_file: '/home/me/.ssh/id_ed25519' }],
    ['profiles', { profiles: { staging: { flights_url: 'https://evil.example' } } }],
  ])('that sets %s is refused, and named', async (key, content) => {
    write(projectFile(), content);
    const ran = await run('payments list --json');
    expect(ran.exitCode).toBe(2);
    expect(error(ran)).toMatchObject({ code: 'settings_invalid' });
    expect(error(ran).message).toContain(projectFile());
    expect(error(ran).message).toContain(key);
    expect((await run('payments list', { environment: { FARELOCK_PROJECT_FILE: 'off' } })).exitCode).toBe(0);
  });

  test('lowers limits and narrows hosts, and never the other way', async () => {
    write(userFile(), {
      limits: { per_call: '1.00', per_day: '5', booking: '100', hosts: ['a.example', 'b.example'] },
    });
    write(projectFile(), {
      limits: { per_call: '9', per_day: '2', booking: '1000', hosts: ['b.example', 'evil.example'] },
    });
    expect((await profile()).limits).toEqual({
      perCall: 1_000_000n,
      perDay: 2_000_000n,
      booking: 100_000_000n,
      hosts: ['b.example'],
    });
  });

  test('can’t raise the usual cap of a call where the user has set none', async () => {
    write(projectFile(), { limits: { per_call: '50' } });
    expect((await profile()).limits.perCall).toBeNull();
    write(projectFile(), { limits: { hosts: ['evil.example'] } });
    expect((await profile()).limits.hosts).toEqual(['evil.example']);
  });

  test('chooses among the user’s profiles only, and that is said', async () => {
    write(userFile(), { profiles: { staging: STAGING } });
    write(projectFile(), { profile: 'staging' });
    expect(await profile()).toMatchObject({ name: 'staging', isProjectsChoice: true });
    expect((await run('config get profile')).stderr).toContain(`Profile staging, chosen by ${projectFile()}`);
    write(projectFile(), { profile: 'unheard' });
    expect(error(await run('config list --json')).message).toContain(projectFile());
  });
});

describe('a wrong file is named with its key', () => {
  test.each<[unknown, RegExp]>([
    ['{', /config\.json: the file is not JSON/],
    [{ profiles: { a: { flight_url: 'https://x' } } }, /profiles\.a\.flight_url is not a setting/],
    [{ profiles: { a: { flights_url: 'ftp://x' } } }, /profiles\.a\.flights_url is not an http address/],
    [{ profiles: { a: { flights_url: 'https://me:pw@x' } } }, /profiles\.a\.flights_url is not an http/],
    [{ profiles: { a: { api_key_file: 'flk_live_secret' } } }, /profiles\.a\.api_key_file is not the path/],
    [{ profiles: { local: { flights_url: 'https://x' } } }, /profiles\.local\.flights_url cannot be/],
    [{ profiles: { a: { rpc_url: 'https://x', cluster: 'devnet' } } }, /profiles\.a\.cluster/],
    [{ limits: { per_day: 5 } }, /limits\.per_day must be a string/],
    [{ limits: { per_day: '-1' } }, /limits\.per_day is not an amount/],
    [{ profile: '../x' }, /profile is not the name/],
  ])('%j', async (content, said) => {
    write(userFile(), content);
    const ran = await run('payments list --json');
    expect(ran.exitCode).toBe(2);
    expect(error(ran).message).toMatch(said);
    expect(ran.stdout).not.toContain('flk_live_secret');
  });

  test('one that others can write is refused', async () => {
    write(userFile(), {});
    chmodSync(userFile(), 0o666);
    expect(error(await run('payments list --json'))).toMatchObject({
      code: 'settings_invalid',
      fix: `Run: chmod 600 ${userFile()}`,
    });
  });
});

describe('config', () => {
  test('adds, lists, uses and removes profiles, in a file that only its owner can read', async () => {
    const added = await run(
      'config profile add staging --flights-url https://flights.example/ --cluster d --keypair /k/me.json',
    );
    expect(added.exitCode, added.stderr).toBe(0);
    expect(statSync(userFile()).mode & 0o777).toBe(0o600);
    expect((await run('config profile add staging --flights-url https://x')).exitCode).toBe(2);
    expect((await run('config profile use staging')).exitCode).toBe(0);
    expect(await profile()).toMatchObject({
      name: 'staging',
      flightsUrl: 'https://flights.example',
      rpcUrls: ['https://api.devnet.solana.com'],
      keypair: '/k/me.json',
    });
    const listed = (await run('config profile list --json')).json().profiles;
    expect(listed).toMatchObject([{ name: 'local' }, { name: 'staging', used: true, cluster: 'd' }]);
    expect((await run('config profile remove staging')).exitCode).toBe(0);
    expect((await run('config get profile')).stdout).toBe('local\n');
  });

  test('sets, gets and unsets; wrong values and unknown settings are usage errors', async () => {
    await run('config profile add staging --partner-url https://partner.example --use');
    const set = await run('config set rpc_url https://rpc.example/?api-key=hidden');
    expect(set).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('hidden') });
    expect((await run('config get rpc_url')).stdout).toBe('https://rpc.example/?api-key=hidden\n');
    const listed = await run('config list');
    expect(listed.stdout).toContain('https://rpc.example/?…');
    expect(listed.stdout).not.toContain('hidden');
    expect((await run('config set cluster testnet')).exitCode).toBe(0);
    expect((await run('config get rpc_url')).stdout).toBe('https://api.testnet.solana.com\n');
    expect((await run('config unset cluster')).exitCode).toBe(0);
    expect((await run('config get rpc_url')).stdout).toBe('');
    expect((await run('config set rpc_url nonsense')).exitCode).toBe(2);
    expect((await run('config set colour red')).exitCode).toBe(2);
    expect((await run('config set flights_url https://x --profile local')).stderr).toMatch(/local is embedded/);
    expect((await run('search LIS BER --depart +30d')).stderr).toMatch(/Profile staging has no flights_url/);
  });

  test('names several addresses of a cluster, and shows them without their keys', async () => {
    const added = await run(
      'config profile add staging --flights-url https://x.example --rpc-url https://a.example/?key=hidden --rpc-url devnet,https://b.example/hidden1 --use',
    );
    expect(added.exitCode, added.stderr).toBe(0);
    const rpcUrls = ['https://a.example/?key=hidden', 'https://api.devnet.solana.com', 'https://b.example/hidden1'];
    expect((await profile()).rpcUrls).toEqual(rpcUrls);
    const shown = 'https://a.example/?…,https://api.devnet.solana.com,https://b.example/…';
    expect((await origins()).get('rpc_url')?.value).toBe(shown);
    for (const line of ['config list', 'config profile list']) {
      const { stdout } = await run(line, { terminal: true, columns: 200 });
      expect(stdout).toContain(shown);
      expect(stdout).not.toContain('hidden');
    }
    const file = join(place.home, 'addresses');
    write(file, 'https://c.example/one\nhttps://d.example/two\n');
    expect((await profile({ FARELOCK_RPC_URL_FILE: file })).rpcUrls).toEqual([
      'https://c.example/one',
      'https://d.example/two',
    ]);
    const wrong = await run('config set rpc_url https://a.example,nonsense');
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('http address')]);
  });

  test('a cap of priority fees is a number of lamports', async () => {
    const wrong = await run('serve --port 0 --json', { environment: { FARELOCK_PRIORITY_FEE_CAP: '0.1 SOL' } });
    expect(error(wrong)).toMatchObject({ code: 'usage', message: expect.stringContaining('lamports') });
  });

  test('a key is read from standard input into a private file, and never from argv', async () => {
    await run('config profile add staging --partner-url https://partner.example --use');
    const typed = await run('config set api_key flk_live_topsecretkey --json');
    expect(typed.exitCode).toBe(2);
    expect(typed.stdout).not.toContain('topsecret');
    const piped = await run('config set api_key -', { stdin: 'flk_live_topsecretkey\n' });
    expect(piped.exitCode, piped.stderr).toBe(0);
    expect(piped.stdout + piped.stderr).not.toContain('topsecret');
    const { apiKeyFile } = await profile();
    expect(readFileSync(apiKeyFile ?? '', 'utf8')).toBe('flk_live_topsecretkey\n');
    expect(statSync(apiKeyFile ?? '').mode & 0o777).toBe(0o600);
    expect(readFileSync(userFile(), 'utf8')).not.toContain('topsecret');
  });

  test('--dry-run changes nothing', async () => {
    await run('config profile add staging --flights-url https://f.example');
    const before = readFileSync(userFile(), 'utf8');
    for (const line of [
      'config profile add other --flights-url https://f.example',
      'config profile use staging',
      'config profile remove staging',
      'config set flights_url https://g.example --profile staging',
      'config set api_key - --profile staging',
      'config unset flights_url --profile staging',
      'wallet limits set --per-day 5',
    ]) {
      const ran = await run(`${line} --dry-run --json`, { stdin: 'flk_live_topsecretkey' });
      expect(ran.json(), line).toMatchObject({ dry_run: true });
    }
    expect(readFileSync(userFile(), 'utf8')).toBe(before);
    expect(readdirSync(home)).not.toContain('keys');
  });

  test('a command that is suspended while it changes them keeps its turn, however long', async () => {
    const release = lockBeside(userFile());
    const hasty = { clock: { ...systemClock, sleep: async () => undefined } };
    const early = await run('config set limits.per_day 5 --json', hasty);
    expect([early.exitCode, error(early).code]).toEqual([7, 'timed_out']);
    release?.();
    expect((await run('config set limits.per_day 5', hasty)).exitCode).toBe(0);
    expect((await profile()).limits.perDay).toBe(5_000_000n);
    expect(readdirSync(home)).toEqual(['config.json']);
  });

  test('two commands that change settings at once both count', async () => {
    const ran = await Promise.all(
      ['per_call 0.40', 'per_day 3', 'booking 70'].map((given) => run(`config set limits.${given}`)),
    );
    expect(ran.map((one) => one.exitCode)).toEqual([0, 0, 0]);
    expect((await profile()).limits).toMatchObject({ perCall: 400_000n, perDay: 3_000_000n, booking: 70_000_000n });
  });
});

describe('the Solana CLI’s own settings', () => {
  const solana = () => join(place.home, '.config', 'solana', 'cli', 'config.yml');
  const given = (text: string) => {
    mkdirSync(join(solana(), '..'), { recursive: true });
    writeFileSync(solana(), text);
  };

  test('count where a profile asks for them, and only there', async () => {
    given('---\njson_rpc_url: https://api.devnet.solana.com\nkeypair_path: /k/id.json\ncommitment: finalized\n');
    expect(await profile()).toMatchObject({ isEmbedded: true, keypair: null, rpcUrls: [] });
    await run('config profile add mine --flights-url https://f.example --cluster solana-config --use');
    expect(await profile()).toMatchObject({
      rpcUrls: ['https://api.devnet.solana.com'],
      keypair: '/k/id.json',
      commitment: 'finalized',
    });
    expect((await origins()).get('keypair')).toMatchObject({ origin: 'solana', source: `${solana()}: keypair_path` });
    expect((await profile({ FARELOCK_KEYPAIR: '/k/other.json' })).keypair).toBe('/k/other.json');
  });

  test('a wrong one is named with its key, and a missing one is said', async () => {
    await run('config profile add mine --flights-url https://f.example --cluster solana-config');
    const wrong = () => run('config list --json --profile mine');
    expect(error(await wrong()).message).toContain(`${solana()}: the file does not exist`);
    given('json_rpc_url: [1, 2]\n');
    expect(error(await wrong()).message).toContain(`${solana()}: json_rpc_url must be a string`);
    given('commitment: perhaps\n');
    expect(error(await wrong()).message).toContain('commitment');
    given('a: &a [*a]\nb: {');
    expect(error(await wrong()).message).toContain('is not YAML');
  });

  test.each(['ASK', 'usb://ledger?key=0', 'prompt://'])('a keypair %s is refused with a reason', async (from) => {
    const ran = await run(`wallet show --json --keypair ${from}`);
    expect(ran.exitCode).toBe(4);
    expect(error(ran)).toMatchObject({ code: 'keypair_unreadable' });
    expect(error(ran).fix).toMatch(/keypair file/);
  });
});

test('an address of PostgreSQL names several servers, each with its port, and is never repeated', async () => {
  const environment = { FARELOCK_DATABASE_URL: 'postgres://farelock:hunter2secret@127.0.0.1:1,127.0.0.1:2/farelock' };
  const ran = await run('db status --json', { environment });
  expect(error(ran).code).toBe('database_unavailable');
  expect(ran.stdout + ran.stderr).not.toContain('hunter2secret');
});
