import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { build } from 'tsdown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSandbox, query } from './world.ts';

const sandbox = openSandbox();
let built: string;
beforeAll(async () => {
  // Below the project, so that the native package is found.
  const cache = resolve(import.meta.dirname, '../../../node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  built = mkdtempSync(join(cache, 'farelock-'));
  await build({
    config: false,
    entry: { second: resolve(import.meta.dirname, 'second-airline.ts') },
    outDir: built,
    platform: 'node',
    target: 'node20',
    dts: false,
    report: false,
    logLevel: 'silent',
    deps: {
      neverBundle: ['libsql', /^@libsql\//],
      alwaysBundle: [/^(?!libsql|@libsql\/|node:)/],
      onlyBundle: false,
    },
  });
});
afterAll(async () => {
  await sandbox.close();
  rmSync(built, { recursive: true, force: true });
});

test('processes see one world, and the same references at once make one order each', async () => {
  const run = () => execa('node', [join(built, 'second.mjs'), sandbox.orders, '12']);
  const ends = (await Promise.all([run(), run(), run()])).map(
    ({ stdout }) => JSON.parse(stdout) as { ids: string[]; made: string[] },
  );
  const here = (await sandbox.provider.search(query('LHR', 'JFK'))).map((offer) => offer.offer_id);
  for (const { ids, made } of ends) {
    expect(ids).toEqual(here);
    expect(made).toEqual(ends[0]?.made);
    expect(new Set(made.map((order) => order.split(' ')[1])).size).toBe(12);
  }
});
