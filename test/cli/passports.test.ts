import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Offer } from '../../src/wire/flights/index.ts';
import { runningClock } from '../flights/world.ts';
import { ANA, runInMemory, temporaryHome } from './memory.ts';

let place: ReturnType<typeof temporaryHome>;
beforeAll(() => {
  place = temporaryHome();
});
afterAll(() => place.close());

const clock = runningClock();
const run = (line: string) =>
  runInMemory(line.split(' '), { clock, environment: { FARELOCK_HOME: place.home, FARELOCK_TICKETING_MS: '20' } });

test('a passport that expires before the way back is said before anything is paid, and is no obstacle', async () => {
  const found = await run('search LIS BER --depart 2026-12-20 --return 2026-12-27 --json');
  const [offer] = found.json().offers as Offer[];
  const made = (await run(`intent create ${offer?.offer_id} --json`)).json();
  const passengers = join(place.home, 'p.json');
  const travelling = (passport_expiry: string) =>
    writeFileSync(
      passengers,
      JSON.stringify([{ ...ANA, nationality: 'PT', passport_number: 'AB123456', passport_expiry }]),
    );
  const warning = /passport of passenger 1 expires on 2026-12-24, before the journey ends on 2026-12-2[78]/;
  travelling('2030-01-01');
  const fine = await run(`book ${made.intent_id} --passengers ${passengers} --dry-run`);
  expect(fine.stdout + fine.stderr).not.toMatch(/passport/);
  travelling('2026-12-24');
  const planned = await run(`book ${made.intent_id} --passengers ${passengers} --dry-run`);
  expect(planned.exitCode, planned.stderr).toBe(0);
  expect(planned.stderr).toMatch(warning);
  const booked = await run(`book ${made.intent_id} --passengers ${passengers} --yes --json`);
  expect(booked.exitCode, booked.stdout).toBe(0);
  expect(booked.stderr).toMatch(warning);
});
