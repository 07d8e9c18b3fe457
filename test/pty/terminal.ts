import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import headless from '@xterm/headless';
import { BIN } from '../e2e/farelock.ts';

/** The built tool on a terminal: a pseudo-terminal that the kernel makes, and an emulator that shows its screen. */

export const KEYS = {
  ctrlC: '\u0003',
  ctrlD: '\u0004',
  ctrlZ: '\u001a',
  enter: '\r',
  up: '\u001b[A',
  down: '\u001b[B',
  right: '\u001b[C',
  left: '\u001b[D',
  escape: '\u001b',
} as const;

export interface TerminalOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly columns?: number;
  readonly rows?: number;
  readonly cwd?: string;
  /** Run by a shell that says afterwards how the terminal was left: `stty: icanon isig echo`. */
  readonly thenStty?: boolean;
  /** An interactive shell in place of the tool, which can suspend what is typed into it: `$TOOL` is the tool. */
  readonly isShell?: boolean;
}

/** What an emulator shows of what was written. */
export interface Seen {
  /** All that stands on the screen and above it, without trailing blanks. */
  text(): string;
  /** What was written, escape codes and all. */
  raw(): string;
  /** Lines that were too wide: the terminal has broken them. */
  brokenLines(): string[];
  /** Whether the cursor is shown. */
  hasCursor(): boolean;
}

export interface Screen extends Seen {
  type(text: string): void;
  resize(columns: number, rows: number): void;
  /** A signal as the system sends it. */
  kill(signal: 'SIGTERM' | 'SIGHUP' | 'SIGINT'): void;
  /** Once the screen matches; fails with the screen as it then is. */
  shows(wanted: RegExp, withinMs?: number): Promise<string>;
  /** The exit code, once it has ended and all is on the screen; -1 for a signal. */
  ended(withinMs?: number): Promise<number>;
}

const HOST = join(import.meta.dirname, 'host.mjs');
/** A host ends after so many screens: its native half may not survive many more. */
const MOST_SCREENS = 25;

/** What the host of a pseudo-terminal tells. */
interface Told {
  readonly data?: string;
  readonly exitCode?: number;
}

interface Host {
  readonly process: ChildProcess;
  shown: number;
  told(message: Told): void;
}

/** Those with a screen, and those that wait for one: a host serves screens one after another, over files of tests. */
const [open, idle] = [new Set<Host>(), new Set<Host>()];

function newHost(): Host {
  const host: Host = {
    process: fork(HOST, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
    shown: 0,
    told: () => undefined,
  };
  host.process.on('message', (message: Told) => host.told(message));
  // Its exit may be told before its last messages are read; the end of the channel comes after them.
  host.process.on('disconnect', () => {
    for (const hosts of [open, idle]) hosts.delete(host);
    host.told({ exitCode: -1 });
  });
  return host;
}

function takeHost(told: (message: Told) => void): Host {
  const [host = newHost()] = idle;
  idle.delete(host);
  host.process.ref();
  host.process.channel?.ref();
  host.told = told;
  open.add(host);
  return host;
}

function giveBack(host: Host): void {
  if (!open.delete(host)) return;
  host.told = () => undefined;
  host.shown += 1;
  if (host.shown === MOST_SCREENS) return void host.process.kill();
  // An idle one keeps no process of tests from ending.
  host.process.unref();
  host.process.channel?.unref();
  idle.add(host);
}

/** Ends what a failed test has left running. */
export function closeTerminals(): void {
  for (const host of open) host.process.kill('SIGKILL');
}

const emulatorOf = (cols: number, rows: number, convertEol = false) =>
  new headless.Terminal({ cols, rows, convertEol, scrollback: 10_000, allowProposedApi: true });

function seenBy({ buffer }: headless.Terminal, raw: () => string): Seen {
  const lines = () => Array.from({ length: buffer.active.length }, (_, at) => buffer.active.getLine(at));
  return {
    text: () =>
      lines()
        .map((line) => line?.translateToString(true) ?? '')
        .join('\n')
        .trimEnd(),
    raw,
    brokenLines: () =>
      lines().flatMap((line, at) => (line?.isWrapped ? [lines()[at - 1]?.translateToString(true) ?? ''] : [])),
    hasCursor: () => raw().lastIndexOf('\u001b[?25l') <= raw().lastIndexOf('\u001b[?25h'),
  };
}

/** What a terminal of so many columns shows of a text that a program wrote to it. */
export async function drawn(text: string, columns: number): Promise<Seen> {
  const emulator = emulatorOf(columns, 24, true);
  await new Promise<void>((written) => emulator.write(text, written));
  return seenBy(emulator, () => text);
}

export function openScreen(args: readonly string[], options: TerminalOptions = {}): Screen {
  const { columns = 80, rows = 24 } = options;
  const env: Record<string, string> = {};
  // A person's terminal, also where a build runs the tests.
  const person = { CI: undefined, NO_COLOR: undefined, PAGER: 'cat', COLORTERM: '', npm_command: undefined };
  const given = { ...process.env, NO_UPDATE_NOTIFIER: '1', ...person, ...options.env };
  for (const [name, value] of Object.entries(given)) if (value !== undefined) env[name] = value;
  const tool = [process.execPath, BIN, ...args];
  if (options.isShell) Object.assign(env, { PS1: '\\$ ', TOOL: tool.join(' ') });
  const [file = '', ...words] = options.isShell
    ? ['/bin/bash', '--norc', '--noprofile', '-i']
    : options.thenStty
      ? [
          '/bin/sh',
          '-c',
          'trap : INT; "$@"; code=$?; echo "stty:" $(stty -a | grep -oE -- "-?(icanon|isig|echo) "); exit $code',
          'sh',
          ...tool,
        ]
      : tool;
  const emulator = emulatorOf(columns, rows);
  let raw = '';
  let code: number | null = null;
  const waiting = new Set<() => void>();
  const look = () => {
    for (const wake of [...waiting]) wake();
  };
  const end = (exitCode: number) =>
    // What was written last is still on its way through the emulator.
    emulator.write('', () => {
      code ??= exitCode;
      look();
    });
  const host = takeHost(({ data, exitCode }) => {
    if (data !== undefined) {
      raw += data;
      emulator.write(data, look);
    }
    if (exitCode === undefined) return;
    isOver = true;
    giveBack(host);
    end(exitCode);
  });
  let isOver = false;
  const send = (message: object) => (isOver ? undefined : void host.process.send(message));
  const { cwd } = options;
  send({ file, args: words, options: { name: 'xterm-256color', cols: columns, rows, env, cwd } });

  const seen = seenBy(emulator, () => raw);
  const { text } = seen;

  const until = <T>(ready: () => T | undefined, what: string, withinMs: number) =>
    new Promise<T>((resolve, reject) => {
      const over = () => {
        clearTimeout(timer);
        waiting.delete(check);
      };
      const check = () => {
        const found = ready();
        if (found === undefined && code === null) return;
        over();
        if (found !== undefined) resolve(found);
        else reject(failure());
      };
      const failure = () => new Error(`${args.join(' ')}: ${what}. The screen (exit ${code}):\n${text()}`);
      const timer = setTimeout(() => {
        over();
        reject(failure());
      }, withinMs);
      waiting.add(check);
      check();
    });

  return {
    type: (typed) => send({ type: typed }),
    resize(wide, high) {
      send({ columns: wide, rows: high });
      emulator.resize(wide, high);
    },
    kill: (signal) => send({ signal }),
    ...seen,
    shows: (wanted, withinMs = 20_000) =>
      until(() => (wanted.test(text()) ? text() : undefined), `${wanted} never showed`, withinMs),
    ended: (withinMs = 20_000) => until(() => code ?? undefined, 'it did not end', withinMs),
  };
}
