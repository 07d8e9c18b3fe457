import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { TOOL } from '../../src/cli/commands/index.ts';
import { runTool } from '../../src/cli/tool/index.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { withSearch } from '../../src/terminal/plain-prompts.ts';
import type { Prompts, Streams } from '../../src/terminal/streams.ts';
import { clockOf, worldClock } from '../clock.ts';
import type { Ran, Runner } from '../e2e/farelock.ts';

/** The tool in memory: streams with settable terminal flags, answers from a list, and what came of it. */

export interface MemoryOptions {
  /** Both outputs and the input are a terminal. */
  readonly terminal?: boolean;
  readonly columns?: number;
  /** Names the terminal, to which the numbers of its lists belong. */
  readonly place?: string;
  /** Lines of the terminal. */
  readonly rows?: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly pipes?: Streams['pipes'];
  /** What a person answers, in order. */
  readonly answers?: readonly (string | boolean)[];
  /** Without it, the clock of the world. */
  readonly clock?: Clock;
  /** The working folder, where a project file may stand. */
  readonly folder?: string;
  readonly interrupted?: AbortSignal;
  /** Shows long results. */
  readonly pager?: (text: string) => Promise<void>;
  /** Told what is written to stdout, for commands that go on. */
  readonly onStdout?: (text: string) => void;
  readonly onStderr?: (text: string) => void;
}

export interface MemoryRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The questions that were asked. */
  readonly asked: readonly string[];
  json(): Record<string, unknown>;
}

export async function runInMemory(argv: readonly string[], options: MemoryOptions = {}): Promise<MemoryRun> {
  const written = { stdout: '', stderr: '' };
  const isTTY = options.terminal === true;
  const output = (name: 'stdout' | 'stderr') => ({
    isTTY,
    columns: isTTY ? (options.columns ?? 80) : null,
    rows: isTTY ? (options.rows ?? 24) : null,
    write: (text: string) => {
      written[name] += text;
      if (name === 'stdout') options.onStdout?.(text);
      else options.onStderr?.(text);
    },
  });
  const streams: Streams = {
    stdout: output('stdout'),
    stderr: output('stderr'),
    stdin: { isTTY, text: async () => options.stdin ?? '' },
    pipes: options.pipes ?? { input: Readable.from([options.stdin ?? '']), output: new PassThrough() },
    ...(options.place !== undefined && { place: options.place }),
  };
  const asked: string[] = [];
  const prompts = listedAnswers(options.answers ?? [], asked);
  const exitCode = await runTool(argv, {
    tool: TOOL,
    version: '9.9.9',
    environment: { NO_COLOR: '1', ...options.environment },
    streams,
    clock: options.clock ?? worldClock,
    folder: options.folder,
    interrupted: options.interrupted ?? new AbortController().signal,
    prompts: () => prompts,
    pager: options.pager,
  });
  return { exitCode, ...written, asked, json: () => JSON.parse(written.stdout) as Record<string, unknown> };
}

/**
 * Runs the commands of a home in this process: for what a test prepares, looks up, or does with no interest in the process
 * itself. Each start of one costs more than most commands.
 */
export const inMemory = (runner: Runner, clock?: Clock): Runner => ({
  ...runner,
  run: (args, { input = '', env = {} } = {}) => {
    const environment = { ...runner.env, ...env };
    return runInMemory(args, { environment, stdin: input, clock: clock ?? clockOf(environment) }) as Promise<Ran>;
  },
});

function listedAnswers(answers: readonly (string | boolean)[], asked: string[]): Prompts {
  const left = [...answers];
  const take = (message: string): string | boolean => {
    asked.push(message);
    const answer = left.shift();
    if (answer === undefined) throw new Error(`nobody answers: ${message}`);
    return answer;
  };
  return {
    async confirm(message, preset) {
      const answer = take(message);
      return answer === ENTER ? preset : answer === true;
    },
    async text(message, check, preset = '') {
      for (;;) {
        const answer = String(take(message)) || preset;
        if ((await check(answer)) === null) return answer;
      }
    },
    async choose(message, choices) {
      const answer = take(message);
      const choice = choices.find((one) => one.value === answer || one.name === answer);
      if (!choice) throw new Error(`no such choice: ${String(answer)}`);
      return choice.value;
    },
    steps: async () =>
      withSearch({
        async text({ message, preset, mayBeEmpty, check }) {
          for (;;) {
            const answer = String(take(message)) || (preset ?? '');
            if (answer === BACK) return { kind: 'back' };
            if (answer === '' ? mayBeEmpty : (await check(answer)) === null) return { kind: 'answer', value: answer };
          }
        },
        async choose({ message, search, redrawn, ...first }) {
          let { heading, lines } = first;
          const ask = () => take([message, ...(heading ?? []), ...lines.map(({ name }) => name)].join('\n'));
          let answer = ask();
          // `/` and a text narrow the list down, as they do on a terminal.
          for (; search && String(answer).startsWith('/'); answer = ask()) {
            search.set(String(answer).slice(1));
            ({ heading, lines } = redrawn?.() ?? { heading, lines });
          }
          if (answer === BACK) return { kind: 'back' };
          const choices = lines.flatMap((line) => ('value' in line ? [line] : []));
          const choice =
            choices.find(({ name, value }) => value === answer || name === answer) ??
            choices.find(({ name }) => name.includes(String(answer)));
          if (!choice) throw new Error(`no such choice: ${String(answer)} of ${choices.map(({ name }) => name)}`);
          return { kind: 'answer', value: choice.value };
        },
      }),
  };
}

/** The answer of somebody who takes what is preset. */
export const ENTER = '';

/** The answer of somebody who presses Esc. */
export const BACK = '\u001b';

/** A home of its own, removed by `close`. */
/** A passenger in whom nothing is wrong, without travel documents. */
export const ANA = {
  given_name: 'Ana',
  family_name: 'Moreira',
  born_on: '1990-04-12',
  title: 'ms',
  gender: 'f',
  email: 'ana@example.com',
  phone_number: '+351912345678',
};

export function temporaryHome(): { home: string; close(): void } {
  const home = mkdtempSync(join(tmpdir(), 'farelock-cli-'));
  return { home, close: () => rmSync(home, { recursive: true, force: true }) };
}
