import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { farelockIn, PASSENGER, type Runner } from '../e2e/farelock.ts';
import { closeTerminals, KEYS, openScreen, type Screen } from './terminal.ts';

/** Ctrl-C wherever a command waits: one sentence on what happened and how to go on, exit 130, a terminal as before. */

let tool: Runner;
let offers: string[];

beforeAll(async () => {
  tool = farelockIn();
  writeFileSync(join(tool.home, 'passengers.json'), JSON.stringify([PASSENGER]), { mode: 0o600 });
  const found = await tool.run([
    'search',
    'LIS',
    'BER',
    '--depart',
    '+30d',
    '--all-fares',
    '--json',
    '--no-wait',
  ]);
  offers = found
    .json<{ offers: { offer_id: string; total_currency: string; total_amount_decimal: string }[] }>()
    .offers.filter((offer) => offer.total_currency === 'USD' && Number(offer.total_amount_decimal) >= 10)
    .map((offer) => offer.offer_id);
});
afterAll(() => {
  closeTerminals();
  tool.close();
});

const start = (args: readonly string[], env: Record<string, string> = {}) =>
  openScreen(args, { env: { ...tool.env, NO_COLOR: undefined, ...env }, cwd: tool.home, thenStty: true });

async function newIntent(): Promise<string> {
  const made = await tool.run(['intent', 'create', offers.shift() ?? '', '--json']);
  expect(made.stderr + made.stdout).toContain('intent_id');
  return made.json<{ intent_id: string }>().intent_id;
}

/** Exit 130, one problem with a next step, the cursor shown, and the line discipline as a shell wants it. */
async function leavesWell(screen: Screen, said: RegExp): Promise<void> {
  expect(await screen.ended(), screen.text()).toBe(130);
  expect(screen.text()).toMatch(said);
  expect(screen.text().match(/✗/g) ?? []).toHaveLength(1);
  expect(screen.text()).toMatch(/stty: isig icanon echo$/);
  expect(screen.hasCursor(), 'the cursor is shown').toBe(true);
}

test('at the question before a booking is paid: nothing was paid', async () => {
  const intent = await newIntent();
  const screen = start(['book', intent, '--passengers', 'passengers.json']);
  await screen.shows(/Pay [\d.]+ USDC and book\?/);
  screen.type(KEYS.ctrlC);
  await leavesWell(
    screen,
    /Interrupted at a question; this run paid nothing\.\n\s+Run the same command again/,
  );
});

test('while a booking waits for its ticket: the money is named, and the command that follows it', async () => {
  const intent = await newIntent();
  const screen = start(['book', intent, '--passengers', 'passengers.json'], {
    FARELOCK_TICKETING_MS: '3000',
  });
  await screen.shows(/Pay [\d.]+ USDC and book\?/);
  screen.type(KEYS.enter);
  await screen.shows(/Ticketing/);
  screen.type(KEYS.ctrlC);
  await leavesWell(
    screen,
    /Interrupted\. [\d.]+ USDC are in the escrow[\s\S]*farelock status int_\w+ --watch/,
  );

  const watch = start(['status', intent, '--watch'], { FARELOCK_TICKETING_MS: '3000' });
  await watch.shows(/ticketing/i);
  watch.type(KEYS.ctrlC);
  await leavesWell(watch, /Interrupted/);
});

test('while slower offers land: the search is not lost, and its list is not left in pieces', async () => {
  const screen = start(['search', 'LIS', 'BER', '--depart', '+31d'], { FARELOCK_LOWCOST_MS: '20000' });
  await screen.shows(/USD/);
  screen.type(KEYS.ctrlC);
  expect(await screen.ended(), screen.text()).toBe(130);
  expect(screen.text()).toMatch(/stty: isig icanon echo$/);
  expect(screen.hasCursor()).toBe(true);
});

test('a second Ctrl-C does not wait: exit 130 at once, and the money is where it was', async () => {
  const intent = await newIntent();
  const screen = start(['book', intent, '--passengers', 'passengers.json', '--yes'], {
    FARELOCK_TICKETING_MS: '3000',
  });
  await screen.shows(/Ticketing/);
  screen.type(KEYS.ctrlC + KEYS.ctrlC);
  expect(await screen.ended()).toBe(130);
  expect(screen.text()).toMatch(/stty: isig icanon echo$/);
  expect(screen.hasCursor()).toBe(true);
  const again = await tool.run(['status', intent, '--watch', '--json'], {
    env: { FARELOCK_TICKETING_MS: '100' },
  });
  expect(again.stdout).toContain('"status":"booked"');
});

test('SIGTERM is like Ctrl-C, and SIGHUP too: the terminal is gone', async () => {
  const intent = await newIntent();
  await tool.run(['book', intent, '--passengers', join(tool.home, 'passengers.json'), '--yes', '--no-wait'], {
    env: { FARELOCK_TICKETING_MS: '3000' },
  });
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    const screen = openScreen(['status', intent, '--watch'], {
      env: { ...tool.env, FARELOCK_TICKETING_MS: '3000' },
    });
    await screen.shows(/ticketing/i);
    screen.kill(signal);
    expect([signal, await screen.ended()]).toEqual([signal, 130]);
    expect(screen.hasCursor()).toBe(true);
  }
});

test.each([
  ['serve', ['serve', '--port', '0'], /Ctrl-C stops/, /Stopping/, 0],
  ['partner platform', ['partner', 'platform', '--port', '0'], /Listening|listening/, /./, 0],
  ['demo', ['demo'], /3\. /, /Interrupted/, 130],
] as const)('%s stops with Ctrl-C', async (_name, args, ready, said, code) => {
  const screen = start(args, { FARELOCK_TICKETING_MS: '5000', FARELOCK_HOME: join(tool.home, 'other') });
  await screen.shows(ready);
  screen.type(KEYS.ctrlC);
  expect(await screen.ended(), screen.text()).toBe(code);
  expect(screen.text()).toMatch(said);
  expect(screen.text()).toMatch(/stty: isig icanon echo$/);
});
