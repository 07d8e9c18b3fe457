import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plainPrompts } from '../../src/terminal/plain-prompts.ts';
import { cases } from '../proof-only.ts';
import { runInMemory, temporaryHome } from './memory.ts';

/** --plain: the same information for a screen reader. */

const place = temporaryHome();
const environment = { FARELOCK_HOME: place.home, NO_COLOR: '', COLORTERM: 'truecolor', FARELOCK_LOWCOST_MS: '10' };
const run = (argv: string, more: Record<string, string> = {}) =>
  runInMemory(argv.split(' '), { terminal: true, columns: 100, environment: { ...environment, ...more } });
afterAll(() => place.close());

/** Boxes, bars, Braille, signs, and columns that are told by their place; colours begin with an escape. */
const DRAWN = /\p{Cc}|[\u2500-\u25ff\u2800-\u28ff✓✗→⇄←]|\S {2,}\S/u;

describe('nothing is drawn, and every value has its name', () => {
  beforeAll(async () => void (await run('wallet show')));
  test.each(
    cases(
      [
        'search LIS BER --depart +30d --return +37d',
        'search LIS BER --depart +30d --flex 1 --yes',
        'airports lisbon',
        'explain offer_expired',
        'wallet balance',
        'wallet show --qr',
        'payments list',
        'config list',
        'intent list',
        'status gone',
      ],
      ['search LIS BER --depart +30d --cheapest-day --max-payment 9 --yes'],
    ),
  )('%s', async (line) => {
    const drawn = await run(line);
    const plain = await run(`${line} --plain`);
    expect(plain.exitCode).toBe(drawn.exitCode);
    const lines = `${plain.stdout}${plain.stderr}`.split('\n');
    expect(lines.filter((one) => DRAWN.test(one))).toEqual([]);
  });

  test.each([
    ['intent list', ['--plain'], {}],
    ['airports lisbon', ['--plain'], {}],
    ['airports lisbon', [], { FARELOCK_PLAIN: '1' }],
  ])('off a terminal, too: %s', async (line, flags, more) => {
    const off = await runInMemory([...line.split(' '), ...flags], { environment: { ...environment, ...more } });
    const on = await run(`${line} --plain`);
    expect([off.exitCode, off.stdout]).toEqual([on.exitCode, on.stdout]);
    expect(off.stdout).not.toContain('\t');
  });

  test('a lock', async () => {
    await run('search LIS BER --depart +30d --return +37d');
    const { exitCode, stdout, stderr } = await run('intent create 1 --plain');
    expect(exitCode, stderr).toBe(0);
    expect(`${stdout}${stderr}`.split('\n').filter((one) => DRAWN.test(one))).toEqual([]);
    expect(stdout).toMatch(/^[A-Z][a-z ]+: \S/m);
  });

  test('a search says each itinerary and fare in words', async () => {
    const { stdout } = await run('search LIS BER --depart +30d --return +37d --plain');
    expect(stdout).toMatch(/^Itinerary 1$/m);
    expect(stdout).toMatch(/^Out: \w+ \d+ .*LIS \d\d:\d\d to BER \d\d:\d\d.*; time: .*; stops: .*; flights: \w+/m);
    expect(stdout).toMatch(/^Back: .*BER \d\d:\d\d to LIS/m);
    expect(stdout).toMatch(
      /^Fare 1: .*; price: \d+\.\d\d [A-Z]{3}; checked bags: .*; refund: .*; change: .*; seller: \S+/m,
    );
  });

  test.each(
    cases<[string, readonly string[], Record<string, string>]>(
      [['--plain', ['--plain'], {}]],
      [['a terminal that cannot move its cursor', [], { TERM: 'dumb' }]],
    ),
  )('a guided walk with %s names each value, and each fare is the one that is read', async (_on, words, more) => {
    const other = temporaryHome();
    const walk = await runInMemory(words, {
      terminal: true,
      environment: { ...environment, ...more, FARELOCK_HOME: other.home },
      answers: [
        ...['lisbon', 'ber', '+30d', '+37d', '1', 'Search', 'Lorelei', 'Classic', 'Lock it'],
        ...['Ana', 'Moreira', '1990-04-12', 'ms', 'f', 'ana@example.com', '+351912345678'],
        ...['Not this time', 'Not now: the fare stays locked'],
      ],
    });
    other.close();
    expect(walk.exitCode, walk.stderr).toBe(0);
    const lists = walk.asked.filter((one) => /^Which (flight|fare)\?/.test(one));
    expect(lists).toHaveLength(2);
    for (const line of lists
      .join('\n')
      .split('\n')
      .filter((one) => /\d\d:\d\d|\d\.\d\d /.test(one)))
      expect(line).toMatch(
        /^(Out|Back): .*; time: .*; stops: |^Fare [\d.]+: .*; price: .*; checked bags: .*; refund: /,
      );
    const [, price = 'none'] = /^Fare [\d.]+: Classic; price: ([\d.]+) /m.exec(lists[1] ?? '') ?? [];
    expect(walk.stderr).toMatch(new RegExp(`^Locked +${price} USDC`, 'm'));
  });

  test('fields are labelled lines', async () => {
    expect((await run('wallet balance --plain')).stdout).toMatch(/^USDC: [\d.]+/m);
  });

  test('FARELOCK_PLAIN is --plain for every command, errors too', async () => {
    const always = await run('wallet balance', { FARELOCK_PLAIN: '1' });
    expect(always.stdout).toBe((await run('wallet balance --plain')).stdout);
    expect((await run('explain nothing_such', { FARELOCK_PLAIN: '1' })).stderr).toMatch(/^Failed: /);
  });
});

describe('questions are lines', () => {
  function asking(typed: readonly string[]) {
    const input = new PassThrough();
    const output = new PassThrough();
    const left = [...typed];
    let text = '';
    output.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      // A person answers when the question is whole.
      if (/: $/.test(text)) setImmediate(() => void input.write(`${left.shift() ?? ''}\n`));
    });
    const prompts = plainPrompts({ input, output, signal: new AbortController().signal });
    return { prompts, said: () => text };
  }

  test('a choice by its number, after one that there is not', async () => {
    const { prompts, said } = asking(['7', '2']);
    const choices = [
      { name: 'Economy', value: 'e' },
      { name: 'Business', value: 'b' },
    ];
    expect(await prompts.choose('Cabin', choices)).toBe('b');
    expect(said()).toContain('Cabin\n1: Economy\n2: Business\nType a number, 1 to 2: ');
  });

  test('Enter is what the question says', async () => {
    const { prompts, said } = asking(['', 'yes']);
    expect(await prompts.confirm('Pay 0.10 USDC?', false)).toBe(false);
    expect(said()).toBe('Pay 0.10 USDC? Yes or no, Enter is no: ');
    expect(await prompts.confirm('Pay 0.10 USDC?', false)).toBe(true);
  });

  test('back goes back', async () => {
    const { prompts } = asking(['back', 'back']);
    const steps = await prompts.steps();
    expect(await steps.text({ message: 'From', check: async () => null })).toEqual({ kind: 'back' });
    expect(await steps.choose({ message: 'Which', lines: [{ name: 'One', value: 1 }] })).toEqual({ kind: 'back' });
  });
});
