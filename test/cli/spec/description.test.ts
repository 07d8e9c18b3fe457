import { expect, test } from 'vitest';
import { TOOL } from '../../../src/cli/commands/index.ts';
import { commandLineOf, toolCommands, toolOf } from '../../../src/cli/commands/mcp/tools.ts';
import { describeTool } from '../../../src/cli/spec/description.ts';
import { parse } from '../../../src/cli/tool/index.ts';
import { isProblem } from '../../../src/kernel/problems.ts';
import { runInMemory } from '../memory.ts';

const tool = describeTool(TOOL, '9.9.9');
const names = tool.commands.map(({ name }) => name);
const commandOf = (name: string) => {
  const found = tool.commands.find((one) => one.name === name);
  if (!found) throw new Error(name);
  return found;
};
const streams = {
  stdout: { isTTY: false, columns: null, write: () => undefined },
  stderr: { isTTY: false, columns: null, write: () => undefined },
  stdin: { isTTY: false, text: async () => '' },
};

test('every command has an example, and a name of its own', () => {
  expect(tool.commands.filter(({ examples }) => examples.length === 0)).toEqual([]);
  expect([...new Set(names)]).toEqual(names);
});

test('every group that a command begins with is explained, and no other', () => {
  const groups = names.flatMap((name) => {
    const words = name.split(' ');
    return words.slice(1).map((_word, index) => words.slice(0, index + 1).join(' '));
  });
  // `search` is a command of its own, beside `search updates`.
  expect(Object.keys(TOOL.groups).sort()).toEqual([...new Set(groups)].filter((one) => !names.includes(one)).sort());
});

test('an example has ids as this tool makes them, and the help says who may fly', async () => {
  const ids = tool.commands.flatMap(({ examples }) =>
    examples.flatMap((line) => line.match(/\b[a-z]{3}_(?=…|[a-z0-9]{8})/g) ?? []),
  );
  const made = ['att_', 'int_', 'key_', 'off_', 'ord_', 'pay_', 'ref_', 'wch_', 'rmp_', 'sch_', 'cus_', 'par_'];
  expect(ids.filter((prefix) => !made.includes(prefix))).toEqual([]);
  // An order of a partner is no order of an airline.
  for (const { name, examples } of tool.commands)
    if (name.startsWith('partner ')) expect(examples.join(' '), name).not.toMatch(/\bord_/);
  const help = await runInMemory(['search', '--help']);
  expect(help.stdout).toMatch(/--adults <n> +travellers, 1 to 9, aged 18 or over/);
});

test.each(tool.commands.flatMap(({ name, examples }) => examples.map((example) => [example, name] as const)))(
  '%s: understood, as the command it stands for',
  (example, name) => {
    const words = [...(example.split(' < ')[0] ?? '').matchAll(/"([^"]*)"|(\S+)/g)].map((m) => m[1] ?? m[2] ?? '');
    expect(words.shift()).toBe('farelock');
    const invocation = parse(words, { tool: TOOL, version: '9.9.9', streams });
    expect(invocation?.name).toBe(name);
  },
);

test('help --json is the command tree with types, defaults and examples', async () => {
  const run = await runInMemory(['help', '--json']);
  expect([run.exitCode, run.stderr]).toEqual([0, '']);
  const tree = run.json() as unknown as typeof tool;
  expect(tree.commands.map(({ name }) => name)).toEqual(names);
  const search = tree.commands.find(({ name }) => name === 'search');
  expect(search?.effect).toBe('pays');
  expect(search?.arguments.map(({ name, required }) => [name, required])).toEqual([
    ['from', true],
    ['to', true],
  ]);
  expect(search?.options.find(({ name }) => name === '--adults')?.value).toEqual({
    type: 'integer',
    minimum: 1,
    maximum: 9,
  });
  expect(search?.options.find(({ name }) => name === '--depart')?.required).toBe(true);
  expect(tree.commands.find(({ name }) => name === 'serve')?.options).toContainEqual(
    expect.objectContaining({ name: '--port', default: 4020 }),
  );
  const one = await runInMemory(['help', 'intent', '--json', 'commands']);
  expect((one.json().commands as { name: string }[]).map(({ name }) => name)).toEqual(
    names.filter((name) => name.startsWith('intent ')),
  );
});

test('help on a command is what --help prints; an unknown command is named', async () => {
  const help = await runInMemory(['help', 'book']);
  const flag = await runInMemory(['book', '--help']);
  expect(help.stdout).toBe(flag.stdout);
  const unknown = await runInMemory(['help', 'bok', '--json']);
  expect([unknown.exitCode, unknown.json()]).toEqual([
    2,
    { error: expect.objectContaining({ code: 'usage', message: 'There is no command "bok". Did you mean book?' }) },
  ]);
});

test('a call by a program becomes the command line that a person would write', () => {
  expect(
    commandLineOf(commandOf('search'), { from: 'LIS', to: 'BER', depart: '+30d', adults: 2, all_fares: true }),
  ).toMatchObject({
    // All of it is asked for once; the call shows a part.
    argv: ['search', '--depart=+30d', '--adults=2', '--limit=500', '--all-fares', '--', 'LIS', 'BER'],
    stdin: '',
    isDryRun: false,
    page: { offset: 0, limit: 8 },
  });
  const passengers = [{ given_name: 'Ana' }];
  expect(commandLineOf(commandOf('book'), { intent_id: 'int_1', passengers })).toMatchObject({
    argv: ['book', '--passengers=-', '--', 'int_1'],
    stdin: JSON.stringify(passengers),
    isDryRun: false,
  });
  expect(commandLineOf(commandOf('refund request'), { intent_id: '--yes', reason: '--no-input' }).argv).toEqual([
    'refund',
    'request',
    '--reason=--no-input',
    '--',
    '--yes',
  ]);
});

test('a parameter that a tool does not have, and one that is missing, are named', () => {
  const refused = (given: object) => {
    try {
      commandLineOf(commandOf('search'), { ...given });
      return null;
    } catch (error) {
      return isProblem(error) ? error.message : error;
    }
  };
  expect(refused({ from: 'LIS', to: 'BER', depart: '+1d', keypair: '/etc/passwd' })).toBe(
    'search has no parameter "keypair".',
  );
  expect(refused({ from: 'LIS' })).toBe('search needs to, depart.');
});

test('no tool takes a file or gives a key, and each says whether it only reads', () => {
  const tools = toolCommands(tool).map((one) => toolOf(one));
  const parameters = tools.flatMap(({ name, inputSchema }) =>
    Object.keys(inputSchema.properties).map((key) => `${name}.${key}`),
  );
  expect(parameters.filter((name) => /file|ics|keypair|profile/.test(name))).toEqual([]);
  const offered = tools.map(({ name }) => name);
  expect(offered).toEqual(
    expect.arrayContaining(['search', 'intent_create', 'book', 'status', 'order', 'partner_orders_list']),
  );
  expect(offered.filter((name) => /^(keys|config|serve|mcp|demo|wallet_new|requirements_submit)/.test(name))).toEqual(
    [],
  );
  const reading = tools.filter(({ annotations }) => annotations.readOnlyHint).map(({ name }) => name);
  expect(reading).toContain('status');
  expect(reading).not.toContain('search');
});
