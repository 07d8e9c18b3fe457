import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadRecipes } from '../../src/airlines/browser/recipes/index.ts';
import { readProgress } from '../../src/cli/apply/journal.ts';
import { readCustomerData } from '../../src/cli/commands/requirements/run.ts';
import { readJson } from '../../src/cli/session/json-file.ts';
import { readKeyFile, readOwnKeyFile } from '../../src/cli/session/key-file.ts';
import { readJsonFile } from '../../src/cli/settings/file.ts';
import { givenTo } from '../../src/cli/settings/read.ts';
import { readSolanaCliConfig } from '../../src/cli/settings/solana-cli.ts';
import { readPassengerFile } from '../../src/cli/travellers/index.ts';
import { registryOf } from '../../src/cli/upgrade/latest.ts';
import { readGatewayKeys } from '../../src/flights/offers/sponsored.ts';
import { readOpen } from '../../src/kernel/bounded-file.ts';
import { ensureLine } from '../../src/kernel/secrets.ts';
import { readJsonOf } from '../../src/kernel/storage.ts';
import { loadPolicy } from '../../src/partner/compliance/policy.ts';
import { readKeypair } from '../../src/solana/keypair.ts';

/** A cloned repository, or a path from somebody else, may lead to a file without an end. */

const context = { streams: {} } as never;
const folder = mkdtempSync(join(tmpdir(), 'farelock-endless-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('settings are a regular file: a link to a device, and a pipe that nobody writes to, are refused', () => {
  const zero = join(folder, '.farelock.json');
  symlinkSync('/dev/zero', zero);
  const pipe = join(folder, 'pipe.json');
  execFileSync('mkfifo', [pipe]);
  for (const path of [zero, pipe, folder]) {
    expect(() => readJsonFile(path, false), path).toThrow(expect.objectContaining({ code: 'settings_invalid' }));
  }
});

test('a file of passengers or of data is read as far as such a file may be', async () => {
  for (const read of [readJson, readPassengerFile]) {
    await expect(read(context, '/dev/zero')).rejects.toMatchObject({ code: 'file_unreadable' });
  }
});

test('a picture of a customer is read as far as one may be', async () => {
  const data = join(folder, 'data.json');
  writeFileSync(data, JSON.stringify({ selfie: { image: '@/dev/zero' } }));
  await expect(readCustomerData(context, data)).rejects.toMatchObject({ code: 'data_invalid' });
});

test.each([
  ['a keypair', () => readKeypair('/dev/zero'), 'too large'],
  ['a key', () => readKeyFile('/dev/zero'), 'too large'],
  ['a secret', () => givenTo('smtp_url', { FARELOCK_SMTP_URL_FILE: '/dev/zero' }), 'too large'],
  ['a recipe', () => loadRecipes(['/dev/zero']), 'larger than'],
  ['a policy', () => loadPolicy('/dev/zero'), 'larger than'],
])('%s is read as far as one may be', (_what, read, why) => {
  expect(read).toThrow(why);
});

test('so are the settings of the Solana CLI, npm settings, rings of keys, and lines of our own', async () => {
  const zero = (...path: string[]) => {
    const file = join(folder, ...path);
    mkdirSync(dirname(file), { recursive: true });
    symlinkSync('/dev/zero', file);
    return file;
  };
  zero('.config', 'solana', 'cli', 'config.yml');
  await expect(readSolanaCliConfig({ HOME: folder })).rejects.toMatchObject({ code: 'settings_invalid' });
  expect(registryOf({ NPM_CONFIG_USERCONFIG: zero('npmrc') })).toBe('https://registry.npmjs.org/');
  for (const read of [readJsonOf, (path: string) => ensureLine(path, 'key_', () => 'key_1')]) {
    expect(() => read(zero(`${read.name}.json`))).toThrow(expect.objectContaining({ code: 'storage_damaged' }));
  }
  const stdin = openSync('/dev/zero', 'r');
  expect(readOpen(stdin, 4096)).toBeNull();
  closeSync(stdin);
});

test('so are gateway keys, the key of the embedded stack, and the results of a run', async () => {
  await expect(readGatewayKeys('/dev/zero')).rejects.toThrow('larger than');
  expect(readOwnKeyFile('/dev/zero')).toBeUndefined();
  const place = { resultsFile: '/dev/zero', digest: '', environment: '' };
  expect(() => readProgress(place)).toThrow(expect.objectContaining({ code: 'apply_conflict' }));
});
