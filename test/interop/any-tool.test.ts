import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { farelockIn, type Runner, serveIn } from '../e2e/farelock.ts';
import { isHere } from '../needs.mjs';
import { isProof } from '../rounds.ts';
import { ALL } from './any-tool/all.ts';
import { type Scene, setScene } from './any-tool/scene.ts';

/** Stock clients of Solana, over real sockets, against `farelock serve` as it is built. */

const isBuilt = isHere('the built tool', existsSync(resolve(import.meta.dirname, '../../dist/modules.json')));

/** The schedule of a whole epoch takes a client seconds to read: in the proof. */
const PLAYED = ALL.filter(({ name }) => isProof || name !== 'getLeaderSchedule');

describe.runIf(isBuilt)('any Solana tool against farelock serve', () => {
  let home: Runner;
  let scene: Scene;
  beforeAll(async () => {
    home = farelockIn();
    const served = await serveIn(home);
    scene = await setScene(served, `${served.rpcUrl.replace(/^http/, 'ws')}`);
  });
  afterAll(async () => {
    expect(await scene.served.stop()).toBe(0);
    home.close();
  });

  test.each(PLAYED.map((call) => [call.client, call.name, call] as const))('%s: %s', async (_client, _name, call) => {
    if (call.refused) return expect(call.run(scene)).rejects.toThrow();
    await call.run(scene);
  });
});

test('at least 95 of the calls of wallets and dApps work', () => {
  const names = ALL.map(({ client, name }) => `${client}: ${name}`);
  expect(new Set(names).size).toBe(names.length);
  expect(ALL.filter(({ refused }) => !refused).length).toBeGreaterThanOrEqual(95);
});
