import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BIN, farelockIn, PASSENGER, type Runner } from '../e2e/farelock.ts';
import { proofTest } from '../proof-only.ts';
import { closeTerminals, KEYS, openScreen } from './terminal.ts';

/** A question that is suspended goes on; one whose input ends says so with 130. Nothing unsettled ever ends with 0. */

let tool: Runner;
let intents: string[];

beforeAll(async () => {
  tool = farelockIn();
  writeFileSync(join(tool.home, 'passengers.json'), JSON.stringify([PASSENGER]), { mode: 0o600 });
  const found = await tool.run(['search', 'LIS', 'BER', '--depart', '+30d', '--all-fares', '--json', '--no-wait']);
  const offers = found
    .json<{ offers: { offer_id: string; total_currency: string; total_amount_decimal: string }[] }>()
    .offers.filter((offer) => offer.total_currency === 'USD' && Number(offer.total_amount_decimal) >= 10);
  intents = [];
  for (const { offer_id } of offers.slice(0, 2)) {
    const made = await tool.run(['intent', 'create', offer_id, '--json']);
    intents.push(made.json<{ intent_id: string }>().intent_id);
  }
});
afterAll(() => {
  closeTerminals();
  tool.close();
});

const shell = () =>
  openScreen([], { env: { ...tool.env, NO_COLOR: undefined }, cwd: tool.home, isShell: true, rows: 60 });

test('a question that was suspended twice is asked again, and answered', async () => {
  const screen = shell();
  screen.type(`$TOOL book ${intents[0]} --passengers passengers.json; echo "code $?"\r`);
  await screen.shows(/Pay [\d.]+ USDC and book\?/);
  for (let time = 1; time <= 2; time++) {
    screen.type(KEYS.ctrlZ);
    await screen.shows(new RegExp(`(Stopped[\\s\\S]*){${time}}`));
    screen.type('fg; echo "code $?"\r');
    await screen.shows(/Stopped[\s\S]*fg[\s\S]*Pay [\d.]+ USDC and book\?/);
  }
  screen.type(KEYS.enter);
  await screen.shows(/Booked[\s\S]*code 0|Ticket[\s\S]*code 0/i, 40_000);
}, 90_000);

test('a choice that was suspended goes on with its list, and Ctrl-D ends it with 130', async () => {
  const screen = shell();
  screen.type('$TOOL; echo "code $?"\r');
  await screen.shows(/❯/);
  screen.type(KEYS.ctrlZ);
  await screen.shows(/Stopped/);
  screen.type('fg; echo "code $?"\r');
  await screen.shows(/(Continue where you left off[\s\S]*){2}/);
  screen.type(KEYS.down);
  await screen.shows(/❯ Start a new search/);
  screen.type(KEYS.ctrlD);
  await screen.shows(/Interrupted[\s\S]*code 130/);
}, 60_000);

test('Ctrl-D at a question ends with 130, and says that nothing was paid', async () => {
  const screen = shell();
  screen.type(`$TOOL book ${intents[1]} --passengers passengers.json; echo "code $?"\r`);
  await screen.shows(/Pay [\d.]+ USDC and book\?/);
  screen.type(KEYS.ctrlD);
  await screen.shows(/Interrupted at a question\. Nothing was paid[\s\S]*code 130/);
}, 60_000);

const TEN = Array.from({ length: 10 }, (_, at) => `y${at || ''}`);

test('a paste of ten lines at a question about money pays nothing, and Enter then still answers it', async () => {
  const screen = shell();
  screen.type(`$TOOL book ${intents[1]} --passengers passengers.json; echo "code $?"\r`);
  await screen.shows(/Pay [\d.]+ USDC and book\?/);
  screen.type(`${TEN.join('\r')}\r`);
  screen.type(`\u001b[200~${TEN.join('\r')}\r\u001b[201~`);
  await passed(500);
  expect(screen.text()).toMatch(/book\? \([Yy]\/[Nn]\)$/);
  screen.type('n\r');
  await screen.shows(/Not paid|declined[\s\S]*code [1-9]/i);
}, 60_000);

proofTest(
  'a paste of ten lines at the first question of the walk is one answer, and no other question is asked',
  async () => {
    const screen = openScreen([], { env: { ...tool.env, FARELOCK_HOME: join(tool.home, 'paste') } });
    await screen.shows(/From: a city/);
    screen.type(`${['lisbon', 'ber', '+30d', '', '', '', ''].join('\r')}\r`);
    await screen.shows(/lisbon ber \+30d/);
    await passed(300);
    expect(screen.text()).not.toMatch(/To: a city/);
    screen.type(KEYS.ctrlC);
    expect(await screen.ended()).toBe(130);
  },
);

test('Enter that was pressed before a question is shown does not answer it', async () => {
  const screen = openScreen(['book', intents[1] ?? '', '--passengers', 'passengers.json'], {
    env: tool.env,
    cwd: tool.home,
  });
  screen.type('\r\r\r');
  await screen.shows(/Pay [\d.]+ USDC and book\?/);
  await passed(500);
  expect(screen.text()).toMatch(/book\? \([Yy]\/[Nn]\)$/);
  screen.type(KEYS.ctrlD);
  expect(await screen.ended()).toBe(130);
  expect(screen.text()).toMatch(/Nothing was paid/);
});

test.each([{ env: {} }, { env: { FARELOCK_PLAIN: '1' } }])(
  'a question whose terminal hangs up ends with 130: $env',
  async ({ env }) => {
    const screen = openScreen(['book', intents[1] ?? '', '--passengers', 'passengers.json'], {
      env: { ...tool.env, ...env },
      cwd: tool.home,
    });
    await screen.shows(/Pay [\d.]+ USDC and book\?/);
    screen.kill('SIGHUP');
    expect(await screen.ended()).toBe(130);
  },
);

proofTest('a question in plain lines takes no line that was typed before it, and Ctrl-D ends it with 130', async () => {
  const screen = openScreen(['book', intents[1] ?? '', '--passengers', 'passengers.json', '--plain'], {
    env: tool.env,
    cwd: tool.home,
  });
  screen.type('\r\ryes\r');
  await screen.shows(/Pay [\d.]+ USDC and book\? Yes or no/);
  await passed(500);
  expect(screen.text()).toMatch(/Enter is (yes|no):$/);
  screen.type(KEYS.ctrlD);
  expect(await screen.ended()).toBe(130);
  expect(screen.text()).toMatch(/Nothing was paid/);
});

test('a command that never settles does not end with 0, whatever has emptied the event loop', () => {
  const plant = join(tool.home, 'plant.cjs');
  // What the command waits for will never come, and holds nothing open.
  writeFileSync(
    plant,
    `const never = () => ({ next: () => new Promise(() => {}) });
     Object.defineProperty(process.stdin, Symbol.asyncIterator, { value: never });`,
  );
  const ended = spawnSync(process.execPath, ['--require', plant, BIN, 'travellers', 'add', 'bo', '-'], {
    env: { ...process.env, ...tool.env },
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  expect([ended.status, ended.stderr]).toEqual([130, expect.stringMatching(/Interrupted|Stopped immediately/)]);
});
