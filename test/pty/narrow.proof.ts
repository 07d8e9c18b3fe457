import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { farelockIn, PASSENGER, type Runner } from '../e2e/farelock.ts';
import { closeTerminals, KEYS, openScreen, type Screen } from './terminal.ts';

/** The narrowest terminal that the tool is drawn for: no word is cut there, and Ctrl-C leaves something to go on with. */

let tool: Runner;
beforeAll(() => {
  tool = farelockIn({ FARELOCK_TICKETING_MS: '20' });
  writeFileSync(join(tool.home, 'passengers.json'), JSON.stringify([PASSENGER]), { mode: 0o600 });
});
afterEach(closeTerminals);
afterAll(() => tool.close());

const open = (args: readonly string[], home = tool.home): Screen =>
  openScreen(args, { env: { ...tool.env, FARELOCK_HOME: home }, cwd: tool.home, columns: 60, rows: 44 });

/** Commands are copied in one piece; all else ends where a word ends. */
const cutWords = (screen: Screen): string[] =>
  screen.brokenLines().filter((line) => !/^(\s*\$|Next:| +farelock) /.test(line));

/** Runs a command to its end, with yes to its question. */
async function run(args: readonly string[], question?: RegExp): Promise<string> {
  const screen = open(args);
  if (question) {
    await screen.shows(question);
    screen.type(`y${KEYS.enter}`);
  }
  expect(await screen.ended(), screen.text()).toBe(0);
  expect(cutWords(screen), args.join(' ')).toEqual([]);
  return screen.text();
}

test('a booking and its refund cut no word at 60 columns', async () => {
  const found = await tool.run(['search', 'LIS', 'BER', '--depart', '+30d', '--all-fares', '--json', '--no-wait']);
  const { offers } = found.json<{
    offers: {
      offer_id: string;
      total_currency: string;
      conditions: { refund_allowed: boolean | null; refund_penalty_amount: string | null } | null;
    }[];
  }>();
  const fare = offers.find(
    ({ offer_id, total_currency, conditions }) =>
      total_currency === 'USD' &&
      !offer_id.startsWith('lowcost:') &&
      conditions?.refund_allowed &&
      conditions.refund_penalty_amount !== null,
  );
  const locked = await run(['intent', 'create', fare?.offer_id ?? '']);
  const [intent = ''] = /int_\w+/.exec(locked) ?? [];
  await run(['book', intent, '--passengers', 'passengers.json'], /Pay [\d.]+ USDC and book\?/);
  await run(['refund', 'request', intent, '--reason', 'I broke a leg.']);
  await run(['refund', 'approve', intent], /Pay out [\d.]+ USDC\?/);
  const status = await run(['status', intent]);
  expect(status).toMatch(/✓ paid out {4}[\d.]+ USDC to\n {14}\w{32,44}(,|\n|$)/);
  expect(status).not.toMatch(/\d *\n *(s|min|h|USDC)\b/);
  // What happens within a second happens at once.
  expect(status).not.toMatch(/just now/);
});

/** The answers of a walk, up to the price of the search. */
async function toTheSearch(screen: Screen): Promise<void> {
  for (const [question, typed] of [
    [/From: a city/, 'lisbon'],
    [/To: a city/, 'ber'],
    [/Depart, such as/, '+30d'],
    [/Return: a date/, '+37d'],
    // Who may fly is said before anything is paid.
    [/Travellers, 1 to 9/, '2'],
  ] as const) {
    await screen.shows(question);
    screen.type(`${typed}${KEYS.enter}`);
  }
  await screen.shows(/Search LIS → BER\?/);
}

async function leave(screen: Screen): Promise<string> {
  screen.type(KEYS.ctrlC);
  expect(await screen.ended(), screen.text()).toBe(130);
  expect(cutWords(screen)).toEqual([]);
  return screen.text();
}

test('Ctrl-C before the search gives the answers back as a command', async () => {
  const screen = open([], join(tool.home, 'typed'));
  await toTheSearch(screen);
  // The terminal breaks the command, not the tool.
  expect((await leave(screen)).replaceAll('\n', '')).toMatch(
    /Nothing was paid\..* {2}\$ farelock search LIS BER --depart [\d-]{10} --return [\d-]{10} --adults 2 {2}\$ farelock$/,
  );
});

test('Ctrl-C at the list leaves its first flights in sight, and their numbers work, in this session of the terminal', async () => {
  const home = join(tool.home, 'listed');
  // As npx runs it, with a process of its own between shell and command.
  const env = { ...tool.env, FARELOCK_HOME: home, npm_command: 'exec' };
  const screen = openScreen([], { isShell: true, env, cwd: tool.home, columns: 60, rows: 44 });
  screen.type(`$TOOL${KEYS.enter}`);
  await toTheSearch(screen);
  screen.type(KEYS.enter);
  await screen.shows(/Which flight\?[\s\S]*Ctrl-C \w+$/);
  screen.type('d');
  await screen.shows(/direct only: on/);
  screen.type(KEYS.ctrlC);
  const left = await screen.shows(/numbers above still work[\s\S]*[$#]$/);
  expect(cutWords(screen)).toEqual([]);
  const shown = /\n → \d\d:\d\d[\s\S]*?\n +(\d+) \S[\s\S]*Paid so far: the search \(0\.10 USDC\)/.exec(
    left.replaceAll(/^→/gm, ' →'),
  );
  expect(shown, left).not.toBeNull();
  screen.type(`$TOOL intent create ${shown?.[1]} --dry-run; echo code $?${KEYS.enter}`);
  expect(await screen.shows(/code \d/)).toMatch(/code 0/);
  screen.type(`setsid -w $TOOL intent create ${shown?.[1]} --dry-run; echo later $?${KEYS.enter}`);
  expect(await screen.shows(/later \d/)).toMatch(/later 2/);
});

test('Ctrl-C among the questions for passengers names no file that was never written', async () => {
  const screen = open([], join(tool.home, 'typing'));
  await toTheSearch(screen);
  screen.type(KEYS.enter);
  await screen.shows(/Which flight\?[\s\S]*Ctrl-C \w+$/);
  screen.type(`/lorelei${KEYS.enter}`);
  await screen.shows(/search: lorelei/);
  screen.type(KEYS.enter);
  await screen.shows(/Which fare\?/);
  screen.type(KEYS.enter);
  await screen.shows(/Lock this fare/);
  screen.type(KEYS.enter);
  await screen.shows(/Given\s+names/);
  screen.type(`Ana${KEYS.enter}`);
  await screen.shows(/Family\s+name/);
  const left = await leave(screen);
  const [, intent = ''] = /\$ farelock book (int_\w+)$/m.exec(left) ?? [];
  expect(left).not.toMatch(/passengers\.json/);
  // The command that is named asks for the rest.
  const again = open(['book', intent], join(tool.home, 'typing'));
  await again.shows(/\? /);
  again.type(KEYS.ctrlC);
  expect(await again.ended()).toBe(130);
});
