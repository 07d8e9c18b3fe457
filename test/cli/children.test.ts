import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Intent, Order, SearchResponse } from '../../src/wire/flights/index.ts';
import { ANA, runInMemory, temporaryHome } from './memory.ts';

/** Children are searched by their ages when the last direction departs, and a fare for adults alone takes none of them. */

const place = temporaryHome();
const environment = { FARELOCK_HOME: place.home, FARELOCK_TICKETING_MS: '20', FARELOCK_LOWCOST_MS: '20' };
afterAll(() => place.close());

const CHILD = { ...ANA, given_name: 'Kim', born_on: '2020-01-01' };
const TYPED = ['ms', 'f', 'ana@example.com', '+351912345678'];

const paidFor = async () =>
  (
    (await runInMemory(['payments', 'list', '--json'], { environment })).json() as { payments: { resource: string }[] }
  ).payments.map(({ resource }) => resource);

async function newIntent(): Promise<string> {
  const found = await runInMemory(['search', 'LIS', 'BER', '--depart', '+30d', '--no-wait', '--all-fares', '--json'], {
    environment,
  });
  const { offers } = found.json() as { offers: { offer_id: string; owner_name: string }[] };
  const offer = offers.find((one) => one.owner_name === 'Lorelei Airways')?.offer_id ?? '';
  const made = await runInMemory(['intent', 'create', offer, '--json'], { environment });
  return (made.json() as { intent_id: string }).intent_id;
}

test('the age is in the help of search, and in the question before the first payment of a guided walk', async () => {
  const help = await runInMemory(['search', '--help'], { environment });
  expect(help.stdout).toMatch(/--adults <n> +travellers, 1 to 9, aged 18 or over/);

  const walk = await runInMemory([], {
    environment,
    terminal: true,
    answers: [
      ...['lisbon', 'ber', '+30d', '', '1', 'Search'],
      ...['Lorelei', 'Light', 'Lock it'],
      ...['Kim', 'Moreira', CHILD.born_on, ANA.born_on, ...TYPED, 'Not this time', 'Pay ', 'No'],
    ],
  });
  expect(walk.exitCode, walk.stderr).toBe(0);
  const at = (question: RegExp) => walk.asked.findIndex((one) => question.test(one));
  expect(at(/^Travellers, 1 to 9: adults, then ages under 18/)).toBeGreaterThanOrEqual(0);
  expect(at(/ages under 18/)).toBeLessThan(at(/^Search LIS → BER\?/));
  // The child's birthday was not taken.
  expect(walk.asked.filter((one) => /Date of birth/.test(one))).toHaveLength(2);
  expect(walk.stderr).toMatch(/born 12 Apr 1990/);
});

test('a child is refused before the ticket is paid: typed, from a file, and saved', async () => {
  const id = await newIntent();
  const before = await paidFor();
  const file = join(place.home, 'child.json');
  writeFileSync(file, JSON.stringify([CHILD]), { mode: 0o600 });
  const { exitCode } = await runInMemory(['travellers', 'add', 'kim', file], { environment });
  expect(exitCode).toBe(0);
  for (const [option, given, path] of [
    ['--passengers', file, 'passengers.0.born_on'],
    ['--traveller', 'kim', 'kim: born_on'],
  ] as const) {
    const refused = await runInMemory(['book', id, option, given, '--yes', '--json'], { environment });
    expect(refused.exitCode, option).toBe(2);
    expect(refused.json()).toMatchObject({
      error: {
        code: 'passengers_invalid',
        detail: { issues: [{ path, message: expect.stringMatching(/younger than 12/) }] },
      },
    });
  }
  const typed = await runInMemory(['book', id], {
    environment,
    terminal: true,
    answers: ['Kim', 'Moreira', CHILD.born_on, ANA.born_on, ...TYPED, false],
  });
  expect(typed.asked.filter((one) => /Date of birth/.test(one))).toHaveLength(2);
  expect(await paidFor()).toEqual(before);
});

const BEN = { ...ANA, given_name: 'Ben', email: 'ben@example.com', born_on: '1988-02-01', title: 'mr', gender: 'm' };
/** Seven on the first flight, +30d, and eight on the last one. */
const LEO = { ...CHILD, given_name: 'Leo', born_on: '2018-12-23' };

test('a family of four cities: searched, locked, refused by age before the payment, and booked', async () => {
  const run = (argv: readonly string[]) => runInMemory([...argv, '--json'], { environment });
  // Twelve before the last flight.
  const max = { ...LEO, given_name: 'Max', born_on: '2014-12-25' };
  const saved = { ana: ANA, ben: BEN, leo: LEO, max };
  for (const [name, fields] of Object.entries(saved)) {
    const file = join(place.home, `${name}.json`);
    writeFileSync(file, JSON.stringify([fields]), { mode: 0o600 });
    expect((await run(['travellers', 'add', name, file])).exitCode).toBe(0);
  }
  const flights = ['--depart', '+30d', '--onward', 'FCO@+34d', '--onward', 'VIE-BER@+37d', '--onward', 'LIS@+40d'];
  const found = await run(['search', 'LIS', 'BER', ...flights, '--adults', '2', '--child-ages', '8', '--all-fares']);
  const { offers, sellers_left_out } = found.json() as SearchResponse;
  const [offer] = offers;
  expect(offer?.slices.map((one) => `${one.origin_iata}-${one.destination_iata}`)).toEqual([
    'LIS-BER',
    'BER-FCO',
    'VIE-BER',
    'BER-LIS',
  ]);
  expect(sellers_left_out).toHaveLength(1);
  const made = await run(['intent', 'create', offer?.offer_id ?? '']);
  const { intent_id, passenger_count } = made.json() as Intent;
  expect(passenger_count).toBe(3);
  const before = await paidFor();
  const wrong = await run([
    'book',
    intent_id,
    '--traveller',
    'ana',
    '--traveller',
    'ben',
    '--traveller',
    'max',
    '--yes',
  ]);
  expect([wrong.exitCode, wrong.json()]).toMatchObject([
    2,
    { error: { code: 'passenger_age_mismatch', next: [expect.stringContaining('farelock search')] } },
  ]);
  expect(await paidFor()).toEqual(before);
  const booked = await run([
    'book',
    intent_id,
    '--traveller',
    'ana',
    '--traveller',
    'ben',
    '--traveller',
    'leo',
    '--yes',
  ]);
  expect(booked.json()).toMatchObject({ status: 'booked' });
  const ics = join(place.home, 'family.ics');
  const order = await run(['order', intent_id, '--ics', ics]);
  const { documents, slices } = order.json() as Order;
  expect(documents).toHaveLength(3);
  // One event a flight.
  expect(readFileSync(ics, 'utf8').match(/BEGIN:VEVENT/g)).toHaveLength(slices.flatMap((one) => one.segments).length);
});

test('a walk asks for two adults and a child, and takes the return on which the ages count', async () => {
  const walk = await runInMemory([], {
    environment,
    terminal: true,
    answers: [
      ...['Start a new search', 'lisbon', 'ber', '+30d', '+40d', '2 + 8', 'Search'],
      ...['Lorelei', 'Light', 'Lock it', 'ana', 'ben', 'leo', 'Not now'],
    ],
  });
  expect(walk.exitCode, walk.stderr).toBe(0);
  expect(walk.stderr).toContain('--adults 2 --child-ages 8');
  expect(walk.stderr).not.toContain('! leo');
  expect(walk.stderr).toContain('Low-cost carriers are left out: they are booked here for adults alone.');
  expect(walk.asked.filter((one) => /who is flying/.test(one)).at(-1)).toMatch(/a child of 8 on/);
});

test('a saved child who has a birthday before the last flight is named before the search is paid', async () => {
  const warned = await runInMemory(
    ['search', 'LIS', 'BER', '--depart', '+30d', '--return', '+40d', '--child-ages', '7', '--dry-run'],
    { environment },
  );
  expect(warned.stderr).toContain('! leo is 8 on 31 Dec 2026, when the last direction departs: search with 8.');
});

test.each([
  [['--onward', 'FCO@+20d'], 'is before the flight before it'],
  [['--onward', 'BER@+34d'], 'starts where it ends'],
  [['--onward', 'FCO@+34d', '--return', '+40d'], '--return and --onward'],
  [['--onward', 'FCO@+34d', '--flex', '1'], 'cannot be combined with --onward'],
  [['--child-ages', '8,x'], '--child-ages must be'],
])('%j is refused before anything is paid', async (options, said) => {
  const { exitCode, stderr } = await runInMemory(['search', 'LIS', 'BER', '--depart', '+30d', ...options], {
    environment,
  });
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(said)]);
});
