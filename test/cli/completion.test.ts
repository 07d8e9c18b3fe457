import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isHere } from '../needs.mjs';
import { proofTest } from '../proof-only.ts';
import { isProof } from '../rounds.ts';
import { ANA, runInMemory, temporaryHome } from './memory.ts';

/** Shell completion: what may stand at the cursor, and the scripts in the shells themselves. */

const { home, close } = temporaryHome();
const environment = { FARELOCK_HOME: home, FARELOCK_TICKETING_MS: '10' };
afterAll(close);

async function complete(...words: string[]): Promise<string[]> {
  const run = await runInMemory(['complete', 'bash', '--', ...words], { environment });
  expect([run.exitCode, run.stderr]).toEqual([0, '']);
  return run.stdout.split('\n').filter(Boolean);
}

let intentId = '';
let orderId = '';

beforeAll(async () => {
  const searched = await runInMemory(['search', 'LIS', 'BER', '--depart', '+30d', '--json'], { environment });
  const offers = searched.json().offers as { offer_id: string; total_currency: string }[];
  const offerId = offers.find((one) => one.total_currency === 'USD')?.offer_id ?? '';
  const made = await runInMemory(['intent', 'create', offerId, '--json'], { environment });
  intentId = String(made.json().intent_id);
  const booked = await runInMemory(['book', intentId, '--passengers', '-', '--yes', '--json'], {
    environment,
    stdin: JSON.stringify([ANA]),
  });
  orderId = String(booked.json().order_id);
  await runInMemory(['travellers', 'add', 'ana', '-'], { environment, stdin: JSON.stringify(ANA) });
  await runInMemory(['partner', 'orders', 'list'], { environment });
  await runInMemory(['config', 'profile', 'add', 'staging', '--flights-url', 'https://flights.example'], {
    environment,
  });
});

describe('at the cursor may stand', () => {
  test('commands, and those of a group', async () => {
    expect(await complete('sea')).toEqual(['search']);
    expect(await complete('')).toEqual(expect.arrayContaining(['search', 'book', 'completion', 'schema']));
    expect(await complete('')).not.toContain('complete');
    expect(await complete('intent', 'l')).toEqual(['list']);
    expect(await complete('keys', 'partner', 'r')).toEqual(['revoke', 'rotate']);
  });

  test('options, of the command and everywhere, and their choices in both forms', async () => {
    expect(await complete('search', 'LIS', 'BER', '--max')).toEqual([
      '--max-stops',
      '--max-duration',
      '--max-price',
      '--max-payment',
    ]);
    expect(await complete('search', '--cabin', 'b')).toEqual(['business']);
    // bash takes `--cabin=b` apart.
    expect(await complete('search', '--cabin', '=', 'b')).toEqual(['business']);
    expect(await complete('search', '--cabin', '=')).toContain('economy');
    const zsh = await runInMemory(['complete', 'zsh', '--', 'search', '--cabin=b'], { environment });
    expect(zsh.stdout).toBe('--cabin=business\n');
    expect(await complete('partner', 'orders', 'list', '--status', 'await')).toEqual(['AWAITING_FUNDS']);
    expect(await complete('search', '--', '--max')).toEqual([]);
  });

  test('airports by code and by city, each a word that search takes', async () => {
    expect(await complete('search', 'lis')).toEqual(['LIS', 'lisbon']);
    expect(await complete('search', 'LIS', 'ny')).toEqual(['NYC']);
    expect(await complete('search', 'LIS', 'lond')).toEqual(expect.arrayContaining(['london-heathrow']));
    expect(await complete('search', 'LIS', 'BER', 'x')).toEqual([]);
    expect(await complete('search', '--depart', '+30d', 'sao')).toContain('sao-paulo-guarulhos');
  });

  test('ids of intents, orders and payments made from here, and names of travellers and profiles', async () => {
    expect(await complete('status', 'int_')).toEqual([intentId]);
    expect(await complete('order', '')).toEqual(expect.arrayContaining([intentId, orderId]));
    expect((await complete('payments', 'show', 'pay_')).length).toBeGreaterThan(1);
    expect(await complete('book', intentId, '--traveller', 'a')).toEqual(['ana']);
    expect(await complete('status', '--profile', 's')).toEqual(['staging']);
    expect(await complete('config', 'profile', 'use', '')).toEqual(['local', 'staging']);
  });

  test('fields of --json, codes of errors, settings, and files', async () => {
    expect(await complete('search', 'LIS', 'BER', '--json', 'off')).toEqual(['offers']);
    expect(await complete('search', 'LIS', 'BER', '--json', 'offers,pay')).toContain('offers,payment');
    expect(await complete('explain', 'offer_e')).toEqual(['offer_expired']);
    expect(await complete('config', 'get', 'flights')).toEqual(['flights_url']);
    expect(await complete('book', intentId, '--passengers', 'p')).toEqual([':files']);
  });

  test('nothing, and no complaint, where nothing is known', async () => {
    const empty = temporaryHome();
    const run = await runInMemory(['complete', 'bash', '--', 'status', ''], {
      environment: { FARELOCK_HOME: join(empty.home, 'none') },
    });
    empty.close();
    expect(run).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
    expect(await complete('no-such-command', 'x')).toEqual([]);
  });
});

describe('the script', () => {
  const bin = join(home, 'bin');
  const has = (shell: string) => isHere(shell, spawnSync(shell, ['--version']).error === undefined);
  let path = '';

  beforeAll(async () => {
    mkdirSync(bin, { recursive: true });
    const entry = resolve(import.meta.dirname, '../../bin/farelock.js');
    const built = join(bin, 'farelock');
    // A line that is run shows its words; what completes it is the tool itself.
    writeFileSync(
      built,
      `#!/bin/sh\n[ "$1" = complete ] || { printf '<%s>' "$@"; echo; exit; }\nexec ${process.execPath} ${entry} "$@"\n`,
    );
    chmodSync(built, 0o755);
    path = `${bin}:${process.env.PATH ?? ''}`;
    for (const shell of ['bash', 'zsh', 'fish']) {
      const run = await runInMemory(['completion', shell]);
      expect(run.stdout).toContain('To install');
      writeFileSync(join(home, `completion.${shell}`), run.stdout);
    }
  });

  /** What bash would offer for a line, by the function that is registered for the tool. */
  const inBash = (...words: string[]): string[] => {
    const script = [
      'set -u',
      `source ${join(home, 'completion.bash')}`,
      'complete -p farelock >/dev/null || exit 9',
      `COMP_WORDS=(farelock ${words.map((word) => `'${word}'`).join(' ')})`,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: bash's own
      'COMP_CWORD=$((${#COMP_WORDS[@]} - 1))',
      '_farelock',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: bash's own
      'printf "%s\\n" "${COMPREPLY[@]}"',
    ].join('\n');
    return execFileSync('bash', ['--norc', '-c', script], {
      env: { ...environment, PATH: path, HOME: home },
      cwd: home,
      encoding: 'utf8',
    })
      .split('\n')
      .filter(Boolean);
  };

  test.runIf(has('bash'))('completes in bash', () => {
    expect(inBash('sea')).toEqual(['search']);
    expect(inBash('search', 'lis')).toEqual(['LIS', 'lisbon']);
    expect(inBash('status', 'int_')).toEqual([intentId]);
    expect(inBash('search', '--cabin', '=', 'b')).toEqual(['business']);
    expect(inBash('partner', 'orders', 'show', 'rmp_demo_wai')).toEqual(['rmp_demo_waiting']);
    expect(inBash('book', '--passengers', 'completion.b')).toEqual(['completion.bash']);
  });

  /** Types lines at the prompt of a zsh on a terminal of its own; each completed line is run, and shows its words. */
  const inZsh = (lines: Readonly<Record<string, string>>): string => {
    const script = [
      'zmodload zsh/zpty',
      `zpty -b shell "env PATH='${path}' HOME='${home}' TERM=dumb zsh -f -i"`,
      // Without -D it writes a dump; to /dev/null that would be a rename, which as root takes the device away.
      `zpty -w shell "PS1='> '; cd '${home}'; autoload -Uz compinit; compinit -u -D"`,
      `zpty -w shell "source completion.zsh; print rea''dy"`,
      "zpty -r shell said '*ready*'",
      ...Object.entries(lines).flatMap(([typed, shown]) => [
        `zpty -w -n shell $'farelock ${typed}\\t\\n'`,
        `zpty -r shell said '*${shown}*'`,
        `print -r -- '${shown}'`,
      ]),
      'zpty -d shell',
    ].join('\n');
    return execFileSync('zsh', ['-f', '-c', script], {
      env: { ...environment, PATH: path, HOME: home },
      encoding: 'utf8',
      timeout: 20_000,
    });
  };

  proofTest.runIf(isProof && has('zsh'))('completes at the prompt of zsh', () => {
    const lines = {
      sea: '<search>',
      'explain offer_e': '<explain><offer_expired>',
      'search --cabin=b': '<search><--cabin=business>',
      'book --passengers completion.z': '<book><--passengers><completion.zsh>',
      'status int_': `<status><${intentId}>`,
      'partner orders show rmp_demo_wai': '<partner><orders><show><rmp_demo_waiting>',
    };
    expect(inZsh(lines).trim().split('\n')).toEqual(Object.values(lines));
  });

  const inFish = (line: string): string[] =>
    execFileSync(
      'fish',
      ['--no-config', '-c', `source ${join(home, 'completion.fish')}; complete -C ${JSON.stringify(line)}`],
      { env: { ...environment, PATH: path, HOME: home }, cwd: home, encoding: 'utf8' },
    )
      .split('\n')
      .filter(Boolean);

  proofTest.runIf(isProof && has('fish'))('completes in fish, with what each word is', () => {
    expect(inFish('farelock sea')).toEqual([expect.stringMatching(/^search\t/)]);
    expect(inFish('farelock explain offer_e')).toEqual(['offer_expired']);
    expect(inFish('farelock search --cabin=b')).toEqual(['--cabin=business']);
    expect(inFish('farelock search --cabin b')).toEqual(['business']);
    expect(inFish('farelock book --passengers completion.f')).toContain('completion.fish');
    expect(inFish('farelock status int_')).toEqual([expect.stringMatching(`^${intentId}\tLIS-BER`)]);
    expect(inFish('farelock partner orders show rmp_demo_wai')).toEqual([
      'rmp_demo_waiting\tpar_sandbox_bank, AWAITING_FUNDS',
    ]);
  });
});
