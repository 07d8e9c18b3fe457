import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { worldClock } from '../clock.ts';
import { cases, proofTest } from '../proof-only.ts';
import { ENTER, runInMemory, temporaryHome } from './memory.ts';

/** The walk of questions in memory, against the real embedded service. */

const place = temporaryHome();
const environment = { FARELOCK_HOME: place.home, FARELOCK_TICKETING_MS: '20', FARELOCK_LOWCOST_MS: '20' };
const ANA = ['Ana', 'Moreira', '1990-04-12', 'ms', 'f', 'ana@example.com', '+351912345678'];

beforeAll(async () => {
  await runInMemory(['wallet', 'show'], { environment });
});
afterAll(() => place.close());

test('a walk from a name of a city to a booked flight, with the commands that do the same', async () => {
  const run = await runInMemory([], {
    environment,
    terminal: true,
    columns: 100,
    answers: [
      ...['lisbon', 'ber', '+30d', '', '2', 'Search'],
      ...['Lorelei', 'Light', 'Lock it'],
      ...[...ANA, 'Save', 'ana'],
      // Those who fly together need not type an address twice.
      ...['Rui', 'Moreira', '1988-02-01', 'mr', 'm', ENTER, ENTER, 'Save', 'rui', 'Pay ', 'No'],
    ],
  });
  expect(run.exitCode, run.stderr).toBe(0);
  expect(run.stdout).toMatch(/booked/);
  const commands = [...run.stderr.matchAll(/^ {2}\$ (.*)$/gm)].map(([, command]) => command);
  expect(commands).toContainEqual(expect.stringMatching(/^farelock search LIS BER --depart \d{4}-\d\d-\d\d$/));
  expect(commands).toContainEqual(expect.stringMatching(/^farelock intent [\d.]+$/));
  // Several answers make one command: it is said once.
  expect(commands.filter((one, at) => one === commands[at - 1])).toEqual([]);
  expect(run.stderr).toMatch(/\$ farelock book int_\w+ --traveller ana --traveller rui\n/);
  for (const line of run.stderr.split('\n').filter((one) => one.trim().startsWith('$ '))) {
    expect(line).not.toMatch(/Moreira|1990|example\.com|351/);
  }
  const shown = await runInMemory(['travellers', 'show', 'rui', '--json'], { environment });
  expect(shown.json()).toMatchObject({ fields: { email: 'ana@example.com', phone_number: '+351912345678' } });
});

test.each(
  cases<[string, string[], RegExp]>(
    [['locked', ['Lock the same'], /Locked {5}again/]],
    [['searched', ['Search again', 'Search', 'Lorelei', 'Light', 'Lock it'], /Passengers as before/]],
  ),
)(
  'a lock that runs out while passengers are typed: said, and %s again; nobody is typed twice',
  async (how, answers, said) => {
    let aheadMs = 0;
    const clock = { ...worldClock, now: () => worldClock.now() + aheadMs };
    const run = await runInMemory([], {
      environment: { ...environment, FARELOCK_HOME: join(place.home, how) },
      terminal: true,
      columns: 100,
      clock,
      onStderr(text) {
        if (aheadMs === 0 && text.startsWith('Passengers')) aheadMs = 31 * 60_000;
      },
      answers: [
        ...['lisbon', 'ber', '+30d', '', '1', 'Search', 'Lorelei', 'Light', 'Lock it'],
        ...[...ANA, 'Not this time', ...answers, 'Pay ', 'No'],
      ],
    });
    expect(run.exitCode, run.stderr).toBe(0);
    expect(run.stderr).toMatch(/The lock has expired: the fare could be booked until/);
    expect(run.stderr).toMatch(said);
    expect(run.asked.filter((question) => question.includes('Given names'))).toHaveLength(1);
    expect(run.stdout).toMatch(/booked/);
  },
);

test('what is locked and reviewed is whole, though other terminals have searched meanwhile', async () => {
  const home = join(place.home, 'meanwhile');
  const run = await runInMemory([], {
    environment: { ...environment, FARELOCK_HOME: home },
    terminal: true,
    columns: 100,
    onStderr: (text) => text.startsWith('Fare  ') && rmSync(join(home, 'recent-offers.json'), { force: true }),
    answers: [
      'lisbon',
      'ber',
      '+30d',
      '',
      '1',
      'Search',
      'Lorelei',
      'Light',
      'Lock it',
      ...ANA,
      'Not this time',
      'Not now',
    ],
  });
  expect(run.stderr).toMatch(/✓ Locked until .*\nLIS → BER [\s\S]*Lorelei[\s\S]*Review\nLIS → BER [\s\S]*Lorelei/);
});

proofTest('a refusal between two questions says what was charged before, and ends with a command', async () => {
  let aheadMs = 0;
  const run = await runInMemory([], {
    environment: { ...environment, FARELOCK_HOME: join(place.home, 'refused') },
    terminal: true,
    columns: 100,
    clock: { ...worldClock, now: () => worldClock.now() + aheadMs },
    onStderr(text) {
      if (/^Fare /.test(text)) aheadMs = 180 * 60_000;
    },
    answers: ['lisbon', 'ber', '+30d', '', '1', 'Search', 'Lorelei', 'Light', 'Lock it'],
  });
  expect(run.stderr).toMatch(
    /✗ The offer has expired\.\n +expired at: [\d-]+ [\d:]+ UTC\n.*This call cost nothing; 0\.10 USDC was paid before it\./,
  );
  expect(run.stderr).toMatch(/USDC was paid before it\.\n +\$ farelock search LIS BER --depart \d{4}/);
});

test('off a terminal it is the help, and options that leave no room for questions are refused', async () => {
  const help = await runInMemory([], { environment });
  expect([help.exitCode, help.stderr]).toEqual([0, '']);
  expect(help.stdout).toMatch(/^Usage: farelock/);
  expect((await runInMemory(['guided', '--quiet'], { environment, terminal: true })).exitCode).toBe(2);
  expect((await runInMemory(['guided', '--yes'], { environment, terminal: true })).exitCode).toBe(2);
  expect((await runInMemory(['guided'], { environment })).exitCode).toBe(2);
});
