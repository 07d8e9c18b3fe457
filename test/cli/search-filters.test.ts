import { afterAll, expect, test } from 'vitest';
import { TOOL } from '../../src/cli/commands/index.ts';
import { commandLineOf, toolCommands, toolOf } from '../../src/cli/commands/mcp/tools.ts';
import { describeTool } from '../../src/cli/spec/index.ts';
import type { Offer, SearchResponse } from '../../src/wire/flights/index.ts';
import { BACK, runInMemory, temporaryHome } from './memory.ts';

/** Filters of `search` as a person, a script and an agent give them. */

const place = temporaryHome();
const environment = { FARELOCK_HOME: place.home, FARELOCK_LOWCOST_MS: '20' };
afterAll(() => place.close());

const SEARCH = ['search', 'LIS', 'BER', '--depart', '+30d'];
const inTerminal = (words: readonly string[]) => runInMemory([...SEARCH, ...words], { environment, terminal: true });
const numbers = (text: string) => [...text.matchAll(/(\d+) (?:by|for) --/g)].map(([, count]) => Number(count));

test('a list says in one line how many fares each filter hid, slower offers included', async () => {
  const ran = await inTerminal(['--airline', 'E0,l1', '--airline', 'Q2', '--no-basic', '--refundable', '--limit', '2']);
  const [, total, rest] = /^(\d+) fares hidden: (.*)/ms.exec(ran.stdout) ?? [];
  expect(numbers(rest ?? '').reduce((sum, one) => sum + one, 0)).toBe(Number(total));
  expect(rest).toMatch(/^\d+ by --airline, \d+ by --no-basic/);
  const asJson = await runInMemory([...SEARCH, '--not-airline', 'Q2', '--wait', '--json'], { environment });
  const { hidden, offers } = asJson.json() as unknown as SearchResponse;
  expect(hidden).toEqual([{ filter: 'not_airlines', count: 2, unknown: 0 }]);
  expect(offers.some((one) => one.slices[0]?.segments[0]?.flight_number.startsWith('P2'))).toBe(true);
  const none = await inTerminal(['--airline', 'TP']);
  expect(none.stdout).toMatch(/^No offers match\.\n\d+ fares hidden: \d+ by --airline/);
});

test('a dry run says the filters; a wrong one is refused before anything is paid, with the likely one', async () => {
  const plan = await inTerminal(['--airline', 'E0,L1', '--max-duration', '12h30m', '--no-basic', '--dry-run']);
  expect(plan.stdout).toContain('Show the offers that suit --max-duration 12h30 --airline E0,L1 --no-basic.');
  const days = await inTerminal(['--alliance', 'star', '--flex', '1', '--dry-run']);
  expect(days.stdout).toContain('Show the cheapest price of each day, of offers that suit --alliance star.');
  for (const [words, said] of [
    [['--airline', 'lusavio'], '--airline lusavio names an unknown airline: LUSAVIO.\n  Did you mean E0 (Lusavia)?'],
    [['--alliance', 'sky'], ''],
    [['--alliance', 'oneword'], 'Unknown alliance "oneword". Did you mean oneworld?'],
    [['--max-duration', '5x'], '--max-duration must be a time such as 12h30m (got 5x).'],
    [['--arrive-before', '18:00+9'], '--arrive-before must be a time such as 18:00, or 09:30+1 (got 18:00+9).'],
  ] as const) {
    const ran = await inTerminal([...words, '--dry-run']);
    expect([ran.exitCode, ran.stderr]).toEqual([said === '' ? 0 : 2, expect.stringContaining(said)]);
  }
});

test('each day of --flex is searched with the filters', async () => {
  const argv = [...SEARCH, '--airline', 'Q1', '--with-bag', '--flex', '1', '--no-wait', '--max-payment', '1', '--json'];
  const { days } = (await runInMemory(argv, { environment })).json() as unknown as {
    days: Pick<Offer, 'owner_name'>[];
  };
  expect(days).toHaveLength(3);
  expect(new Set(days.map((day) => day.owner_name))).toEqual(new Set(['Swiftlet']));
});

test('a model gives lists, switches and one of three names', () => {
  const search = toolCommands(describeTool(TOOL, '0')).find(({ name }) => name === 'search');
  if (!search) throw new Error('no search');
  expect(toolOf(search).inputSchema.properties).toMatchObject({
    airline: { type: 'array', items: { type: 'string' } },
    not_airline: { type: 'array', items: { type: 'string' } },
    alliance: { type: 'string', enum: ['oneworld', 'skyteam', 'star'] },
    max_duration: { type: 'string', pattern: expect.any(String) },
    no_basic: { type: 'boolean' },
    with_bag: { type: 'boolean' },
  });
  const line = commandLineOf(search, {
    ...{ from: 'LIS', to: 'BER', depart: '+30d', airline: ['E0', 'L1'] },
    ...{ no_basic: true, refundable: false, arrive_before: '09:30+1' },
  });
  expect(line.argv).toEqual(expect.arrayContaining(['--airline=E0', '--airline=L1', '--no-basic']));
  expect(line.argv).not.toContain('--refundable');
});

test('a walk narrows its list by the same filters, counts what they hide, and says the command; without them nothing more is asked', async () => {
  const walk = (answers: readonly string[], name: string) =>
    runInMemory([], {
      environment: { ...environment, FARELOCK_HOME: `${place.home}/${name}` },
      terminal: true,
      columns: 100,
      answers: ['lisbon', 'ber', '+30d', '', '1', 'Search', ...answers],
    });
  const typed = '/lorelei --no-basic --max-duration 4h';
  const narrowed = await walk(
    [typed, `${typed} --airline lufthanse`, typed, 'Lorelei', 'Classic', BACK, BACK, BACK, BACK, BACK],
    'a',
  );
  const [, list = '', wrong = ''] = narrowed.asked.filter((one) => one.startsWith('Which flight?'));
  expect(list).toMatch(/\n\d+ fares hidden: \d+ by --max-duration, \d+ by --no-basic/);
  expect(list).toContain('Lorelei Airways');
  expect(list).not.toMatch(/Swiftlet|Light\b/);
  expect(wrong).toContain('Unknown airline LUFTHANSE. Did you mean LH (Lufthansa)?');
  expect(narrowed.stderr).toMatch(
    /Filters +--max-duration 4h00 --no-basic\n +\$ farelock search LIS BER --depart \S+ --max-duration 4h00 --no-basic\n/,
  );
  const plain = await walk(['Lorelei', 'Light', BACK], 'b');
  expect(plain.asked.filter((one) => /ilter|narrow/.test(one))).toEqual([]);
  expect(plain.stderr).not.toContain('Filters');
});
