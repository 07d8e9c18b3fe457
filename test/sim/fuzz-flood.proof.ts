import { expect, test } from 'vitest';
import { rounds, seedOr } from '../rounds.ts';
import { openArgvSurface } from './fuzz/argv-surface.ts';
import { openFileSurface } from './fuzz/file-surface.ts';
import { openFlightsSurface, openPartnerSurface } from './fuzz/http-surfaces.ts';
import { createMutator } from './fuzz/mutator.ts';
import { openRpcSurface, openSocketSurface } from './fuzz/rpc-surfaces.ts';
import { flood, type OpenSurface } from './fuzz/surface.ts';

/**
 * Bad inputs at every door: good ones with a few things wrong, by a seed. None fails inside, is answered in a way that
 * is not declared, hangs, shows a stack, charges anybody, or leaves something behind. `npm run fuzz` sends 1,000,000.
 */

const SEED = seedOr(20_261_121);

const SURFACES: readonly (readonly [string, OpenSurface, number])[] = [
  ['the flight service', openFlightsSurface, 120_000],
  ['the partner service', openPartnerSurface, 100_000],
  ['JSON-RPC', openRpcSurface, 300_000],
  ['the WebSocket', openSocketSurface, 330_000],
  ['files', openFileSurface, 80_000],
  ['command lines', openArgvSurface, 70_000],
];

test.each(SURFACES)(
  '%s takes whatever is sent',
  async (name, open, long) => {
    const count = rounds(0, long);
    const surface = await open(createMutator(SEED), SEED);
    try {
      const { answers, slowestMs, grownBytes, cpuSeconds } = await flood(surface, count).catch((error: unknown) => {
        // At once: a long run may be stopped before its end.
        process.stdout.write(`${name}, seed ${SEED}: ${String(error).slice(0, 4_000)}\n`);
        throw new Error(`${name}, seed ${SEED}`, { cause: error });
      });
      expect([...answers.values()].reduce((sum, times) => sum + times, 0)).toBe(count);
      const answered = [...answers].sort(([, a], [, b]) => b - a).map(([answer, times]) => `${answer} ${times}`);
      const grown = `${(grownBytes / 1024 / 1024).toFixed(1)} MB`;
      process.stdout.write(
        `${name}: ${count} inputs, ${cpuSeconds.toFixed(0)} s of CPU, the slowest ${slowestMs.toFixed(0)} ms, heap ${grown}\n  ${answered.join(', ')}\n`,
      );
    } finally {
      await surface.close();
    }
  },
  1_800_000,
);
