import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { describe, expect, test } from 'vitest';
import { TOOL } from '../../../src/cli/commands/index.ts';
import { bounded, pageThatFits } from '../../../src/cli/commands/mcp/answers.ts';
import words from '../../../src/cli/commands/mcp/tools.json' with { type: 'json' };
import {
  commandLineOf,
  isInSets,
  nextStepsFor,
  toolCommands,
  toolOf,
  wordsFor,
} from '../../../src/cli/commands/mcp/tools.ts';
import { describeTool } from '../../../src/cli/spec/description.ts';
import type { Invocation } from '../../../src/cli/spec/tree.ts';
import { parse } from '../../../src/cli/tool/index.ts';
import { problemDocument } from '../../../src/cli/view/problem.ts';
import { BASE_FIELDS, DOCUMENT_FIELDS } from '../../../src/kernel/domain/passengers.ts';
import { problem } from '../../../src/kernel/problems.ts';
import { PASSENGER } from '../../e2e/farelock.ts';

const DOCUMENTS = { nationality: 'PT', passport_number: 'CA123456', passport_expiry: '2031-05-01' };
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
    const key = parameter.replace(/^--/, '').replaceAll('-', '_');
    const { inputSchema } = toolOf(named(name));
    expect(inputSchema.properties[key]).toMatchObject({ type: 'array', items: { type: 'string' } });
    const required = Object.fromEntries((inputSchema.required ?? []).map((one) => [one, firstOf(inputSchema, one)]));
    const given = ['ana', '--bo', 'c, d'];
    const option = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    expect(optionsOf(name, { ...required, [key]: given })[option]).toEqual(given);
    expect(optionsOf(name, { ...required, [key]: 'ana' })[option]).toEqual(['ana']);
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
    const { outputSchema } = withOutput(command);
    expect(outputSchema.type).toBe('object');
    const validate = validator.getValidator(outputSchema);
    expect(validate(problemDocument(problem('payment_above_cap'))).valid).toBe(true);
    expect(validate({ nothing_of_this: 1 }).valid).toBe(false);
    if (command.effect !== 'reads') expect(JSON.stringify(outputSchema)).toContain('dry_run');
  });
  test('without an $id, which a client that lists them twice could not take, and within 160 kB', () => {
    const tools = commands.map(withOutput);
    for (const { outputSchema } of tools) expect(Object.keys(outputSchema)).not.toContain('$id');
    expect(JSON.stringify(tools).length).toBeLessThan(160_000);
  });
});

function withOutput(command: (typeof commands)[number]) {
  const { outputSchema } = toolOf(command, true);
  if (!outputSchema) throw new Error(`${command.name} has no schema`);
  return { outputSchema };
}

describe('the list of tools', () => {
  test('each tool is in a set, and says when to use it in 150 to 300 letters', () => {
    expect(Object.keys(words).sort()).toEqual(commands.map(({ name }) => name).sort());
    for (const command of commands) {
      const { says, sets } = wordsFor(command);
      expect([command.name, says.length >= 150 && says.length <= 300]).toEqual([command.name, true]);
      expect(sets.length, command.name).toBeGreaterThan(0);
      expect(toolOf(command).description).toBe(says);
      if (command.effect === 'pays')
        expect([command.name, says]).toEqual([command.name, expect.stringMatching(/USDC|fare/)]);
    }
  });

  test('a tool that the words name exists', () => {
    const tools = new Set(commands.map(({ name }) => name.replace(/[ -]/g, '_')));
    const fields = new Set(
      Object.values(words)
        .flatMap(({ says }) => says.match(/[a-z]+(?:_[a-z]+)+/g) ?? [])
        .filter((one) => !tools.has(one)),
    );
    expect([...fields].sort()).toEqual(
      [
        ...[
          'compliance_required',
          'dry_run',
          'expires_at',
          'idempotency_key',
          'if_match',
          'insufficient_funds',
          'intent_id',
        ],
        ...['next_cursor', 'not_ticketed', 'offer_id', 'passenger_count', 'passenger_fields', 'payment_id'],
        ...['request_id', 'terms_url'],
      ].sort(),
    );
  });

  test('takes at most 13 kB for a traveller and 40 kB for everything', () => {
    const bytesOf = (sets: Parameters<typeof isInSets>[1]) =>
      JSON.stringify({ tools: commands.filter((one) => isInSets(one, sets)).map((one) => toolOf(one)) }).length;
    expect(bytesOf(['travel'])).toBeLessThan(13_000);
    expect(bytesOf(['all'])).toBeLessThan(40_000);
  });

  test('the passengers of book have their fields, and which of them a fare may leave out', () => {
    const { passengers } = toolOf(named('book')).inputSchema.properties as Record<
      string,
      { items: { properties: Record<string, { pattern?: string; enum?: string[] }>; required: string[] } }
    >;
    const { properties, required } = passengers?.items ?? { properties: {}, required: [] };
    expect(Object.keys(properties).sort()).toEqual([...BASE_FIELDS, ...DOCUMENT_FIELDS].sort());
    expect(required).toEqual(BASE_FIELDS);
    for (const [field, value] of Object.entries({ ...PASSENGER, ...DOCUMENTS })) {
      if (properties[field]?.pattern) expect(value, field).toMatch(new RegExp(properties[field].pattern));
      if (properties[field]?.enum) expect(properties[field].enum, field).toContain(value);
    }
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
    const { inputSchema, outputSchema } = toolOf(command, true);
    return schemasIn([inputSchema, outputSchema]).filter(({ type }) => Array.isArray(type));
  });
  expect(lists).toEqual([]);
});

test('a list has a few entries unless a call says how many', () => {
  const asked = { from: 'LIS', to: 'BER', depart: '2026-12-20' };
  const pageOf = (name: string, given: Record<string, unknown>) => commandLineOf(named(name), given).page;
  expect(pageOf('search', asked)).toMatchObject({ limit: 8, offset: 0, isChosen: false });
  expect(pageOf('search', { ...asked, limit: 100 })).toMatchObject({ limit: 100, isChosen: true });
  expect(optionsOf('search', { ...asked, flex: 1 })).not.toHaveProperty('limit');
  const lists = commands.filter(({ options }) => options.some((option) => option.name === '--limit'));
  expect(lists.map(({ name }) => name)).toEqual(expect.arrayContaining(['airports', 'intent list', 'audit list']));
  for (const { name } of lists) {
    const { limit: shown } = toolOf(named(name)).inputSchema.properties as Record<string, { default?: number }>;
    expect([name, shown?.default]).toEqual([name, name === 'search' ? 8 : 20]);
  }
});

test('the rest of a paid search is free: however much is shown, the same is asked of the service', () => {
  const asked = { from: 'LIS', to: 'BER', depart: '2026-12-20' };
  const lines = [{}, { limit: 30 }, { offset: 8 }, { limit: 5, offset: 500 }].map((one) =>
    commandLineOf(named('search'), { ...asked, ...one }).argv.join(' '),
  );
  expect(new Set(lines).size).toBe(1);
  expect(lines[0]).toContain('--limit=500');
});

test('search waits for slower offers when a call says so', () => {
  const asked = { from: 'LIS', to: 'BER', depart: '2026-12-20' };
  expect(optionsOf('search', { ...asked, wait: true })).toMatchObject({ wait: true });
  expect(optionsOf('search updates', { search_id: 'sch_1', cursor: '4' })).toMatchObject({ cursor: '4' });
});

test('no list that an agent can ask for is whole: it has a limit, and an offset or a cursor', () => {
  const whole = commands.filter(({ name }) => commandLineOf(named(name), given(name)).page.paging !== null);
  expect(whole.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['stuck list', 'attestations list', 'search updates', 'partner orders show', 'schema']),
  );
  for (const command of whole) {
    const { properties } = toolOf(command).inputSchema as { properties: Record<string, unknown> };
    expect(properties.limit, command.name).toBeDefined();
    expect(properties.offset ?? properties.cursor ?? properties.page_token, command.name).toBeDefined();
    for (const limit of [0, 1.5, '3'])
      expect(() => commandLineOf(command, { ...given(command.name), limit })).toThrow(/whole number/);
  }
});

const given = (name: string): Record<string, unknown> => {
  const { inputSchema } = toolOf(named(name));
  return Object.fromEntries((inputSchema.required ?? []).map((one) => [one, firstOf(inputSchema, one)]));
};

describe('a page of lists', () => {
  const entries = (most: number, size = 1) =>
    Array.from({ length: most }, (_, index) => `${index}`.padStart(size, '.'));
  const page = (given: Record<string, unknown> = {}) => commandLineOf(named('stuck list'), given).page;
  const stuck = { bookings: entries(60), effects: ['1'], refund_requests: [] };

  test('says how many there are, how many follow, and where they begin', () => {
    expect(bounded(named('stuck list'), stuck, page())).toEqual({
      ...stuck,
      bookings: stuck.bookings.slice(0, 20),
      total: { bookings: 60, effects: 1, refund_requests: 0 },
      left_out: { bookings: 40, effects: 0, refund_requests: 0 },
      next_offset: 20,
    });
    expect(bounded(named('stuck list'), stuck, page({ offset: 50 }))).toMatchObject({
      bookings: stuck.bookings.slice(50),
      effects: [],
      left_out: { bookings: 0 },
    });
    expect(bounded(named('stuck list'), { ...stuck, bookings: [] }, page())).toEqual({ ...stuck, bookings: [] });
  });

  test('fits into 8,000 tokens, and reading on by next_offset misses and repeats no entry', () => {
    const long = { ...stuck, bookings: entries(60, 4_000) };
    const seen: unknown[] = [];
    for (let offset: unknown = 0; offset !== undefined; ) {
      const shown = bounded(named('stuck list'), long, page({ offset })) as Record<string, unknown>;
      expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThanOrEqual(32_000);
      seen.push(...(shown.bookings as unknown[]));
      offset = shown.next_offset;
    }
    expect(seen).toEqual(long.bookings);
    expect(bounded(named('stuck list'), long, page({ limit: 60 })).bookings).toHaveLength(60);
  });

  test('of a list with a limit of its own, one more entry than the page says that it goes on', () => {
    const line = commandLineOf(named('payments list'), { chain: true, limit: 5, offset: 10 });
    expect(line.argv).toContain('--limit=16');
    const shown = bounded(named('payments list'), { history: entries(16) }, line.page);
    expect(shown).toEqual({ history: entries(15).slice(10), next_offset: 15 });
    expect(bounded(named('payments list'), { history: entries(12) }, line.page)).toEqual({
      history: entries(12).slice(10),
      total: { history: 12 },
      left_out: { history: 0 },
    });
  });

  test('of a service is asked for again, shorter, until it fits: its cursor misses nothing', async () => {
    const asked: number[] = [];
    const queue = async (limit: number) => {
      asked.push(limit);
      return { document: { entries: entries(limit, 4_000), next_cursor: `after ${limit}` } };
    };
    const { page } = commandLineOf(named('audit list'), {});
    const { document } = await pageThatFits(page, await queue(page.limit), queue);
    expect(Buffer.byteLength(JSON.stringify(document))).toBeLessThanOrEqual(32_000);
    expect(document.next_cursor).toBe(`after ${document.entries.length}`);
    expect(asked).toEqual([20, 7]);
    const chosen = commandLineOf(named('audit list'), { limit: 20 }).page;
    expect((await pageThatFits(chosen, await queue(20), queue)).document.entries).toHaveLength(20);
  });
});
