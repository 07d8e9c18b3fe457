import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TOOL } from '../../src/cli/commands/index.ts';
import { commandsOf } from '../../src/cli/spec/command.ts';
import { runInMemory, temporaryHome } from './memory.ts';

/** Help on one screen, and two ways to one thing that became one. */

const { home, close } = temporaryHome();
afterAll(close);
const environment = { FARELOCK_HOME: home, FARELOCK_LOWCOST_MS: '10' };
const run = (line: string, terminal = false) => runInMemory(line.split(' '), { environment, terminal });

test('the first help fits one screen of 30 lines and 80 columns, and names commands that there are', async () => {
  const { stdout } = await run('--help');
  const lines = stdout.trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(30);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect([...new Set(TOOL.overview.map(([purpose]) => purpose))].join(' ')).toBe(
    'Book Follow Refund Partners Operate Set up Options',
  );
  const names = commandsOf(TOOL).map(({ name }) => name);
  for (const [purpose, usage] of TOOL.overview) {
    const [name = ''] = usage.split(/ [<[]/);
    if (purpose !== 'Options')
      expect(
        names.some((one) => `${one} `.startsWith(`${name} `)),
        usage,
      ).toBe(true);
  }
  expect((await runInMemory([])).stdout).toBe(stdout);
  expect((await run('help')).stdout).toBe(stdout);
  expect((await run('--json --help')).stdout).toBe(stdout);
});

test('help --all has every group, every option of all commands, and examples', async () => {
  const { stdout } = await run('help --all');
  for (const { name } of commandsOf(TOOL)) expect(stdout).toMatch(new RegExp(`^ {2}${name.split(' ')[0]}\\b`, 'm'));
  expect(stdout).toMatch(/--max-payment <usdc>[\s\S]*--plain[\s\S]*Examples:/);
});

describe('a family of commands without a subcommand', () => {
  const commands = commandsOf(TOOL).map(({ name }) => name);
  /** Families that do something by default name it in their spec, or are commands themselves. */
  const runs = (family: string) =>
    commandsOf(TOOL).some(
      ({ name, isDefault, arguments: given = [] }) =>
        name === family ||
        (isDefault && name.replace(/ \S+$/, '') === family && !given.some(({ flags }) => flags.startsWith('<'))),
    );
  const families = Object.keys(TOOL.groups).filter((family) => !runs(family));

  test.each(families)(
    '%s lists what it has on one short screen and succeeds, on a terminal and off one',
    async (name) => {
      for (const terminal of [false, true]) {
        const { exitCode, stdout, stderr } = await run(name, terminal);
        expect([exitCode, stderr], name).toEqual([0, '']);
        const lines = stdout.trimEnd().split('\n');
        expect(lines.length).toBeLessThanOrEqual(24);
        expect(lines.filter((line) => line.length > 80)).toEqual([]);
        expect(stdout).toContain(`Usage: farelock ${name} <command>`);
        for (const own of commands.filter((one) => one.startsWith(`${name} `)))
          expect(stdout).toMatch(new RegExp(`^ {2}${own.slice(name.length + 1)}\\b`, 'm'));
        expect((await run(`${name} --help`, terminal)).stdout).toBe(stdout);
      }
      const json = await run(`${name} --json`);
      expect([json.exitCode, json.json().error]).toMatchObject([2, { code: 'usage' }]);
    },
  );

  test('shows no old name, and still refuses what it does not have', async () => {
    expect(families).toEqual(
      expect.arrayContaining(['intent', 'wallet', 'partner', 'partner orders', 'keys', 'cluster']),
    );
    expect((await run('intent')).stdout).not.toMatch(/^ {2}(show|verify)/m);
    for (const line of ['wallet xyzzy', 'wallet --xyzzy', 'intent create', 'search'])
      expect((await run(line)).exitCode, line).toBe(2);
  });
});

describe('an old name', () => {
  const at = { search: '', intent: '' };
  beforeAll(async () => {
    const found = (await run('search LIS BER --depart +30d --json')).json() as {
      search_id?: string;
      offers: { offer_id: string; total_currency: string }[];
    };
    at.search = found.search_id ?? 'sch_none';
    const offer = found.offers.find((one) => one.total_currency === 'USD' && !one.offer_id.startsWith('lowcost:'));
    at.intent = String((await run(`intent create ${offer?.offer_id} --json`)).json().intent_id);
  });

  const ways = (): readonly (readonly [old: string, now: string])[] => [
    [`search-updates ${at.search}`, `search updates ${at.search}`],
    [`search-updates ${at.search} --wait`, `search updates --wait ${at.search}`],
    [`intent verify ${at.intent}`, `status ${at.intent} --verify`],
    ['intent verify int_none', 'status int_none --verify'],
    ['wallet history --limit 3', 'payments list --chain --limit 3'],
    [`intent show ${at.intent} --json`, `status ${at.intent} --json`],
  ];

  test('does the same and says the new one; under --json and --quiet it says nothing', async () => {
    for (const [old, now] of ways()) {
      const [before, after] = [await run(old), await run(now)];
      expect([before.exitCode, before.stdout], old).toEqual([after.exitCode, after.stdout]);
      if (old.includes('--json')) continue;
      expect(before.stderr).toMatch(/^farelock [a-z -]+ is now farelock /m);
      expect(after.stderr).not.toContain('is now');
      for (const mode of ['--json', '--quiet'])
        expect((await run(`${old} ${mode}`)).stderr, old).not.toContain('is now');
    }
  });

  test('keeps its own lines for a person', async () => {
    const shown = await run(`intent show ${at.intent}`, true);
    expect([shown.exitCode, shown.stdout.includes(at.intent)]).toEqual([0, true]);
    expect(shown.stderr).toContain('farelock intent show is now farelock status <intent-id>.');
  });

  test('is in no help and no completion, and its schema is that of the new one', async () => {
    const { stdout } = await run('help --all');
    for (const { name } of TOOL.old) {
      expect(stdout).not.toMatch(new RegExp(`^ {2}${name}\\b`, 'm'));
      expect((await run(`${name} --help`)).exitCode, name).toBe(0);
      expect((await run(`schema ${name}`)).exitCode, name).toBe(0);
    }
    expect((await run('complete bash -- intent ')).stdout).not.toMatch(/^(show|verify)$/m);
    expect((await run('complete bash -- search up')).stdout).toBe('updates\n');
    expect((await run('complete bash -- config set limits')).stdout).toBe('');
  });

  test('of a limit is one of config set', async () => {
    const set = await run('config set limits.per_day 25');
    expect(set.stderr).toContain(
      'limits.per_day is now set with farelock wallet limits set --per-day 25 --profile local',
    );
    expect((await run('config unset limits.per_day --json')).stderr).not.toContain('is now');
  });
});

test('search updates takes none of the options of search', async () => {
  const wrong = await run('search updates sch_1 --adults 2');
  expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringMatching(/Unknown option '--adults'/)]);
  expect((await run('search LIS BER')).stderr).toMatch(/--depart/);
});
