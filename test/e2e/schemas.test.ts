import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { faultsOf } from '../cli/published.ts';
import { isHere } from '../needs.mjs';
import { cases, proofTest } from '../proof-only.ts';
import { BIN, farelockIn, type Runner } from './farelock.ts';

/** The built tool prints what the published schemas say, and has them with it. */

const isBuilt = isHere('the built tool', existsSync(BIN) && existsSync(resolve(import.meta.dirname, '../../dist')));

describe.runIf(isBuilt)('the built tool', () => {
  let farelock: Runner;
  beforeAll(() => {
    farelock = farelockIn();
  });
  afterAll(() => farelock.close());

  test.each(
    cases<[string, string[]]>(
      [['search', ['search', 'lisbon', 'berlin', '--depart', '+30d', '--json']]],
      [
        ['wallet balance', ['wallet', 'balance', '--json']],
        ['payments list', ['payments', 'list', '--json']],
        ['airports', ['airports', 'london', '--json']],
        ['partner orders list', ['partner', 'orders', 'list', '--json']],
        ['help', ['help', '--json']],
        ['explain', ['explain', 'aborted', '--json']],
        ['schema', ['schema', 'intent', 'create', '--json']],
      ],
    ),
  )('%s --json is as published', async (name, args) => {
    const ran = await farelock.run(args);
    expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
    expect(faultsOf(name, ran.json())).toEqual([]);
  });

  proofTest('lines and errors are too', async () => {
    const streamed = await farelock.run(['search', 'LIS', 'BER', '--depart', '+31d', '--ndjson']);
    for (const line of streamed.stdout.trimEnd().split('\n')) {
      expect(faultsOf('search-ndjson', JSON.parse(line))).toEqual([]);
    }
    for (const args of [['serach'], ['status', 'int_none'], ['offer', '99']]) {
      const ran = await farelock.run([...args, '--json']);
      expect(ran.exitCode).toBeGreaterThan(1);
      expect(faultsOf('error', ran.json())).toEqual([]);
    }
  });

  test('names every schema that it has', async () => {
    const { stdout } = await farelock.run(['schema']);
    for (const name of ['search', 'search-ndjson', 'error', 'intent-create']) {
      expect(stdout.split('\n')).toContain(name);
    }
  });
});
