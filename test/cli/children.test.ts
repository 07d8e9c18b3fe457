import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ANA, runInMemory, temporaryHome } from './memory.ts';

/** Children under 12 are not booked: said before the first payment, and refused wherever a passenger is given. */

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
  expect(at(/^Travellers, 1 to 9, aged 18 or over/)).toBeGreaterThanOrEqual(0);
  expect(at(/aged 18 or over/)).toBeLessThan(at(/^Search LIS → BER\?/));
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
