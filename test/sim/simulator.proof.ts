import { resolve } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { rounds, seedOr } from '../rounds.ts';
import { postgresIsInstalled } from '../store/postgres-server.mjs';

async function played(seeds: number, from: number, ...args: string[]): Promise<void> {
  const script = resolve(import.meta.dirname, 'sim.mjs');
  const which = ['--seeds', String(seeds), '--from', String(from)];
  const ran = await execa(process.execPath, [script, ...which, ...args], { reject: false });
  expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
  expect(ran.stdout).toContain(`${seeds} seeds from ${from}: no rule was broken`);
}

// `npm run sim -- --seeds 2000` is the same with its options.
test(
  'worlds in simulated time, with faults at every boundary, break no rule; every tenth is the same twice',
  () => played(rounds(0, 1_000), seedOr(11)),
  14_400_000,
);

// Each statement waits for another process: one world takes minutes.
test.runIf(postgresIsInstalled)(
  'neither do those on a real PostgreSQL, whose connections are ended and which is restarted',
  () => played(rounds(0, 200), seedOr(11), '--world', 'postgres'),
  14_400_000,
);
