import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inMemory } from '../cli/memory.ts';
import { farelockIn, PASSENGER, type Runner } from '../e2e/farelock.ts';
import { layOrders } from '../e2e/ramp-orders.ts';
import { proofTest } from '../proof-only.ts';
import { isProof } from '../rounds.ts';
import { closeTerminals, KEYS, openScreen, type Screen } from './terminal.ts';

/** Ctrl-C wherever a command waits: one sentence on what happened and how to go on, exit 130, a terminal as before. */

let tool: Runner;
/** What is prepared and looked up beside the terminal. */
let beside: Runner;
let offers: string[];

beforeAll(async () => {
  tool = farelockIn();
  beside = inMemory(tool);
  writeFileSync(join(tool.home, 'passengers.json'), JSON.stringify([PASSENGER]), { mode: 0o600 });
  const found = await beside.run(['search', 'LIS', 'BER', '--depart', '+30d', '--all-fares', '--json', '--no-wait']);
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
  const made = await beside.run(['intent', 'create', offers.shift() ?? '', '--json']);
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
    /Interrupted at a question\. Nothing was paid; the fare stays\s+locked until\s+[\d: -]+ UTC\.\n\s+Run the same command again\.\n\s+\$ farelock book int_\w+ --passengers passengers\.j\n?son/,
  );
});

proofTest(
  'at the questions for a passenger: nothing was paid, and saved travellers stand in the command to go on with',
  async () => {
    const intent = await newIntent();
    const asked = start(['book', intent]);
    await asked.shows(/from passengers\.json\?/);
    asked.type(`n${KEYS.enter}`);
    await asked.shows(/Given names/);
    asked.type(`Ana${KEYS.enter}`);
    await asked.shows(/Family name/);
    asked.type(KEYS.ctrlC);
    await leavesWell(asked, /Nothing was paid; the fare stays[\s\S]*\$ farelock book int_\w+\n/);

    await beside.run(['travellers', 'add', 'ana', join(tool.home, 'passengers.json')]);
    const saved = start(['book', intent, '--traveller', 'ana']);
    await saved.shows(/Pay [\d.]+ USDC and book\?/);
    saved.type(KEYS.ctrlC);
    await leavesWell(saved, /Nothing was paid[\s\S]*\$ farelock book int_\w+ --traveller ana\n/);
  },
);

test('while a booking waits for its ticket: the money is named, and the command that follows it', async () => {
  const intent = await newIntent();
  const screen = start(['book', intent, '--passengers', 'passengers.json'], { FARELOCK_TICKETING_MS: '60000' });
  await screen.shows(/Pay [\d.]+ USDC and book\?/);
  screen.type(KEYS.enter);
  await screen.shows(/Ticketing/);
  screen.type(KEYS.ctrlC);
  await leavesWell(screen, /Interrupted\. [\d.]+ USDC are in the escrow[\s\S]*farelock status int_\w+ --watch/);

  const watch = start(['status', intent, '--watch'], { FARELOCK_TICKETING_MS: '60000' });
  await watch.shows(/ticketing/i);
  watch.type(KEYS.ctrlC);
  await leavesWell(watch, /Interrupted\. [\d.]+ USDC are in the escrow[\s\S]*farelock status int_\w+ --watch/);
});

proofTest('while slower offers land: the search is not lost, and its list is not left in pieces', async () => {
  const screen = start(['search', 'LIS', 'BER', '--depart', '+31d'], { FARELOCK_LOWCOST_MS: '20000' });
  // A price of the list, not the payment's USDC.
  await screen.shows(/USD\b/);
  screen.type(KEYS.ctrlC);
  expect(await screen.ended(), screen.text()).toBe(130);
  expect(screen.text()).toMatch(/Interrupted: slower offers may be missing from this list\./);
  expect(screen.text()).toMatch(/The search is paid: the numbers above still work\. A new one is charged\./);
  expect(screen.text()).toMatch(/stty: isig icanon echo$/);
  expect(screen.hasCursor()).toBe(true);
});

proofTest('an order that is watched goes its way; rows that were applied are told, and the rest follows', async () => {
  const watch = start(['partner', 'orders', 'watch', 'rmp_demo_waiting']);
  await watch.shows(/Awaiting funds[\s\S]*Awaiting funds/);
  watch.type(KEYS.ctrlC);
  await leavesWell(
    watch,
    /Interrupted\. The order was last seen Awaiting funds, and continues[\s\S]*partner orders watch rmp_demo_waiting/,
  );

  const orders = await layOrders(tool, 300);
  const file = join(tool.home, 'updates.csv');
  writeFileSync(file, `order_id,status\n${orders.map((id) => `${id},FUNDS_RECEIVED`).join('\n')}\n`);
  const apply = start(['partner', 'orders', 'apply', 'updates.csv']);
  await apply.shows(/[1-9]\d* of 300 rows/);
  apply.type(KEYS.ctrlC);
  await leavesWell(
    apply,
    /Interrupted\. \d+ of 300 rows applied; \d+ left\.[\s\S]*\$ farelock partner orders apply updates\.csv/,
  );
  const rest = await beside.run(['partner', 'orders', 'apply', file, '--json']);
  expect(rest.json()).toMatchObject({ rows: 300, applied: 300 });
});

proofTest('at the question of an operator nothing was paid out or changed', async () => {
  const intent = await newIntent();
  await beside.run(['book', intent, '--passengers', join(tool.home, 'passengers.json'), '--yes']);
  const asked = ['refund', 'request', intent, '--reason', 'Plans have changed', '--yes', '--json'];
  expect((await beside.run(asked)).exitCode).toBe(0);
  const screen = start(['refund', 'approve', intent, '--amount', '1', '--note', 'Goodwill']);
  await screen.shows(/Pay out [\d.]+ USDC\?/);
  screen.type(KEYS.ctrlC);
  await leavesWell(screen, /Interrupted at a question\. Nothing changed\.[\s\S]*\$ farelock refund approve int_/);
  const after = await beside.run(['refund', 'show', intent, '--json']);
  expect(after.json()).toMatchObject({ status: 'received' });
});

test('a server of tools that a person stops says that nothing is half done', async () => {
  const typed = start(['mcp']);
  await typed.shows(/A program starts it; Ctrl-C stops\./);
  typed.type(KEYS.ctrlC);
  expect(await typed.ended(), typed.text()).toBe(0);
  expect(typed.text()).toMatch(/Stopped between two calls; nothing is half done\. To start again: farelock mcp/);
  expect(typed.text()).toMatch(/stty: isig icanon echo$/);
});

test('a second Ctrl-C does not wait for what the first one lets finish', async () => {
  const screen = start(['serve', '--port', '0'], { FARELOCK_HOME: join(tool.home, 'forced') });
  const [, port = ''] = /Listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(await screen.shows(/Ctrl-C stops/)) ?? [];
  // A request that never ends: the drain would wait for it.
  const client = connect(Number(port), '127.0.0.1');
  client.on('error', () => undefined);
  await new Promise<void>((resolve) => client.once('connect', resolve));
  client.write('POST /air/search HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{');
  screen.type(KEYS.ctrlC);
  await screen.shows(/Stopping after current work\. Press Ctrl-C again to stop now\./);
  screen.type(KEYS.ctrlC);
  expect(await screen.ended(5_000)).toBe(130);
  expect(screen.text()).toMatch(/✗ Stopped immediately\. Signed payments are on record: farelock payments list/);
  client.destroy();
});

test('Ctrl-C twice in one breath: exit 130 at once, and the money is where it was', async () => {
  const intent = await newIntent();
  const screen = start(['book', intent, '--passengers', 'passengers.json', '--yes'], { FARELOCK_TICKETING_MS: '3000' });
  await screen.shows(/Ticketing/);
  screen.type(KEYS.ctrlC + KEYS.ctrlC);
  expect(await screen.ended()).toBe(130);
  expect(screen.text()).toMatch(/stty: isig icanon echo$/);
  expect(screen.hasCursor()).toBe(true);
  const again = await beside.run(['status', intent, '--watch', '--json'], { env: { FARELOCK_TICKETING_MS: '100' } });
  expect(again.stdout).toContain('"status":"booked"');
});

proofTest('a wait for the ticket shows for how long it has lasted, and what is usual', async () => {
  const screen = start(['book', await newIntent(), '--passengers', 'passengers.json', '--yes'], {
    FARELOCK_TICKETING_MS: '30000',
  });
  await screen.shows(/Ticketing, usually within a minute$/m);
  await screen.shows(/Ticketing, usually within a minute · [3-9] s$/m);
  await screen.shows(/Ticketing, usually within a minute · (?:1\d|2\d) s$/m);
  screen.type(KEYS.ctrlC);
  await leavesWell(screen, /Interrupted\. [\d.]+ USDC are in the escrow/);
});

test('a terminal that is kept as a log gets a line for each phase, and the same sentence', async () => {
  const screen = start(['book', await newIntent(), '--passengers', 'passengers.json', '--yes'], {
    FARELOCK_TICKETING_MS: '3000',
    CI: 'true',
  });
  await screen.shows(/Ticketing, usually within a minute…/);
  expect(screen.text()).toMatch(/Paying[^\n]*…\n[\s\S]*Ticketing, usually within a minute…/);
  screen.type(KEYS.ctrlC);
  await leavesWell(screen, /Interrupted\. [\d.]+ USDC are in the escrow/);
});

test('SIGTERM is like Ctrl-C, and SIGHUP too: the terminal is gone', async () => {
  const intent = await newIntent();
  await beside.run(['book', intent, '--passengers', join(tool.home, 'passengers.json'), '--yes', '--no-wait'], {
    env: { FARELOCK_TICKETING_MS: '60000' },
  });
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    const screen = openScreen(['status', intent, '--watch'], { env: { ...tool.env, FARELOCK_TICKETING_MS: '60000' } });
    await screen.shows(/ticketing/i);
    screen.kill(signal);
    expect([signal, await screen.ended()]).toEqual([signal, 130]);
    expect(screen.hasCursor()).toBe(true);
  }
});

const STOPS = [
  [
    'serve',
    ['serve', '--port', '0'],
    /Ctrl-C stops/,
    /Stopping after current work[\s\S]*Stopped\. The next farelock serve finishes/,
    0,
  ],
  [
    'sandbox platform',
    ['partner', 'platform', '--port', '0'],
    /Listening/,
    /Stopping after current work[\s\S]*Stopped\. The next farelock sandbox platform continues with/,
    0,
  ],
  [
    'sandbox duffel',
    ['sandbox', 'duffel', '--port', '0'],
    /Listening/,
    /Stopping after current work[\s\S]*Stopped\. The next farelock sandbox duffel continues with/,
    0,
  ],
  [
    'demo',
    ['demo'],
    /4\. [\s\S]*Ticketing/,
    /Interrupted\. [\d.]+ USDC are in the escrow[\s\S]*All of it is play money\.[\s\S]*\$ farelock status int_\w+ --watch/,
    130,
  ],
] as const;

// In the gate the last one: test/pty/commands.test.ts stops each of the others, too.
test.each(STOPS.slice(isProof ? 0 : -1))('%s stops with Ctrl-C', async (_name, args, ready, said, code) => {
  const screen = start(args, { FARELOCK_TICKETING_MS: '5000', FARELOCK_HOME: join(tool.home, 'other') });
  await screen.shows(ready);
  screen.type(KEYS.ctrlC);
  expect(await screen.ended(), screen.text()).toBe(code);
  expect(screen.text()).toMatch(said);
  expect(screen.text()).toMatch(/stty: isig icanon echo$/);
});
