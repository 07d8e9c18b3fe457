import { PassThrough } from 'node:stream';
import { setTimeout as passed, setImmediate as turnOfLoop } from 'node:timers/promises';
import headless from '@xterm/headless';
import { expect, test } from 'vitest';
import { questions } from '../../src/terminal/questions.ts';

/** Questions on a terminal in memory: what is typed, pasted and ended, and what is on the screen. */

function terminalInMemory() {
  const raw: boolean[] = [];
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (isRaw: boolean) => void raw.push(isRaw) });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
  const emulator = new headless.Terminal({ cols: 80, rows: 24, convertEol: true, allowProposedApi: true });
  output.on('data', (chunk: Buffer) => emulator.write(chunk));
  const on = { input, output, signal: new AbortController().signal } as unknown as Parameters<typeof questions>[0];
  const screen = () =>
    Array.from({ length: 24 }, (_, at) => emulator.buffer.active.getLine(at)?.translateToString(true) ?? '')
      .join('\n')
      .trimEnd();
  const shows = async (wanted: RegExp) => {
    for (let time = 0; time < 200 && !wanted.test(screen()); time++) await passed(5);
    expect(screen()).toMatch(wanted);
  };
  return {
    ask: questions(on),
    type: (text: string) => void input.write(text),
    end: () => void input.end(),
    shows,
    screen,
    resize: () => void output.emit('resize'),
    isRaw: () => raw.at(-1),
  };
}

/** True once the question is answered. */
function watched<T>(question: Promise<T>): { readonly question: Promise<T>; isOver(): boolean } {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  question.then(over, over);
  return { question, isOver: () => isOver };
}

const TEN = Array.from({ length: 10 }, (_, at) => `line ${at + 1}`);
const isFine = async () => null;

test.each([
  ['marked by the terminal', `\u001b[200~${TEN.join('\r')}\r\u001b[201~`],
  ['unmarked', `${TEN.join('\r')}\r`],
])('a paste of ten lines is one line of text, and answers nothing: %s', async (_how, paste) => {
  const { ask, type, shows } = terminalInMemory();
  const { question, isOver } = watched(ask.text('Reason', isFine));
  await shows(/\? Reason/);
  type(paste);
  await shows(/\? Reason line 1 line 2 [\s\S]*line 10/);
  expect(isOver()).toBe(false);
  type('\r');
  expect(await question).toBe(TEN.join(' '));
});

test('a marked paste that comes in pieces is one paste', async () => {
  const { ask, type, shows } = terminalInMemory();
  const { question, isOver } = watched(ask.text('Reason', isFine));
  await shows(/\? Reason/);
  for (const piece of ['\u001b[20', '0~one\r', 'two\r', '\u001b[2', '01~']) {
    type(piece);
    await passed(20);
  }
  await shows(/\? Reason one two/);
  expect(isOver()).toBe(false);
  type('\r');
  expect(await question).toBe('one two');
});

test('no line of a paste answers a yes-or-no question, nor does Enter after other letters', async () => {
  const { ask, type, shows } = terminalInMemory();
  const { question, isOver } = watched(ask.confirm('Pay 82.54 USDC and book?', true));
  await shows(/\? Pay 82\.54 USDC and book\? \(Y\/n\)/);
  for (const typed of ['y\ry\ry\r', 'hello\r', 'yesterday\r', `\u001b[200~${TEN.join('\r')}\u001b[201~`]) {
    type(typed);
    await passed(20);
    expect([typed, isOver()]).toEqual([typed, false]);
  }
  type('\u007f'.repeat(3));
  type('n');
  await passed(20);
  type('\r');
  expect(await question).toBe(false);
});

test('what was typed before a question is shown answers nothing', async () => {
  const { ask, type, shows } = terminalInMemory();
  type('\r\r');
  const { question, isOver } = watched(ask.confirm('Pay 82.54 USDC and book?', true));
  await shows(/\? Pay/);
  await passed(20);
  expect(isOver()).toBe(false);
  type('\r');
  expect(await question).toBe(true);
});

test.each([
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
  ['an end of input', null],
])('%s ends every question, and leaves the terminal as it was', async (_name, typed) => {
  const asked: readonly ((ask: ReturnType<typeof questions>) => Promise<unknown>)[] = [
    (ask) => ask.confirm('Pay?', true),
    (ask) => ask.text('Name', isFine),
    (ask) => ask.choose('Which?', [{ name: 'One', value: 1 }]),
    async (ask) => {
      const lines = [{ name: 'One', value: 1 }];
      return (await ask.steps()).choose({ message: 'Which?', lines, redrawn: () => ({ lines }) });
    },
  ];
  for (const one of asked) {
    const { ask, type, end, shows, isRaw } = terminalInMemory();
    const { question } = watched(one(ask));
    await shows(/\?/);
    if (typed === null) end();
    else type(typed);
    await expect(question).rejects.toMatchObject({ code: 'interrupted' });
    expect(isRaw()).toBe(false);
  }
});

test('Esc goes back from each question of a walk; what is wrong keeps what was typed', async () => {
  const { ask, type, shows } = terminalInMemory();
  const steps = await ask.steps();
  const check = async (text: string) => (text === 'ber' ? null : `No airport matches ${text}.`);
  const typed = steps.text({ message: 'To', preset: 'lis', check });
  await shows(/\? To {2}Esc back · Ctrl-C quit\n❯ \(lis\)/);
  type('zz\r');
  await shows(/❯ zz\n> No airport matches zz\./);
  type('\u001b');
  expect(await typed).toEqual({ kind: 'back' });
  const chosen = steps.choose({ message: 'Which?', lines: [{ name: 'One', value: 1 }] });
  await shows(/\? Which\?[\s\S]*❯ One[\s\S]*↑↓ move · Enter choose · Esc back · Ctrl-C quit$/);
  type('\u001b[D');
  expect(await chosen).toEqual({ kind: 'back' });
});

test('choices are suggested while a text is typed; Enter in the same breath takes the first one', async () => {
  const { ask, type, shows } = terminalInMemory();
  const { search } = await ask.steps();
  const places = ['LIS  Lisbon', 'LIN  Milan Linate', 'BER  Berlin'];
  const find = async (text: string) => {
    const found = places.filter((name) => name.toLowerCase().includes(text));
    return found.length > 0 ? found.map((name) => ({ name, value: name.slice(0, 3) })) : `No airport matches ${text}.`;
  };
  const first = search({ message: 'From', find });
  await shows(/\? From\n[\s\S]*Esc back · Ctrl-C quit$/);
  type('li');
  await shows(/\? From li\n❯ LIS {2}Lisbon\n {2}LIN {2}Milan/);
  type('x\r');
  await shows(/\? From lix\n.*> No airport matches lix\./);
  type('\u007f\u001b[B');
  await shows(/❯ LIN/);
  type('\r');
  expect(await first).toEqual({ kind: 'answer', value: 'LIN' });
  const second = search({ message: 'To', find });
  await shows(/\? To/);
  type('berlin\r');
  expect(await second).toEqual({ kind: 'answer', value: 'BER' });
});

test('the time that is left for the marked line of a window moves by itself', async () => {
  const { ask, type, shows } = terminalInMemory();
  const lines = [{ name: 'One', value: 1 }];
  let seconds = 61;
  const left = () => `Ends in ${seconds--} s`;
  const answer = (await ask.steps()).choose({ message: 'Which?', lines, redrawn: () => ({ lines }), left });
  await shows(/❯ One\n\nEnds in 61 s\n/);
  await passed(1_100);
  await shows(/❯ One\n\nEnds in 60 s\n/);
  type('\r');
  expect(await answer).toEqual({ kind: 'answer', value: 1 });
});

test('a key that is pressed while the terminal changes its size is heard', async () => {
  const { ask, type, shows, resize } = terminalInMemory();
  const lines = ['One', 'Two', 'Three'].map((name, value) => ({ name, value }));
  const answer = (await ask.steps()).choose({ message: 'Which?', lines, redrawn: () => ({ lines }) });
  await shows(/❯ One/);
  resize();
  await turnOfLoop();
  type('\u001b[B');
  await shows(/❯ Two/);
  resize();
  await turnOfLoop();
  type('\u001b');
  expect(await answer).toEqual({ kind: 'back' });
});
