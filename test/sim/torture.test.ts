import { resolve } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';

// A short run of `npm run torture`, which is kept as a script of its own for long ones.
test('bookings killed at random moments end booked or refunded, paid once, with every unit accounted for', async () => {
  const script = resolve(import.meta.dirname, 'torture.mjs');
  const ran = await execa(process.execPath, [script, '--runs', '8', '--seed', '20261121'], { reject: false });
  expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
  expect(ran.stdout).toMatch(/8 journeys, \d+ kills: \d+ booked, \d+ refunded/);
}, 180_000);
