import { afterAll, expect, test } from 'vitest';
import { openTerminal, type TerminalSettings } from '../../src/terminal/terminal.ts';
import { harmless, harmlessJson, harmlessLine } from '../../src/terminal/text.ts';
import { cases } from '../proof-only.ts';
import { runInMemory, temporaryHome } from './memory.ts';

/** Whatever text comes from a service, a file or a command line, a terminal shows it and does not act on it. */

const { home, close } = temporaryHome();
afterAll(close);

const ESCAPE = '\u001b';
/** Repaints the screen, sets the title, hides text, rings, turns the direction of writing, begins a line. */
const HOSTILE = [
  `${ESCAPE}[2J`,
  `${ESCAPE}]0;owned\u0007`,
  `${ESCAPE}]52;c;b3duZWQ=\u0007`,
  '\u009b31m',
  '\u0007',
  '\r',
  '\b',
  '\u007f',
  '\u202e',
  '\u2066',
  '\u061c',
  '\u200f',
  '\u2028',
];
/** What a terminal acts on; colours and links of our own are looked at apart. */
const ACTIVE = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

test.each(HOSTILE)('%j is made harmless in text, in lines and in JSON', (text) => {
  const whole = `Lis${text}bon`;
  expect(harmless(whole)).not.toMatch(ACTIVE);
  expect(harmlessLine(whole, false)).not.toMatch(ACTIVE);
  expect(harmlessJson({ [whole]: whole })).not.toMatch(ACTIVE);
  expect(JSON.parse(harmlessJson({ whole }))).toEqual({ whole });
});

test('a line keeps its own colours and links, and nothing else', () => {
  const dressed = `${ESCAPE}[1mbold${ESCAPE}[22m ${ESCAPE}]8;;https://a.example${ESCAPE}\\link${ESCAPE}]8;;${ESCAPE}\\`;
  expect(harmlessLine(dressed, true)).toBe(dressed);
  expect(harmlessLine(dressed, false)).not.toMatch(ACTIVE);
  expect(harmlessLine(`${ESCAPE}[2J${ESCAPE}[1mx`, true)).toBe(`\ufffd[2J${ESCAPE}[1mx`);
});

test('every way of printing does so: results, events, notes, steps, asides, traces', async () => {
  const written: string[] = [];
  const output = (name: string) => ({
    isTTY: name === 'stdout',
    columns: 80,
    rows: 24,
    write: (text: string) => {
      written.push(text);
    },
  });
  const settings: TerminalSettings = {
    json: false,
    fields: null,
    quiet: false,
    verbose: true,
    input: false,
    color: false,
    pager: false,
  };
  const terminal = await openTerminal(
    { stdout: output('stdout'), stderr: output('stderr'), stdin: { isTTY: false, text: async () => '' } },
    settings,
    { NO_COLOR: '1' },
    () => {
      throw new Error('nobody is asked');
    },
  );
  const text = HOSTILE.join('x');
  const view = { lines: (document: { text: string }) => [document.text, text] };
  terminal.result({ text }, view);
  terminal.event({ text }, view);
  terminal.note(text);
  terminal.done(text);
  terminal.tell([text]);
  terminal.aside([text]);
  terminal.phase(text);
  terminal.trace(text);
  await terminal.written();
  expect(written.length).toBeGreaterThan(6);
  for (const line of written) expect(line.replaceAll('\n', '')).not.toMatch(ACTIVE);
});

test.each(cases([true], [false]))(
  'an argument or an id never reaches the screen as it is (terminal: %s)',
  async (terminal) => {
    const environment = { FARELOCK_HOME: home };
    for (const text of HOSTILE) {
      const bad = `a${text}b`;
      for (const argv of [
        ['explain', bad],
        ['search', bad, 'BER', '--depart', 'fri'],
        ['search', 'LIS', 'BER', '--depart', bad],
        ['search', 'LIS', 'BER', '--depart', 'fri', '--cabin', bad],
        [bad],
        ['airports', `${bad}zzq`],
        ['schema', bad],
        ['help', bad],
        ['config', 'get', bad],
        ['config', 'profile', 'use', bad],
        ['status', '--json', bad, 'int_1'],
        ['book', 'int_1', '--passengers', `/nowhere/${bad}.json`],
        ['payments', 'show', bad],
      ]) {
        const run = await runInMemory(argv, { environment, terminal });
        expect(run.exitCode, argv.join(' ')).toBeGreaterThan(0);
        expect((run.stdout + run.stderr).replaceAll('\n', ''), argv.join(' ')).not.toMatch(ACTIVE);
      }
    }
  },
);
