import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Offer } from '../../src/wire/flights/index.ts';
import { proofTest } from '../proof-only.ts';
import { ANA, type MemoryRun, runInMemory, temporaryHome } from './memory.ts';

/** Numbers belong to the terminal that showed them, and lead from a row to its offer and to its intent. */

let home: ReturnType<typeof temporaryHome>;
beforeEach(() => {
  home = temporaryHome();
  writeFileSync(join(home.home, 'passengers.json'), JSON.stringify([ANA]));
});
afterEach(() => home.close());

const ENVIRONMENT = { FARELOCK_TICKETING_MS: '20', FARELOCK_LOWCOST_MS: '20' };
/** A command in a terminal, or off one where its name begins with `script`. */
const inTerminal =
  (place: string) =>
  (line: string, answers: readonly (string | boolean)[] = []): Promise<MemoryRun> =>
    runInMemory(
      line.split(' ').map((word) => word.replace('passengers.json', join(home.home, 'passengers.json'))),
      {
        terminal: !place.startsWith('script'),
        columns: 120,
        place,
        answers,
        environment: { FARELOCK_HOME: home.home, ...ENVIRONMENT },
      },
    );
const [a, b] = [inTerminal('tty1.100'), inTerminal('tty2.200')];

interface Page {
  readonly from: string;
  readonly numbered: Readonly<Record<string, string>>;
  readonly others: readonly Page[];
}
const pageOf = (from: string): Page['numbered'] => {
  const newest = JSON.parse(readFileSync(join(home.home, 'recent-offers.json'), 'utf8')) as Page;
  return [newest, ...newest.others].find((page) => page.from === from)?.numbered ?? {};
};
const payments = async () => ((await a('payments list --json')).json().payments as unknown[]).length;
const error = (run: MemoryRun) => run.json().error as { code: string; message: string; next: string[] };
/** The number of a fare that a plain lock takes. */
const plainRow = (from: string): string =>
  Object.entries(pageOf(from)).find(([, id]) => !id.startsWith('lowcost:'))?.[0] ?? '';

describe('a number of a list', () => {
  test('locks what its own terminal shows, whatever another one has searched since', async () => {
    await a('search LIS BER --depart +30d --no-wait');
    await b('search LIS MAD --depart +31d --no-wait');
    const [rowA, rowB] = [plainRow('tty1.100'), plainRow('tty2.200')];
    const lockedA = (await a(`intent create ${rowA} --json`)).json();
    const lockedB = (await b(`intent create ${rowB} --json`)).json();
    expect(lockedA.offer_id).toBe(pageOf('tty1.100')[rowA]);
    expect(lockedB.offer_id).toBe(pageOf('tty2.200')[rowB]);
    expect((await a(`status ${rowA} --json`)).json().intent_id).toBe(lockedA.intent_id);
    expect((await b(`status ${rowB} --json`)).json().intent_id).toBe(lockedB.intent_id);
  });

  test('is refused where another terminal or a script has shown the list, and costs nothing', async () => {
    await a('wallet show');
    await inTerminal('script300')('search LIS BER --depart +30d --no-wait --json');
    const before = await payments();
    for (const line of ['intent create 1', 'offer 1', 'book 1 --yes', 'status 1', 'refund 1', 'refund show 1']) {
      const run = await b(`${line} --json`);
      const isCase = line === 'refund show 1';
      expect([run.exitCode, error(run).code], line).toEqual(isCase ? [3, 'refund_request_not_found'] : [2, 'usage']);
      expect(error(run).message).toMatch(isCase ? /no row 1/ : /another terminal/);
      // The list of what the command takes, and never its help.
      const list = isCase ? 'refund queue' : /^(intent|offer)/.test(line) ? 'help search' : 'intent list';
      expect(error(run).next, line).toEqual([`farelock ${list}`]);
    }
    expect(await payments()).toBe(before);
  });

  test('of a row that is not locked says how to lock it', async () => {
    await a('search LIS BER --depart +30d --no-wait');
    const run = await a('book 2 --json');
    expect([run.exitCode, error(run).code, error(run).next]).toEqual([3, 'intent_not_found', ['farelock intent 2']]);
  });

  proofTest('means the list that was shown last: intents after `intent list`, offers after a lock', async () => {
    await a('search LIS BER --depart +30d --no-wait');
    const rows = Object.keys(pageOf('tty1.100')).filter((row) => !pageOf('tty1.100')[row]?.startsWith('lowcost:'));
    const first = (await a(`intent create ${rows[0]} --json`)).json();
    const second = (await a(`intent create ${rows[1]} --json`)).json();
    const listed = (await a('intent list --json')).json().intents as { intent_id: string }[];
    expect(listed.map((one) => one.intent_id)).toEqual([second.intent_id, first.intent_id]);
    expect((await a('status 2 --json')).json().intent_id).toBe(first.intent_id);
    expect((await a('intent show 1 --json')).json().intent_id).toBe(second.intent_id);
    expect((await a('status 3 --json')).exitCode).toBe(3);
    await a(`intent create ${rows[2]} --json`);
    expect((await a(`status ${rows[0]} --json`)).json().intent_id).toBe(first.intent_id);
  });
});

describe('a command without an id', () => {
  proofTest('goes from a search to a refund request, and says what it takes', async () => {
    await a('search LIS BER --depart +30d --no-wait');
    const made = await a(`intent create ${plainRow('tty1.100')}`);
    expect(made.stdout).toMatch(/^✓ Locked until .* UTC/);
    expect(made.stdout).toMatch(/LIS → BER/);
    expect(made.stderr).toMatch(/^Next: farelock book$/m);
    const booked = await a('book --passengers passengers.json --yes');
    expect(booked.exitCode, booked.stderr).toBe(0);
    expect(booked.stderr).toMatch(/^LIS → BER, .*USDC$/m);
    const [, reference = 'none'] = /^([A-Z0-9]{6}) {2}booked/.exec(booked.stdout) ?? [];
    expect(booked.stderr).toMatch(/^Next: farelock order$/m);
    const status = await a('status');
    expect(status.stdout).toMatch(new RegExp(`^${reference}  booked`));
    expect(status.stdout.trim().split('\n').length).toBeLessThanOrEqual(6);
    expect(status.stdout).not.toMatch(/int_|ord_|[1-9A-HJ-NP-Za-km-z]{32,}/);
    expect((await a('status --verbose')).stdout).toMatch(/int_[\s\S]*[1-9A-HJ-NP-Za-km-z]{40,}/);
    expect((await a('order')).stdout).toMatch(new RegExp(`^${reference}`));
    const verified = await a('intent verify');
    expect(verified.exitCode, verified.stderr).toBe(0);
    const asked = await a('refund request --reason Plans --yes');
    expect(asked.exitCode, asked.stderr).toBe(0);
    expect(asked.stdout).toContain(`Refund requested for ${reference}`);
    expect(asked.stderr).toMatch(/^Next: farelock status$/m);
  });

  test('lists several open locks, with numbers that work, and pays for none', async () => {
    await a('search LIS BER --depart +30d --no-wait');
    const rows = Object.keys(pageOf('tty1.100')).filter((row) => !pageOf('tty1.100')[row]?.startsWith('lowcost:'));
    const first = (await a(`intent create ${rows[0]} --json`)).json();
    const second = await a(`intent create ${rows[1]}`);
    expect(second.stderr).toMatch(new RegExp(`^Next: farelock book ${rows[1]}$`, 'm'));
    const before = await payments();
    const run = await a('book --passengers passengers.json --yes');
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toMatch(/^1 {2}LIS → BER.*int_/m);
    expect(run.stderr).toMatch(/^2 {2}LIS → BER.*int_/m);
    expect(await payments()).toBe(before);
    const booked = await a('book 2 --passengers passengers.json --yes --json');
    expect([booked.exitCode, booked.json().intent_id]).toEqual([0, first.intent_id]);
  });

  test('under --yes pays no lock that this terminal has not shown', async () => {
    await a('search LIS BER --depart +30d --no-wait');
    const made = (await a(`intent create ${plainRow('tty1.100')} --json`)).json();
    const before = await payments();
    const run = await b('book --passengers passengers.json --yes');
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain(`1  LIS → BER`);
    expect(await payments()).toBe(before);
    const booked = await b('book 1 --passengers passengers.json --yes --json');
    expect(booked.json().intent_id).toBe(made.intent_id);
  });

  test('off a terminal, and under --json, the next command has the id', async () => {
    const script = inTerminal('script1');
    await script('search LIS BER --depart +30d --no-wait --json');
    const made = await script(`intent create ${plainRow('script1')}`);
    const [id = ''] = /int_\w+/.exec(made.stdout) ?? [];
    expect(made.stderr).toContain(`Next: farelock book ${id} --passengers passengers.json`);
  });
});

test('a low-cost row is marked, says what it costs and asks, and locks the cheapest fare of its menu', async () => {
  const shown = await a('search LIS BER --depart +30d --all-fares --limit 200');
  expect(shown.stdout).toMatch(/^.* \d+ [^†]*† .*\d\d$/m);
  expect(shown.stdout).toMatch(/† low-cost: needs each passenger's nationality, passport number and expiry date/);
  const [row = ''] = Object.entries(pageOf('tty1.100')).find(([, id]) => id.startsWith('lowcost:')) ?? [];
  const made = await a(`intent create ${row}`);
  expect(made.exitCode, made.stderr).toBe(0);
  expect(made.stderr).toContain(`Row ${row} is low-cost: its fare menu costs 0.10 USDC, the lock 0.10 USDC.`);
  expect(made.stdout).toMatch(/Passports +needs each passenger's nationality/);
  const refused = await a(`book ${row} --passengers passengers.json --yes`);
  expect(refused.exitCode).toBe(2);
  expect(refused.stderr).toMatch(/passengers\.json is missing 3 fields that this fare needs/);
  expect(refused.stderr).toMatch(/This call cost nothing/);
});

proofTest('every offer of a list keeps the home readable for a version that knows one list only', async () => {
  await a('search LIS BER --depart +30d --no-wait');
  const kept = JSON.parse(readFileSync(join(home.home, 'recent-offers.json'), 'utf8')) as Page & {
    journeys: Record<string, unknown>;
  };
  expect(Object.keys(kept.numbered)).toContain('1');
  expect(existsSync(join(home.home, 'recent-offers.json'))).toBe(true);
  expect((await b('offer 1 --json')).exitCode).toBe(2);
  const offers = (await b('search LIS BER --depart +30d --no-wait --json')).json().offers as Offer[];
  expect(pageOf('tty2.200')['1']).toBe(offers[0]?.offer_id);
});
