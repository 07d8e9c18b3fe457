import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Address } from '@solana/kit';
import { expect, test } from 'vitest';
import { ESCROW_PROGRAM_ID } from '../../src/escrow/address.ts';
import { escrowElf } from '../../src/escrow/elf.ts';
import { problem } from '../../src/kernel/problems.ts';
import { lineOf, quoted } from '../../src/kernel/shell-word.ts';
import { shownUrl } from '../../src/kernel/shown-url.ts';
import { hastyClock } from '../clock.ts';
import { openRpcEndpoint, type RpcEndpoint } from '../interop/rpc-endpoint.ts';
import { type MemoryRun, runInMemory, temporaryHome } from './memory.ts';

const KEY = 'aKeyOfThirtyTwoLettersAndDigits1';

test('an address is shown without what may be a key in it', () => {
  expect(shownUrl(`https://rpc.example/v2/${KEY}?api-key=${KEY}#${KEY}`)).toBe('https://rpc.example/v2/…?…');
  expect(shownUrl(`postgres://desk:${KEY}@db.example:5432/farelock`)).toBe('postgres://…@db.example:5432/farelock');
  expect(shownUrl(`HTTPS://${KEY}@a.example`)).toBe('HTTPS://…@a.example');
  expect(shownUrl('https://rpc.example/v2/s3cret')).toBe('https://rpc.example/v2/…');
  expect(shownUrl(`https://chat.example/bot12:${KEY}/send`)).toBe('https://chat.example/…/send');
  // Passwords that nobody escaped.
  for (const password of ['k@y', 'k/y', 'k?y', 'k#y', 'k:y', 'k@/?#y']) {
    expect(shownUrl(`postgres://desk:${password}@db.example/farelock`)).not.toMatch(/desk|k@|k\/|y@|k[?#:]|y/);
  }
  for (const whole of ['https://api.devnet.solana.com', 'http://127.0.0.1:4020/rpc', 'devnet', '/a/b']) {
    expect(shownUrl(whole)).toBe(whole);
  }
});

test('a command to repeat has none of it either', () => {
  const url = `postgres://desk:${KEY}@db.example/farelock`;
  for (const argv of [
    ['serve', '--database-url', url],
    ['serve', `--database-url=${url}`],
  ]) {
    expect(lineOf({ argv })).not.toContain(KEY);
    expect(lineOf({ argv })).toContain('postgres://…@db.example/farelock');
  }
  expect(lineOf({ argv: ['search', '--depart', 'x y'] })).toBe("farelock search --depart 'x y'");
});

test('a server that cannot reach its database or cluster does not repeat their addresses', async () => {
  const place = temporaryHome();
  const environment = { FARELOCK_HOME: place.home };
  try {
    for (const given of [
      ['--database-url', `postgres://desk:${KEY}@127.0.0.1:9/x`],
      ['--rpc-url', `http://127.0.0.1:9/v2/${KEY}?api-key=${KEY}`],
    ]) {
      const ran = await runInMemory(['serve', '--port', '0', '--verbose', ...given], {
        environment,
        clock: hastyClock(),
      });
      expect(ran.exitCode).not.toBe(0);
      expect(ran.stdout + ran.stderr).not.toContain(KEY);
    }
  } finally {
    place.close();
  }
});

const rpcWithKey = async () => {
  const endpoint = await openRpcEndpoint([{ address: ESCROW_PROGRAM_ID, elf: escrowElf }]);
  return { endpoint, address: `${endpoint.url}v2/${KEY}?api-key=${KEY}` };
};

test('serve shows no key of its cluster: neither in JSON, nor to people, nor in a command to copy', async () => {
  const place = temporaryHome();
  const { endpoint, address } = await rpcWithKey();
  const file = join(place.home, 'rpc address');
  writeFileSync(file, `${address}\n`);
  try {
    const ways: [string[], Record<string, string>, RegExp | null][] = [
      [['--rpc-url', address], {}, /--rpc-url holds a key[\s\S]*FARELOCK_RPC_URL_FILE/],
      [['--rpc-url', `${endpoint.url},${address}`], {}, /--rpc-url holds a key/],
      [['--rpc-url', endpoint.url, '--rpc-url', address], {}, /--rpc-url holds a key/],
      [[], { FARELOCK_RPC_URL: address }, null],
      [[], { FARELOCK_RPC_URL_FILE: file }, null],
    ];
    for (const [argv, environment, warning] of ways) {
      for (const json of [['--json'], []]) {
        const run = await served(
          ['serve', '--port', '0', '--verbose', ...argv, ...json],
          { FARELOCK_HOME: place.home, ...environment },
          endpoint,
        );
        expect(run.exitCode, run.stdout + run.stderr).toBe(0);
        const said = run.stdout + run.stderr;
        expect(said).not.toContain(KEY);
        expect(run.stdout).toContain(new URL(address).host);
        if (warning) expect(run.stderr).toMatch(warning);
        else expect(run.stderr).not.toMatch(/holds a key/);
      }
    }
  } finally {
    await endpoint.close();
    place.close();
  }
});

/** Serves until it listens and stops it then; gives the operator's keys what they need first. */
async function served(
  argv: string[],
  environment: Record<string, string>,
  { cluster }: RpcEndpoint,
): Promise<MemoryRun> {
  for (let start = 0; ; start++) {
    const stop = new AbortController();
    const run = await runInMemory(argv, {
      environment,
      interrupted: stop.signal,
      onStdout: () => setTimeout(() => stop.abort(problem('interrupted')), 20),
    });
    const said = run.stdout + run.stderr;
    const poor = [...said.matchAll(/the (?:authority|facilitator) (\w+) holds/g)].flatMap((one) => one[1] ?? []);
    if (poor.length === 0 || start > 1) return run;
    for (const key of poor) await cluster.airdropSol(key as Address, 10_000_000_000n);
  }
}

test('lists of profiles and settings show no key of an address, and a file can hold it', async () => {
  const place = temporaryHome();
  const environment = { FARELOCK_HOME: place.home };
  const run = (line: string) => runInMemory(line.split(' '), { environment });
  try {
    await run(
      `config profile add prod --flights-url https://fly.example/t/${KEY} --rpc-url https://rpc.example/v2/${KEY}#${KEY}`,
    );
    for (const line of ['config profile list', 'config profile list --json', '--profile prod config list --json']) {
      const shown = await run(line);
      expect(shown.stdout).toContain('rpc.example');
      expect(shown.stdout + shown.stderr).not.toContain(KEY);
    }
  } finally {
    place.close();
  }
});

test('a path in a command to copy is quoted for a shell', () => {
  expect(['plain', 'a b', "it's", '$HOME', '`x`', '"', ''].map(quoted)).toEqual([
    'plain',
    "'a b'",
    "'it'\\''s'",
    "'$HOME'",
    "'`x`'",
    `'"'`,
    "''",
  ]);
});
