import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TOOL } from '../../src/cli/commands/index.ts';
import { commandsOf } from '../../src/cli/spec/command.ts';
import { inMemory, runInMemory } from '../cli/memory.ts';
import { farelockIn, PASSENGER, type Ran, type Runner } from '../e2e/farelock.ts';
import { isProof } from '../rounds.ts';
import { closeTerminals, drawn, KEYS, openScreen, type Seen } from './terminal.ts';

/**
 * Every command on a terminal of 80 columns and off one, and drawn for 140: nothing wraps, and all agree on the exit code.
 * In the gate some of them are processes on a real terminal, and the others are drawn for 80 columns in this process.
 */

let tool: Runner;
const at = { intent: '', offer: '', lowcost: '', payment: '', request: '', order: '', code: '' };

const pay = ['--country', 'PT', '--ramp', 'on', '--from', 'EUR', '--to', 'USDC', '--amount', '100', '--method', 'sepa'];

/** Arguments with which each command can be run again and again. `null`: it goes on by itself, and is looked at below. */
const LINES: Readonly<Record<string, (() => readonly string[]) | null>> = {
  search: () => ['LIS', 'BER', '--depart', '+30d', '--return', '+37d', '--no-wait'],
  'search updates': () => ['sch_gone'],
  watch: () => ['LIS', 'BER', '--depart', '+30d', '--below', '90', '--dry-run'],
  'watch list': () => [],
  'watch resume': () => ['wch_gone'],
  'watch history': () => ['wch_gone'],
  'watch end': () => ['wch_gone'],
  airports: () => ['lond'],
  offer: () => [at.offer],
  'intent create': () => ['off_gone'],
  'intent list': () => [],
  book: () => [at.intent],
  status: () => [at.intent],
  order: () => [at.intent],
  'refund request': () => [at.intent, '--reason', 'Plans have changed', '--contact', 'ana@example.com', '--dry-run'],
  'refund queue': () => [],
  'refund desk': null,
  'refund show': () => [at.request],
  'refund claim': () => ['ref_gone'],
  'refund note': () => [at.request, 'Asked the airline'],
  'refund approve': () => [at.request, '--dry-run'],
  'refund reject': () => ['ref_gone', '--note', 'No', '--yes'],
  'travellers add': () => ['ana', 'passengers.json'],
  'travellers list': () => [],
  'travellers show': () => ['ana'],
  'travellers remove': () => ['nobody', '--yes'],
  'wallet new': () => [],
  'wallet show': () => [],
  'wallet balance': () => [],
  'wallet airdrop': () => ['--sol', '0.1'],
  'wallet limits show': () => [],
  'wallet limits set': () => ['--per-day', '500'],
  'payments list': () => [],
  'payments show': () => [at.payment],
  'payments verify': () => [at.payment],
  'payments resume': () => [at.payment],
  'affiliate create': () => [],
  'affiliate show': () => [at.code],
  'partner orders list': () => [],
  'partner orders show': () => [at.order, '--history'],
  'partner orders create': () => ['par_sandbox_bank', ...pay, '--dry-run'],
  'partner orders update': () => [at.order, '--status', 'PARTNER_ORDER_STATUS_COMPLETED', '--dry-run'],
  'partner orders apply': () => ['updates.csv', '--dry-run'],
  'partner orders watch': () => ['ord_gone'],
  'partner offers': () => pay,
  'partner requirements add': () => ['cus_gone', '--type', 'email'],
  'sandbox carrier-site': null,
  'sandbox duffel': null,
  'sandbox platform': null,
  'requirements list': () => [],
  'requirements submit': () => ['gone.json'],
  'requirements accept-terms': () => ['--dry-run'],
  'config list': () => ['--show-origin'],
  'config get': () => ['flights_url'],
  'config show': () => ['--effective'],
  'config set': () => ['rpc_url', 'devnet', '--profile', 'work'],
  'config unset': () => ['commitment', '--profile', 'work'],
  'config profile list': () => [],
  'config profile add': () => ['local'],
  'config profile use': () => ['local'],
  'config profile remove': () => ['gone'],
  'stuck list': () => [],
  'stuck show': () => ['int_gone'],
  'stuck resolve': () => ['int_gone', 'retry', '--yes'],
  'attestations list': () => [],
  'attestations show': () => ['att_gone'],
  'attestations decide': () => ['att_gone', 'approved', '--yes'],
  switch: () => [],
  'audit list': () => [],
  'keys list': () => [],
  'recipe check': () => ['gone.json'],
  'recipe new': () => ['X9', '--site', 'https://carrier.example'],
  'recipe record': () => ['nowhere', '--carrier', 'X9', ...TRIAL.slice(1), '--out', 'x9.json'],
  'recipe try': () => TRIAL,
  'recipe doctor': () => TRIAL,
  'db status': () => [],
  'db migrate': () => [],
  'db check': () => [],
  'db backup': () => ['gone/a.backup', '--dry-run'],
  'db restore': () => ['gone.backup'],
  'db reconcile': () => ['--dry-run'],
  'keys issue': () => ['Ana', '--dry-run'],
  'keys revoke': () => ['key_gone', '--yes'],
  'keys partner list': () => [],
  'keys partner issue': () => ['par_gone', 'Ana'],
  'keys partner revoke': () => ['pk_gone', '--yes'],
  'keys partner rotate': () => ['pk_gone', '--yes'],
  'keys token': () => ['cus_gone'],
  guided: null,
  demo: null,
  serve: null,
  worker: null,
  'cluster deploy': () => [],
  'cluster check': () => [],
  'cluster keys': () => [],
  'cluster rotate': () => ['authority'],
  'cluster fund': () => ['--sol', '1'],
  doctor: () => [],
  upgrade: () => [],
  explain: () => ['offer_expired'],
  schema: () => ['search'],
  completion: () => ['bash'],
  mcp: null,
  help: () => ['book'],
};

const TRIAL = ['gone.json', '--from', 'VIE', '--to', 'LIS', '--depart', '+30d'];

/** What is text for another program, which is as wide as it is. */
const FOR_PROGRAMS = ['schema', 'completion', 'recipe new'];

const json = async <T>(...args: string[]): Promise<T> => {
  const ran: Ran = await inMemory(tool).run([...args, '--json']);
  if (ran.exitCode !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`);
  return ran.json<T>();
};

beforeAll(async () => {
  tool = farelockIn({ FARELOCK_LOWCOST_MS: '10', FARELOCK_TICKETING_MS: '10', FARELOCK_ATTESTATION_MS: '1' });
  const passengers = join(tool.home, 'passengers.json');
  writeFileSync(passengers, JSON.stringify([PASSENGER]), { mode: 0o600 });
  writeFileSync(join(tool.home, 'updates.csv'), 'order_id,status\nord_gone,PARTNER_ORDER_STATUS_COMPLETED\n');
  const found = await json<{ offers: { offer_id: string; total_currency: string; total_amount_decimal: string }[] }>(
    'search',
    'LIS',
    'BER',
    '--depart',
    '+30d',
    '--no-wait',
    '--all-fares',
  );
  at.offer =
    found.offers.find((one) => one.total_currency === 'USD' && Number(one.total_amount_decimal) >= 10)?.offer_id ?? '';
  at.intent = (await json<{ intent_id: string }>('intent', 'create', at.offer)).intent_id;
  await json('book', at.intent, '--passengers', passengers, '--yes');
  const asked = ['refund', 'request', at.intent, '--reason', 'Plans have changed', '--contact', 'ana@example.com'];
  await json(...asked, '--yes');
  const queue = await json<{ refund_requests: { request_id: string }[] }>('refund', 'queue');
  at.request = queue.refund_requests[0]?.request_id ?? '';
  at.payment = (await json<{ payments: { payment_id: string }[] }>('payments', 'list')).payments[0]?.payment_id ?? '';
  at.code = (await json<{ code: string }>('affiliate', 'create')).code;
  at.order = (await json<{ orders: { id: string }[] }>('partner', 'orders', 'list')).orders[0]?.id ?? 'ord_gone';
  await inMemory(tool).run(['travellers', 'add', 'ana', passengers]);
  await inMemory(tool).run(['config', 'profile', 'add', 'work', '--flights-url', 'http://127.0.0.1:9']);
});
afterAll(() => {
  closeTerminals();
  tool.close();
});

const names = commandsOf(TOOL).map(({ name }) => name);

test('every command is looked at here', () => {
  expect(Object.keys(LINES).sort()).toEqual([...names].sort());
});

/** One of each kind of screen: a list, a booking, money, a form, a table of settings, a plan, a long text, an error. */
const ON_A_TERMINAL = [
  ...['search', 'book', 'order', 'refund show', 'travellers add', 'wallet balance', 'partner orders show'],
  ...['config list', 'stuck resolve', 'db backup', 'help', 'doctor'],
];

const COLOURS = new RegExp(`${String.fromCharCode(27)}(\\[[\\d;]*m|\\]8;)`);
/**
 * Shown whole where they are to be copied: a transaction signature of 88 characters, and an offer's id, which is the
 * longer the more flights the offer has.
 */
const TO_COPY = /([1-9A-HJ-NP-Za-km-z]{65,}|off_[\w-]{40,})$/;

test.each(names.filter((name) => LINES[name]))('%s', async (name) => {
  const args = [...name.split(' '), ...(LINES[name]?.() ?? [])];
  const seen = (exitCode: number, screen: Seen) => {
    const wide = FOR_PROGRAMS.includes(name) ? [] : screen.brokenLines().filter((line) => !TO_COPY.test(line));
    return { exitCode, wide, hasCursor: screen.hasCursor(), coloured: COLOURS.test(screen.raw()), text: screen.text() };
  };
  const onTerminal = async () => {
    const screen = openScreen(args, { env: { ...tool.env, NO_COLOR: undefined }, cwd: tool.home });
    return seen(await screen.ended(), screen);
  };
  /** In this process: that a terminal’s width reaches the tool is seen on the others. */
  const inThisProcess = async (columns: number, NO_COLOR: string) => {
    let raw = '';
    const write = (text: string) => {
      raw += text;
    };
    const environment = { ...tool.env, NO_COLOR };
    const options = { terminal: true, columns, environment, folder: tool.home, onStdout: write, onStderr: write };
    const { exitCode } = await runInMemory(args, options);
    return seen(exitCode, await drawn(raw, columns));
  };
  const [narrow, wide, piped] = await Promise.all([
    isProof || ON_A_TERMINAL.includes(name) ? onTerminal() : inThisProcess(80, ''),
    inThisProcess(140, '1'),
    inMemory(tool).run(args, { env: { NO_COLOR: '' } }),
  ]);
  expect({ 80: narrow.wide, 140: wide.wide }, 'lines that the terminal breaks').toEqual({ 80: [], 140: [] });
  expect([narrow.exitCode, wide.exitCode], `${narrow.text}\n---\n${piped.stdout}${piped.stderr}`).toEqual([
    piped.exitCode,
    piped.exitCode,
  ]);
  expect(narrow.hasCursor && wide.hasCursor, 'the cursor is shown').toBe(true);
  expect(wide.coloured, 'colour under NO_COLOR').toBe(false);
  expect(piped.stdout + piped.stderr, 'escape codes off a terminal').not.toContain('\u001b');
  expect([0, 2, 3, 4, 5, 8], `${piped.stdout}${piped.stderr}`).toContain(piped.exitCode);
  expect(narrow.text + piped.stderr).not.toMatch(/unexpected failed|undefined|\[object/);
});

/** What goes on until Ctrl-C, or tells a long story: where it is stopped, and its exit code there and off a terminal. */
const GO_ON: Readonly<
  Record<
    string,
    { args: readonly string[]; until: RegExp | null; code: number; piped: readonly string[]; pipedCode: number }
  >
> = {
  guided: { args: [], until: /From: a city/, code: 130, piped: ['guided'], pipedCode: 2 },
  demo: { args: ['demo'], until: null, code: 0, piped: ['demo'], pipedCode: 0 },
  serve: {
    args: ['serve', '--port', '0'],
    until: /Ctrl-C stops/,
    code: 0,
    piped: ['serve', '--port', '0', '--timeout', '1s'],
    pipedCode: 0,
  },
  worker: { args: ['worker'], until: /Ctrl-C stops/, code: 0, piped: ['worker', '--timeout', '1s'], pipedCode: 0 },
  'sandbox platform': {
    args: ['sandbox', 'platform', '--port', '0'],
    until: /Listening[\s\S]*Orders stay/,
    code: 0,
    piped: ['sandbox', 'platform', '--port', '0', '--timeout', '1s'],
    pipedCode: 0,
  },
  'sandbox carrier-site': {
    args: ['sandbox', 'carrier-site', '--port', '0'],
    until: /Listening[\s\S]*go nowhere/,
    code: 0,
    piped: ['sandbox', 'carrier-site', '--port', '0', '--timeout', '1s'],
    pipedCode: 0,
  },
  'sandbox duffel': {
    args: ['sandbox', 'duffel', '--port', '0'],
    until: /Listening[\s\S]*duffel_test_sandbox/,
    code: 0,
    piped: ['sandbox', 'duffel', '--port', '0', '--timeout', '1s'],
    pipedCode: 0,
  },
  'refund desk': {
    args: ['refund', 'desk'],
    until: /Nothing is waiting for a decision/,
    code: 130,
    piped: ['refund', 'desk'],
    pipedCode: 2,
  },
  mcp: { args: ['mcp'], until: /Ctrl-C stops/, code: 0, piped: ['mcp'], pipedCode: 0 },
};

test('every command that goes on is looked at here', () => {
  expect(Object.keys(GO_ON).sort()).toEqual(names.filter((name) => LINES[name] === null).sort());
});

/** A command to copy is never broken by us. */
const COPIED = /^ {2}(\$ |FARELOCK_HOME=)/;

/** The other servers stop as `serve` does. */
const PLAYED = Object.entries(GO_ON).filter(([name]) => isProof || !/^(sandbox|worker)/.test(name));

test.each(PLAYED)('%s, to its end', async (name, { args, until, code, piped, pipedCode }) => {
  const home = (place: string) => join(tool.home, `${name.replace(' ', '-')}-${place}`);
  const onTerminal = async (columns: number, NO_COLOR: string | undefined) => {
    const env = { ...tool.env, NO_COLOR, FARELOCK_HOME: home(String(columns)) };
    const screen = openScreen(args, { columns, env, cwd: tool.home });
    if (until !== null) {
      await screen.shows(until);
      screen.type(KEYS.ctrlC);
    }
    const exitCode = await screen.ended();
    const broken = screen.brokenLines().filter((line) => !TO_COPY.test(line) && !COPIED.test(line));
    return { exitCode, broken, raw: screen.raw(), hasCursor: screen.hasCursor(), text: screen.text() };
  };
  const [narrow, wide, off] = await Promise.all([
    onTerminal(80, undefined),
    isProof ? onTerminal(140, '1') : null,
    tool.run(piped, { env: { NO_COLOR: '', FARELOCK_HOME: home('off') } }),
  ]);
  for (const one of wide ? [narrow, wide] : [narrow]) {
    expect(one.broken, one.text).toEqual([]);
    expect(one.exitCode, `${one.text}\n---\n${off.stderr}`).toBe(code);
    expect(one.hasCursor, 'the cursor is shown').toBe(true);
  }
  expect(off.exitCode, off.stderr).toBe(pipedCode);
  expect(COLOURS.test(narrow.raw), 'colours on a terminal').toBe(name !== 'mcp');
  expect(COLOURS.test(wide?.raw ?? ''), 'colour under NO_COLOR').toBe(false);
  expect(off.stdout + off.stderr, 'escape codes off a terminal').not.toContain('\u001b');
  expect(`${narrow.text}${wide?.text ?? ''}${off.stderr}`).not.toMatch(/unexpected failed|undefined|\[object/);
});
