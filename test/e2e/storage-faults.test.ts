import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import bs58 from 'bs58';
import Sqlite from 'libsql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fastClockEnv } from '../clock.ts';
import { cases, proofTest } from '../proof-only.ts';
import { BIN, farelockIn, type Ran, serveIn } from './farelock.ts';
import { faultLibrary } from './fault.ts';

/**
 * Every fault of storage has a code of its own, the file's name and a way back, on the command line and in the log of a
 * server; a stranger is told neither a path nor the inside. The faults are the system's own, made by a library that is
 * loaded before libc where there is a C compiler.
 */

const folder = mkdtempSync(join(tmpdir(), 'farelock-faults-'));
const used = join(folder, 'used');
const shim = faultLibrary(folder);

const ENOSPC = 28;
const EIO = 5;
const EROFS = 30;
const EMFILE = 24;
const EACCES = 13;

beforeAll(async () => {
  const made = await farelockIn({}, used).run(['wallet', 'balance', '--json']);
  expect(made.exitCode, made.stdout + made.stderr).toBe(0);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const newWallet = (): string =>
  bs58.encode(generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' }).subarray(-32));

let homes = 0;
function copyOfUsed(): string {
  const home = join(folder, `home-${homes++}`);
  cpSync(used, home, { recursive: true });
  return home;
}

const failing = (file: string, calls: string, errno: number, meanwhile?: string): Record<string, string> => ({
  LD_PRELOAD: shim ?? '',
  FAULT_FILE: file,
  FAULT_CALLS: calls,
  FAULT_ERRNO: String(errno),
  ...(meanwhile === undefined ? {} : { FAULT_WHILE: meanwhile }),
});

interface Told {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly fix: string;
    readonly retryable: boolean;
    readonly next: readonly string[];
  };
}

function expectTold(ran: Ran, code: string, exitCode: number, file: string): void {
  const { error } = ran.json<Told>();
  expect([error.code, ran.exitCode], ran.stdout + ran.stderr).toEqual([code, exitCode]);
  expect(error.message).toContain(file);
  expect(error.fix).not.toBe('');
  expect(error.next.length).toBeGreaterThan(0);
  expect(error.retryable).toBe(exitCode === 7);
  expect(ran.stdout + ran.stderr).not.toMatch(/^\s+at /m);
}

const SEARCH = ['search', 'LIS', 'BER', '--depart', '+30d', '--json'];

describe.runIf(shim !== null)('a fault of a file, on the command line', () => {
  test.each(
    cases<[string, number, string, string, number, string[]]>(
      [
        ['storage_full', 7, 'service.db', 'write', ENOSPC, SEARCH],
        ['storage_failed', 7, 'ledger.db', 'write', EIO, SEARCH],
        ['storage_not_writable', 4, 'service.db', 'open', EROFS, SEARCH],
        ['too_many_open_files', 7, 'client.db', 'open', EMFILE, SEARCH],
      ],
      [
        ['storage_full', 7, 'ledger.db', 'fsync', ENOSPC, SEARCH],
        ['storage_full', 7, 'client.db', 'write', ENOSPC, SEARCH],
        ['storage_failed', 7, 'service.db', 'fsync', EIO, SEARCH],
        ['storage_failed', 7, 'client.db', 'open', EIO, SEARCH],
        ['storage_not_writable', 4, 'ledger.db', 'write', EROFS, SEARCH],
        ['storage_full', 7, 'config.json', 'write', ENOSPC, ['wallet', 'limits', 'set', '--per-day', '5', '--json']],
      ],
    ),
  )('is %s, exit %i, of %s at %s', async (code, exitCode, file, calls, errno, args) => {
    // A settings file is written aside first, under a name of its own.
    const part = file === 'config.json' ? '/home-' : file;
    const ran = await farelockIn(failing(part, calls, errno), copyOfUsed()).run(args);
    expectTold(ran, code, exitCode, file);
  });

  test.each([
    ['the home cannot be made', 'mkdir', EACCES, 'storage_not_writable', 4, ''],
    ['the home is on a disk that is read only', 'mkdir', EROFS, 'storage_not_writable', 4, ''],
    ['its keys do not fit', 'write', ENOSPC, 'storage_full', 7, 'keys/'],
  ])(
    '%s: it is named, and so is FARELOCK_HOME where another one helps',
    async (_what, calls, errno, code, exit, file) => {
      const home = join(folder, `new-${homes++}`);
      const ran = await farelockIn(failing(join(home, file), calls, errno), home).run(['wallet', 'show', '--json']);
      expectTold(ran, code, exit, home);
      if (code === 'storage_not_writable') expect(ran.json<Told>().error.fix).toContain('FARELOCK_HOME');
    },
  );

  test('a write that fails is paid for once: the same search goes on with it when there is room again', async () => {
    const home = copyOfUsed();
    const full = join(folder, 'full-while-paying');
    writeFileSync(full, '');
    const ran = await farelockIn(failing('service.db', 'fsync', ENOSPC, full), home).run(SEARCH);
    expect(ran.json<Told>().error.code).toBe('storage_full');
    rmSync(full);
    const again = await farelockIn({}, home).run(SEARCH);
    expect(again.exitCode, again.stdout + again.stderr).toBe(0);
    const payments = await farelockIn({}, home).run(['payments', 'list', '--json']);
    expect(payments.json<{ payments: unknown[] }>().payments).toHaveLength(1);
  });
});

test.runIf(process.platform === 'linux')(
  'a result that does not fit on the disk behind standard output is storage_full, and said beside it',
  async () => {
    const { env } = farelockIn({}, copyOfUsed());
    const ran = spawnSync(
      'sh',
      ['-c', 'exec "$0" "$@" > /dev/full', process.execPath, BIN, 'payments', 'list', '--json'],
      { env: { ...process.env, ...env }, encoding: 'utf8' },
    );
    expect([ran.status, ran.stdout], ran.stderr).toEqual([7, '']);
    expect(ran.stderr).toContain('standard output');
    expect(ran.stderr).not.toMatch(/^\s+at /m);
  },
  60_000,
);

test('a damaged file is storage_damaged, and named', async () => {
  const home = copyOfUsed();
  writeFileSync(join(home, 'client.db'), 'this was a database once'.repeat(400));
  expectTold(await farelockIn({}, home).run(SEARCH), 'storage_damaged', 1, 'client.db');
  writeFileSync(join(home, 'keys', 'service.json'), '{"keys":[{"id":"a"');
  const ran = await farelockIn({}, home).run(['partner', 'orders', 'list', '--json']);
  expectTold(ran, 'storage_damaged', 1, 'service.json');
});

proofTest.runIf(process.platform === 'linux')(
  'a process that may open no more files says so, and ends without a stack',
  async () => {
    const home = copyOfUsed();
    const seen = new Set<string>();
    for (const most of [24, 28, 32]) {
      const ran = spawnSync('sh', ['-c', `ulimit -n ${most}; exec "$0" "$@"`, process.execPath, BIN, ...SEARCH], {
        env: { ...process.env, ...farelockIn({}, home).env },
        encoding: 'utf8',
      });
      expect(ran.stdout + ran.stderr).not.toMatch(/^\s+at /m);
      const found = /"code":"(\w+)"/.exec(ran.stdout)?.[1];
      if (found !== undefined) seen.add(found);
    }
    expect([...seen]).toEqual(seen.size === 0 ? [] : ['too_many_open_files']);
  },
);

describe.runIf(shim !== null)('a fault of a file, while serving', () => {
  test.each(
    cases(
      [['storage_full', '.db', ENOSPC]],
      [
        ['storage_full', 'service.db', ENOSPC],
        ['storage_failed', 'ledger.db', EIO],
      ],
    ),
  )('is %s of %s: /ready is 503 until it is over, /health stays 200, no path leaves', async (code, file, errno) => {
    const home = copyOfUsed();
    const broken = join(folder, `broken-${homes++}`);
    const faulty = failing(file, 'write,fsync', errno, broken);
    const runner = farelockIn({ ...faulty, ...fastClockEnv(5) }, home);
    const served = await serveIn(runner);
    const status = async (path: string) => (await fetch(`${served.flightsUrl}${path}`)).status;
    const register = () =>
      fetch(`${served.flightsUrl}/affiliates`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ wallet: newWallet() }),
      });
    try {
      await expect.poll(() => status('/ready'), { timeout: 15_000, interval: 500 }).toBe(200);
      expect((await register()).status).toBe(201);
      writeFileSync(broken, '');
      await new Promise((passed) => setTimeout(passed, 1_100));
      expect([await status('/ready'), await status('/health')]).toEqual([503, 200]);
      if (file !== 'ledger.db') {
        const answer = await register();
        const body = await answer.text();
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
        expect(JSON.parse(body)).toMatchObject({ code });
        expect(body).not.toMatch(/\.db|\/tmp|SQLITE|ENOSPC|EIO/);
      }
      rmSync(broken);
      await expect.poll(() => status('/ready'), { timeout: 15_000, interval: 500 }).toBe(200);
      expect((await register()).status).toBe(201);
    } finally {
      expect(await served.stop()).toBe(0);
    }
    const lines = served.log();
    expect(lines).toContain(`"event":"storage_trouble","error_code":"${code}"`);
    expect(lines).toContain(file === '.db' ? `${home}/` : join(home, file));
    expect(lines).not.toMatch(/^\s+at /m);
  });
});

proofTest('a file that another process keeps locked is storage_locked, and named', async () => {
  const home = copyOfUsed();
  const holder = new Sqlite(join(home, 'service.db'));
  holder.exec('begin immediate');
  expectTold(await farelockIn({}, home).run(SEARCH), 'storage_locked', 7, 'service.db');
  holder.close();
});
