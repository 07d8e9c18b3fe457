import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { describe, expect, test } from 'vitest';
import { TOOL } from '../../../src/cli/commands/index.ts';
import {
  bounded,
  commandLineOf,
  nextStepsFor,
  toolCommands,
  toolOf,
  wholeLists,
} from '../../../src/cli/commands/mcp/tools.ts';
import { describeTool } from '../../../src/cli/spec/description.ts';
import type { Invocation } from '../../../src/cli/spec/tree.ts';
import { parse } from '../../../src/cli/tool/index.ts';
import { problemDocument } from '../../../src/cli/view/problem.ts';
import { problem } from '../../../src/kernel/problems.ts';

const tool = describeTool(TOOL, '9.9.9');
const commands = toolCommands(tool);
const callable = new Set(commands.map(({ name }) => name));
const named = (name: string) => {
  const command = commands.find((one) => one.name === name);
  if (!command) throw new Error(`${name} is no tool`);
  return command;
};

function understood(argv: readonly string[]): Invocation {
  const nowhere = { isTTY: false, columns: null, write: () => undefined };
  const streams = { stdout: nowhere, stderr: nowhere, stdin: { isTTY: false, text: async () => '' } };
  const invocation = parse(argv, { tool: TOOL, version: '', streams });
  if (!invocation) throw new Error(argv.join(' '));
  return invocation;
}
const optionsOf = (name: string, given: Record<string, unknown>) =>
  understood(commandLineOf(named(name), given).argv).options as Record<string, unknown>;

test('what changes this machine, and what shows or makes secrets, is no tool', () => {
  const never =
    /^(config|keys|travellers|wallet new|wallet limits set|payments resume|attestations (show|decide)|requirements submit|serve|mcp|demo|guided)\b/;
  expect(commands.map(({ name }) => name).filter((name) => never.test(name))).toEqual([]);
  expect(commands.filter(({ effect }) => effect === 'local' || effect === 'runs')).toEqual([]);
  expect(callable).toContain('wallet limits show');
});

test('no tool takes a key, a profile, a path or leave to pay', () => {
  const inputs = commands.flatMap((command) => Object.keys(toolOf(command).inputSchema.properties));
  expect(inputs.filter((key) => /^(profile|keypair|yes|max_payment|json|live|ics|results|.*_file)$/.test(key))).toEqual(
    [],
  );
  for (const name of ['yes', 'max_payment', 'keypair', 'profile']) {
    expect(() => commandLineOf(named('search'), { [name]: 'x' })).toThrow(/has no parameter/);
  }
});

describe('what may be given several times is a list', () => {
  const repeated = commands.flatMap((command) =>
    [...command.arguments, ...command.options]
      .filter((parameter) => parameter.repeated)
      .map((parameter) => [command.name, parameter.name] as const),
  );
  test('travellers, ticket numbers and the words of an argument are', () => {
    expect(repeated).toEqual(
      expect.arrayContaining([
        ['book', '--traveller'],
        ['stuck resolve', '--ticket'],
        ['airports', 'text'],
        ['schema', 'command'],
      ]),
    );
  });
  test.each(repeated)('%s %s', (name, parameter) => {
    const key = parameter.replace(/^--/, '');
    const { inputSchema } = toolOf(named(name));
    expect(inputSchema.properties[key]).toMatchObject({ type: 'array', items: { type: 'string' } });
    const required = Object.fromEntries(inputSchema.required.map((one) => [one, firstOf(inputSchema, one)]));
    const given = ['ana', '--bo', 'c, d'];
    expect(optionsOf(name, { ...required, [key]: given })[key]).toEqual(given);
    expect(optionsOf(name, { ...required, [key]: 'ana' })[key]).toEqual(['ana']);
  });
});

const firstOf = (schema: { properties: Readonly<Record<string, object>> }, name: string) =>
  (schema.properties[name] as { enum?: string[] }).enum?.[0] ?? 'x';

test('a value of another type is refused, not ignored', () => {
  const search = { from: 'LIS', to: 'BER', depart: '+30d' };
  for (const wrong of [{ all_fares: 'true' }, { adults: {} }, { depart: ['+1d', '+2d'] }, { limit: true }]) {
    expect(() => commandLineOf(named('search'), { ...search, ...wrong })).toThrow(/ is /);
  }
  expect(() => commandLineOf(named('book'), { intent_id: 'int_1', traveller: [{}] })).toThrow(/ is /);
  expect(optionsOf('search', { ...search, all_fares: true, adults: 2 })).toMatchObject({ allFares: true, adults: 2 });
});

test('a value that looks like an option stays a value', () => {
  expect(understood(commandLineOf(named('status'), { intent_id: '--yes' }).argv)).toMatchObject({
    options: { intentId: '--yes' },
    globals: { input: true },
  });
  const { options, globals } = understood(
    commandLineOf(named('refund request'), { intent_id: 'int_1', reason: '--max-payment=9' }).argv,
  );
  expect([options, globals]).toEqual([
    expect.objectContaining({ reason: '--max-payment=9' }),
    expect.not.objectContaining({ maxPayment: expect.anything() }),
  ]);
});

describe('each tool says what it answers with', () => {
  const validator = new AjvJsonSchemaValidator();
  test.each(commands.map((command) => [command.name, command] as const))('%s', (_name, command) => {
    const { outputSchema } = toolOf(command);
    expect(outputSchema.type).toBe('object');
    const validate = validator.getValidator(outputSchema);
    expect(validate(problemDocument(problem('payment_above_cap'))).valid).toBe(true);
    expect(validate({ nothing_of_this: 1 }).valid).toBe(false);
    if (command.effect !== 'reads') expect(JSON.stringify(outputSchema)).toContain('dry_run');
  });
  test('without an $id, which a client that lists them twice could not take, and within 160 kB', () => {
    const tools = commands.map(toolOf);
    for (const { outputSchema } of tools) expect(Object.keys(outputSchema)).not.toContain('$id');
    expect(JSON.stringify(tools).length).toBeLessThan(160_000);
  });
});

describe('what helps after a failed call is told as tools', () => {
  const stepOf = (line: string) => ({
    argv: (line.match(/'[^']*'|\S+/g) ?? []).slice(1).map((word) => word.replaceAll("'", '')),
  });
  const steps = (failed: string, ...lines: string[]) =>
    nextStepsFor(named(failed), lines.map(stepOf), { described: tool, spec: TOOL, callable });

  test('the same call, without what the server put into it', () => {
    const line =
      'farelock --json= --no-input --yes --max-payment=4.9 --profile=local search --depart=+30d --adults=2 -- LIS BER';
    expect(steps('search', line)).toEqual({
      next: ['farelock search LIS BER --depart=+30d --adults=2'],
      calls: [{ tool: 'search', arguments: { from: 'LIS', to: 'BER', depart: '+30d', adults: 2 }, again: true }],
    });
  });
  test('the passengers are not repeated', () => {
    expect(steps('book', 'farelock --json= --yes book --passengers=- -- int_1').calls).toEqual([
      { tool: 'book', arguments: { intent_id: 'int_1' }, again: true },
    ]);
    expect(steps('book', 'farelock book int_1 --passengers …').calls).toEqual([
      { tool: 'book', arguments: { intent_id: 'int_1' }, again: true },
    ]);
  });
  test('what is left out of a tool is left out of its call; lists and quotes are read', () => {
    expect(steps('book', 'farelock status int_1 --watch').calls).toEqual([
      { tool: 'status', arguments: { intent_id: 'int_1' } },
    ]);
    expect(steps('book', "farelock book int_1 --traveller ana --traveller 'bo b'").calls[0]?.arguments).toEqual({
      intent_id: 'int_1',
      traveller: ['ana', 'bo b'],
    });
    expect(steps('status', 'farelock wallet limits').calls).toEqual([{ tool: 'wallet_limits_show', arguments: {} }]);
    expect(steps('status', 'farelock --max-payment 3 intent off_1').calls).toEqual([
      { tool: 'intent_create', arguments: { offer_id: 'off_1' } },
    ]);
  });
  test('a line for a shell is no tool, whatever it begins with', () => {
    const line = { shell: 'farelock status int_1 && rm -r ~/farelock' };
    expect(nextStepsFor(named('status'), [line], { described: tool, spec: TOOL, callable })).toEqual({
      next: [line.shell],
      calls: [],
    });
  });
  test('what is a person’s stays a command line', () => {
    expect(steps('book', 'farelock config list --show-origin', 'farelock help search')).toEqual({
      next: ['farelock config list --show-origin', 'farelock help search'],
      calls: [],
    });
  });
});

/** Every schema in a schema. */
function schemasIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap(schemasIn);
  return Array.isArray(value) ? inner : [value as Record<string, unknown>, ...inner];
}

test('no schema of a tool has a list of types: clients of some vendors refuse it', () => {
  const lists = commands.flatMap((command) => {
    const { inputSchema, outputSchema } = toolOf(command);
    return schemasIn([inputSchema, outputSchema]).filter(({ type }) => Array.isArray(type));
  });
  expect(lists).toEqual([]);
});

test('a list has a few entries unless a call says how many', () => {
  const asked = { from: 'LIS', to: 'BER', depart: '2026-12-20' };
  expect(optionsOf('search', asked)).toMatchObject({ limit: 8 });
  expect(optionsOf('search', { ...asked, limit: 100 })).toMatchObject({ limit: 100 });
  expect(optionsOf('search', { ...asked, flex: 1 })).not.toHaveProperty('limit');
  const lists = commands.filter(
    ({ name, options }) => name !== 'payments verify' && options.some((option) => option.name === '--limit'),
  );
  expect(lists.map(({ name }) => name)).toEqual(expect.arrayContaining(['airports', 'intent list', 'audit list']));
  for (const { name, options } of lists) {
    const [limit] = options.filter((option) => option.name === '--limit');
    const { limit: shown } = toolOf(named(name)).inputSchema.properties as Record<string, { default?: number }>;
    expect([name, shown?.default ?? limit?.default]).toEqual([name, name === 'search' ? 8 : 20]);
  }
  expect(optionsOf('airports', {})).toMatchObject({ limit: 20 });
  expect(toolOf(named('search')).inputSchema.properties.limit).toMatchObject({ default: 8 });
  // A limit of what is done, rather than of what is shown.
  expect(optionsOf('payments verify', {})).toMatchObject({ limit: 100 });
});

test('search waits for slower offers when a call says so', () => {
  const asked = { from: 'LIS', to: 'BER', depart: '2026-12-20' };
  expect(optionsOf('search', { ...asked, wait: true })).toMatchObject({ wait: true });
  expect(optionsOf('search-updates', { search_id: 'sch_1', cursor: '4' })).toMatchObject({ cursor: '4' });
});

test('no list that an agent can ask for is whole: 20 entries, or as many as limit says', () => {
  const whole = commands.filter((command) => wholeLists(command).length > 0);
  expect(whole.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['stuck list', 'attestations list', 'search-updates', 'partner orders show', 'schema']),
  );
  for (const command of whole) {
    const { inputSchema } = toolOf(command);
    expect(inputSchema.properties.limit, command.name).toMatchObject({ maximum: 1000 });
    const given = Object.fromEntries(inputSchema.required.map((one) => [one, firstOf(inputSchema, one)]));
    const line = commandLineOf(command, { ...given, limit: 3 });
    expect([line.most, line.argv.join(' ')]).toEqual([3, expect.not.stringContaining('limit')]);
    for (const limit of [0, 1.5, '3', 1001])
      expect(() => commandLineOf(command, { ...given, limit })).toThrow(/whole number/);
  }
  const stuck = { bookings: Array.from({ length: 60 }, (_, index) => index), effects: [1], refund_requests: [] };
  expect(bounded(named('stuck list'), stuck, 20)).toEqual({
    ...stuck,
    bookings: stuck.bookings.slice(0, 20),
    left_out: { bookings: 40 },
  });
});
