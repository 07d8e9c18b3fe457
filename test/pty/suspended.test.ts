import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BIN, farelockIn, PASSENGER, type Runner } from '../e2e/farelock.ts';
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
