import { resolve } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { rounds, seedOr } from '../rounds.ts';

// `npm run torture` is its long form.
test(
  'bookings killed at random moments end booked or refunded, paid once, with every unit accounted for',
  async () => {
    const script = resolve(import.meta.dirname, 'torture.mjs');
    const runs = rounds(4, 60);
    const args = [script, '--runs', String(runs), '--seed', String(seedOr(20_261_121))];
    const ran = await execa(process.execPath, args, { reject: false });
    expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
    expect(ran.stdout).toMatch(new RegExp(`${runs} journeys, \\d+ kills: \\d+ booked, \\d+ refunded`));
  },
  rounds(180_000, 1_800_000),
);
