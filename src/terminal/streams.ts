import { fstatSync, readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { type Problem, problem } from '../kernel/problems.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** An output of the tool: a stream of the process or, in tests, memory with settable terminal flags. */
export interface Output {
  readonly isTTY: boolean;
  /** Null off a terminal. */
  readonly columns: number | null;
  /** Lines of the terminal, if known. */
  readonly rows?: number | null;
  write(text: string): void;
  /** Resolves once the reader has everything: a slow pipe takes its time. Absent if writes are immediate. */
  flushed?(): Promise<void>;
  /** The stream that the spinner draws on; without it, phases are lines. */
  readonly stream?: NodeJS.WriteStream;
}

export interface Streams {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdin: { readonly isTTY: boolean; text(): Promise<string> };
  /** Raw streams for a protocol that reads and writes them itself. A command within a command has none. */
  readonly pipes?: { readonly input: Readable; readonly output: Writable };
  /** Names the terminal and its shell, or the parent process: the numbers of a list belong to this place. */
  readonly place?: string;
  /** Called at each step that takes time, for a program that drives the tool. */
  readonly phase?: (text: string) => void;
}

interface Choice<T> {
  readonly name: string;
  readonly value: T;
}

/** Questions to a person on a terminal; the answers of tests come from a list. */
export interface Prompts {
  confirm(message: string, preset: boolean): Promise<boolean>;
  /** `check` returns null, or what is wrong; the question is then asked again. */
  text(message: string, check: (value: string) => Promise<string | null>, preset?: string): Promise<string>;
  choose<T>(message: string, choices: readonly Choice<T>[]): Promise<T>;
  /** Questions that a person may step back from. */
  steps(): Promise<StepPrompts>;
}

/** An answer, or the wish to go back (Esc). */
export type StepAnswer<T> = { readonly kind: 'answer'; readonly value: T } | { readonly kind: 'back' };

export interface StepText {
  readonly message: string;
  /** Taken when nothing is typed. */
  readonly preset?: string | undefined;
  /** True if an empty answer is valid. */
  readonly mayBeEmpty?: boolean | undefined;
  check(value: string): Promise<string | null>;
}

/** A line of a choice; without a value it cannot be chosen. A person types its `number`, or its place, to get there. */
export type StepLine<T> = (Choice<T> & { readonly number?: string }) | { readonly name: string };

/** A key that changes which lines there are, and in what order. */
export interface StepKey {
  readonly key: string;
  /** The effect and state of the key: `sort: price`. */
  label(): string;
  press(): void;
}

export interface StepChoice<T> {
  readonly message: string;
  /** Lines above the choice, such as the heading of a table. */
  readonly heading?: readonly string[] | undefined;
  readonly lines: readonly StepLine<T>[];
  readonly preset?: T | undefined;
  /** The lines as they are now, for the width of the terminal and after a key; absent if they never change. */
  redrawn?(): Pick<StepChoice<T>, 'heading' | 'lines'>;
  readonly keys?: readonly StepKey[] | undefined;
  /** The text to find lines by; `hint` says what it may be, in place of the name of the key. */
  readonly search?: { text(): string; set(text: string): void; readonly hint?: string } | undefined;
  /** Moves a mark within the lines by the left and right arrows. Without it, the left arrow goes back. */
  sideways?(by: 1 | -1): void;
  /** More about a line, for a pane under the list. */
  details?(value: T): readonly string[];
  /** The time that is left for a line, drawn every second. */
  left?(value: T): string;
  /** Called once a resize has cleared the screen, before the question is asked again. */
  cleared?(): void;
}

/** A choice that a person finds by typing. */
export interface StepSearch<T> {
  readonly message: string;
  /** The choices for a text, best first, or a sentence if there are none. A guess is shown before it is taken. */
  find(text: string): Promise<readonly (Choice<T> & { readonly isGuess?: boolean })[] | string>;
}

/** Questions of a walk, which leave the screen once they are answered. */
export interface StepPrompts {
  text(question: StepText): Promise<StepAnswer<string>>;
  choose<T>(question: StepChoice<T>): Promise<StepAnswer<T>>;
  search<T>(question: StepSearch<T>): Promise<StepAnswer<T>>;
}

/** Ctrl-C at a question: nothing was under way. */
export const interruptedAtQuestion = (cause?: unknown): Problem =>
  problem('interrupted', { message: 'Interrupted at a question.', isAtQuestion: true, cause });

const NARROWEST = 60;
const WIDEST = 200;

/** The width that a view is drawn for: the terminal's, within reason; off one, room for a whole signature. */
export const screenWidth = (output: Output): number =>
  output.isTTY ? Math.min(WIDEST, Math.max(NARROWEST, output.columns ?? 80)) : OFF_TERMINAL;

const OFF_TERMINAL = 120;

export function processStreams(): Streams {
  const output = (stream: NodeJS.WriteStream): Output => ({
    get isTTY() {
      return stream.isTTY === true;
    },
    get columns() {
      return stream.isTTY ? stream.columns : null;
    },
    get rows() {
      return stream.isTTY ? stream.rows : null;
    },
    write: (text) => {
      stream.write(text);
    },
    flushed: () => new Promise((resolve) => stream.write('', () => resolve())),
    stream,
  });
  return {
    stdout: output(process.stdout),
    stderr: output(process.stderr),
    get place() {
      return placeOfProcess();
    },
    get pipes() {
      return { input: process.stdin, output: process.stdout };
    },
    stdin: {
      get isTTY() {
        // Looking at process.stdin would make a stream of it, and load ten more modules of the platform.
        return isatty(0);
      },
      async text() {
        let text = '';
        process.stdin.setEncoding('utf8');
        for await (const chunk of process.stdin) text += String(chunk);
        return text;
      },
    },
  };
}

/** `tty34816.4711`, or `4711` off a terminal. */
function placeOfProcess(): string {
  const terminal = [0, 1, 2].find((stream) => isatty(stream));
  if (terminal === undefined) return String(process.ppid);
  // npx, and the .cmd file of Windows, put a process of their own between the shell and each command.
  const { npm_command: npm, WT_SESSION: tab = '' } = process.env;
  const shell = process.platform === 'win32' ? tab : (sessionLeader() ?? (npm === 'exec' ? 'npx' : process.ppid));
  return `tty${fstatSync(terminal).rdev}.${shell}`;
}

/** The shell of the terminal, whatever runs between it and a command: terminals reuse names. Linux only. */
function sessionLeader(): string | null {
  try {
    const said = readFileSync('/proc/self/stat', 'latin1');
    // After the name in brackets: state, parent, group, session.
    return said.slice(said.lastIndexOf(')') + 2).split(' ')[3] ?? null;
  } catch {
    return null;
  }
}
