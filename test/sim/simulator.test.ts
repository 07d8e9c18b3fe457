import { resolve } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { rounds, seedOr } from '../rounds.ts';

// `npm run sim -- --seeds 2000` is the same with its options.
test(
  'worlds in simulated time, with faults at every boundary, break no rule and are the same twice',
  async () => {
    const script = resolve(import.meta.dirname, 'sim.mjs');
    const seeds = rounds(2, 1_000);
    const args = [script, '--seeds', String(seeds), '--from', String(seedOr(10))];
    const ran = await execa(process.execPath, args, { reject: false });
    expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
    expect(ran.stdout).toContain(`${seeds} seeds from ${seedOr(10)}: no rule was broken`);
  },
  rounds(180_000, 14_400_000),
);
