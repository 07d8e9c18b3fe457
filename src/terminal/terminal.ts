import { problem } from '../kernel/problems.ts';
import { withoutAddressKeys } from '../kernel/shown-url.ts';
import type { Usdc } from '../kernel/usdc.ts';
import { colourLevel, isSpoken, openPaint, type Paint, supportsLinks } from './paint.ts';
import { latePrompts } from './prompts.ts';
import { type Environment, type Output, type Prompts, type Streams, screenWidth } from './streams.ts';
import { type ListColumn, listLines, tsvLines } from './table.ts';
import {
  brokenLine,
  harmless,
  harmlessDocument,
  harmlessJson,
  harmlessLine,
  readyFor,
  spokenLine,
  spokenLines,
  textWidth,
} from './text.ts';

export interface TerminalSettings {
  readonly json: boolean;
  /** The fields of `--json a,b`; null for all. */
  readonly fields: readonly string[] | null;
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** False under --no-input. */
  readonly input: boolean;
  /** False under --no-color. */
  readonly color: boolean;
  /** False under --no-pager. */
  readonly pager?: boolean;
  /** True under --plain: lines for a screen reader. */
  readonly plain?: boolean;
  /** Turns a note into a line of a log, for a server whose stderr a program reads. */
  readonly noteLine?: ((text: string) => string) | undefined;
}

/** The surface that a view is drawn on. */
export interface Screen {
  readonly paint: Paint;
  readonly width: number;
}

/** Shows a document to a person: pure functions of the (harmless) document. */
export interface View<T> {
  lines(document: T, screen: Screen): readonly string[];
  /** Rows for a pipe, tab-separated instead of drawn. */
  rows?(document: T): readonly (readonly (string | number | null)[])[];
  /** The one list of a document: `--json fields` then names fields of its entries. */
  readonly list?: keyof T & string;
}

/** Makes the view of a document with one list: a table (or a sentence if nothing is listed), and rows for a pipe. */
export const listView = <Name extends string, Entry>(
  list: Name,
  {
    none,
    columns,
    row,
  }: {
    readonly none?: string;
    columns(screen: Screen, entries: readonly Entry[]): readonly ListColumn<Entry>[];
    row(one: Entry): readonly (string | number | null)[];
  },
): View<Readonly<Record<Name, readonly Entry[]>> & { readonly next_cursor?: string | null }> => ({
  list,
  lines({ [list]: entries, next_cursor: cursor }, screen) {
    const lines = none && entries.length === 0 ? [none] : listLines(screen, entries, columns(screen, entries));
    return cursor ? [...lines, screen.paint.dim(`More: --cursor ${cursor}`)] : lines;
  },
  rows: ({ [list]: entries }) => entries.map(row),
});

export type Terminal = Readonly<Awaited<ReturnType<typeof openTerminal>>>;

/**
 * Opens the terminal of a command: its result goes to stdout, everything else to stderr (CONTRACT, section 15).
 * @param pager absent: long output is printed as it is
 */
export async function openTerminal(
  streams: Streams,
  settings: TerminalSettings,
  environment: Environment,
  prompts: () => Prompts,
  pager?: Pager | undefined,
) {
  let isRealMoney = false;
  const drawnOn = (stream: Output) => screenOf(stream, settings, environment, () => isRealMoney);
  const screen = await drawnOn(streams.stdout);
  const asideScreen = await drawnOn(streams.stderr);
  const progress = createProgress(
    streams.stderr,
    settings.quiet || !!settings.noteLine,
    asideScreen.paint,
    environment,
    streams.phase,
  );
  const turns = createTurns();
  // Only our own colours and links get through, however a line was put together.
  const say = (line: string) => {
    const spoken = settings.plain ? spokenLine(line) : line;
    const clean = harmlessLine(spoken, isDressed(asideScreen) && !settings.noteLine);
    const shown = settings.plain ? clean : fitted(clean, streams.stderr);
    turns.take(() => progress.around(() => streams.stderr.write(`${settings.noteLine?.(clean) ?? shown}\n`)));
  };
  const canAsk = settings.input && streams.stdin.isTTY && streams.stderr.isTTY;

  return {
    settings,
    /** Draws results. */
    screen,
    /** True if there is a person to ask. */
    canAsk,
    /** Draws lines that go to stderr, such as reviews before a question. */
    asideScreen,
    ...resultsOn(streams, settings, screen, pager, (step) => {
      progress.settle();
      turns.take(step);
    }),
    /** Says what happened, on stderr, unless --quiet. */
    note: (text: string): void => {
      if (!settings.quiet) say(text);
    },
    /** Shows what a person has to see before the question that follows: on stderr, under --quiet too. */
    review(lines: readonly string[]): void {
      for (const line of lines) say(line);
    },
    /** Says that a step is finished: `✓ text`. */
    done: (text: string): void => {
      progress.settle();
      if (!settings.quiet) say(`${asideScreen.paint.good('✓')} ${harmless(text)}`);
    },
    /** Shows lines for a person after a result: its cost, the next command. Not under --quiet or --json. */
    aside(lines: readonly string[]): void {
      if (!settings.quiet && !settings.json) for (const line of lines) say(line);
    },
    /** Names a step that takes time: a spinner on a terminal, a line off one. `settle` ends it. */
    phase: (text: string) => progress.phase(harmless(text)),
    settle: () => progress.settle(),
    /** Ends a long wait: with the terminal's bell, and its notification where it knows one. */
    ended: (text: string) => progress.ended(harmless(text)),
    /** Says it only under --verbose. */
    trace: (text: string): void => {
      if (settings.verbose) say(asideScreen.paint.dim(withoutAddressKeys(text)));
    },
    /** @throws Problem `input_required` without a person to ask; `option` then says how to give the answer. */
    ask(option: string): Prompts {
      if (!canAsk) {
        throw problem('input_required', {
          message: `${option} is required, and farelock cannot ask for it here.`,
          fix: `${option.startsWith('FARELOCK_') ? 'Set' : 'Add'} ${option}, or run on a terminal without --no-input.`,
        });
      }
      progress.settle();
      const asked = prompts();
      // Questions come after what is still being written.
      return turns.isBusy ? latePrompts(() => turns.settled().then(() => asked)) : asked;
    },
    /** Writes an amount for a person. */
    usdc: (amount: Parameters<Usdc>[0]): string => asideScreen.paint.usdc(amount),
    /** From now on every amount that a person reads is marked MAINNET. */
    realMoney(): void {
      isRealMoney = true;
    },
    /** Waits until everything is written, and a pager is closed. */
    async written(): Promise<void> {
      await turns.settled();
      await streams.stdout.flushed?.();
    },
  };
}

/** Breaks a line between words to fit the terminal, if its width is known. */
const fitted = (line: string, on: Output): string => (on.isTTY && on.columns ? brokenLine(line, on.columns) : line);

/** True if the screen shows our own colours and links. */
const isDressed = (on: Screen): boolean => on.paint.dim('x') !== 'x';

async function screenOf(
  stream: Output,
  settings: TerminalSettings,
  environment: Environment,
  isRealMoney: () => boolean,
): Promise<Screen> {
  const { isTTY } = stream;
  return {
    paint: await openPaint(
      colourLevel(environment, isTTY, settings.color),
      supportsLinks(environment, isTTY, settings.color),
      settings.plain,
      isRealMoney,
    ),
    // Not a constant: a terminal may be resized while something waits.
    get width() {
      return screenWidth(stream);
    },
  };
}

/** Writes results to stdout: documents by their views, paged where they are long, or as JSON. */
function resultsOn(
  streams: Streams,
  settings: TerminalSettings,
  screen: Screen,
  pager: Pager | undefined,
  take: (step: () => void | Promise<void>) => void,
) {
  const print = (text: string, isPaged: boolean): void | Promise<void> => {
    const { isTTY, rows, columns } = streams.stdout;
    const isShown = settings.pager === true && isPaged && isTTY && streams.stdin.isTTY && !settings.json;
    if (isShown && pager && isLong(text, rows ?? 24, columns ?? 80)) return pager(text);
    streams.stdout.write(text);
  };
  const printed = (lines: readonly string[]): string =>
    (settings.plain ? spokenLines(lines) : lines)
      .map((line) => harmlessLine(line, isDressed(screen)))
      .map((line) => `${settings.plain ? line : fitted(line, streams.stdout)}\n`)
      .join('');
  const drawn = <T>(clean: T, view: View<T>): string => {
    if (!view.rows || streams.stdout.isTTY || settings.plain) return printed(view.lines(clean, screen));
    return tsvLines(view.rows(clean))
      .map((line) => `${line}\n`)
      .join('');
  };
  const json = (document: unknown, indent: number, list?: string) =>
    print(`${harmlessJson(selectFields(document, settings.fields, list), indent)}\n`, false);
  const show = <T>(document: T, view: View<T>, isPaged: boolean): void | Promise<void> => {
    const clean = harmlessDocument(document);
    const loading = streams.stdout.isTTY ? readyFor(JSON.stringify(clean) ?? '') : null;
    return loading ? loading.then(() => print(drawn(clean, view), isPaged)) : print(drawn(clean, view), isPaged);
  };
  return {
    /** Shows the command's one result. */
    result<T>(document: T, view: View<T>): void {
      const indent = streams.stdout.isTTY ? 2 : 0;
      take(() => (settings.json ? json(document, indent, view.list) : show(document, view, true)));
    },
    /** Shows one of several results over time: NDJSON under --json. */
    event<T>(document: T, view: View<T>): void {
      take(() => (settings.json ? json(document, 0) : show(document, view, false)));
    },
    /** Shows a part of a result, step by step; nothing under --json, which gets one document at the end. */
    tell: (lines: readonly string[]): void => take(() => (settings.json ? undefined : print(printed(lines), false))),
  };
}

/** Runs steps that write, each at once unless a slow one (a pager) is still running. */
export function createTurns() {
  let last: Promise<void> | null = null;
  let failure: { readonly error: unknown } | null = null;
  const follow = (turn: Promise<void>) => {
    const ended: Promise<void> = turn
      .catch((error: unknown) => {
        // `settled` throws it; later steps still run.
        failure ??= { error };
      })
      .finally(() => {
        if (last === ended) last = null;
      });
    last = ended;
  };
  return {
    take(step: () => void | Promise<void>) {
      if (last !== null) return follow(last.then(step));
      const turn = step();
      if (turn) follow(turn);
    },
    /** True while a slow step is running. */
    get isBusy() {
      return last !== null;
    },
    /** Waits until everything is written. @throws what a step threw */
    async settled(): Promise<void> {
      while (last !== null) await last;
      if (failure !== null) throw failure.error;
    },
  };
}

/** In a longer wait a person looks away. */
const LONG_WAIT_MS = 5_000;

/** A longer phase shows its seconds. */
const SHOWN_AFTER_MS = 3_000;

/** The sign of life while something takes time: a spinner on a terminal, off it one line a phase. */
export function createProgress(
  stderr: Output,
  quiet: boolean,
  paint: Paint,
  environment: Environment,
  began: (phase: string) => void = () => undefined,
) {
  // Terminals that cannot rewrite a line or report no columns, and logs of builds, get lines.
  const isDrawn = stderr.isTTY && stderr.columns !== 0 && environment.TERM !== 'dumb' && !environment.CI;
  const canSpin = isDrawn && !isSpoken(paint);
  const signals = canSpin ? signalsOf(environment) : null;
  let current: string | null = null;
  let spinner: { text: string; stop(): unknown; clear(): unknown; render(): unknown } | null = null;
  let loading = false;
  /** Monotonic times at which this phase, and the whole wait, began. */
  let phaseAtMs = 0;
  let waitAtMs: number | null = null;
  let ticking: NodeJS.Timeout | null = null;

  const textNow = (): string => {
    const ms = performance.now() - phaseAtMs;
    return paint.dim(ms < SHOWN_AFTER_MS ? `${current}` : `${current} · ${Math.floor(ms / 1000)} s`);
  };
  const spin = async (stream: NodeJS.WriteStream) => {
    loading = true;
    const { default: ora } = await import('ora');
    loading = false;
    if (current === null) return;
    // discardStdin would put the terminal in raw mode, and Ctrl-C would no longer reach us as a signal. ora ignores
    // NO_COLOR and --no-color.
    const color = paint.accent('-') === '-' ? false : 'cyan';
    spinner = ora({ text: textNow(), stream, color, discardStdin: false, isEnabled: true }).start();
    ticking = setInterval(() => {
      if (spinner) spinner.text = textNow();
    }, 1_000);
    ticking.unref();
    if (signals) stderr.write(signals.begun);
  };
  const settle = () => {
    current = null;
    waitAtMs = null;
    if (ticking) clearInterval(ticking);
    if (spinner && signals) stderr.write(signals.over);
    spinner?.stop();
    spinner = null;
  };

  return {
    phase(text: string): void {
      if (quiet || text === current) return;
      current = text;
      // A log shows no times, and the first look at this clock loads ten modules of the platform.
      if (canSpin) phaseAtMs = performance.now();
      if (canSpin) waitAtMs ??= phaseAtMs;
      began(text);
      if (!canSpin || !stderr.stream) {
        stderr.write(`${text}…\n`);
        return;
      }
      if (spinner) spinner.text = textNow();
      else if (!loading) void spin(stderr.stream);
    },
    settle,
    /** Ends a wait; after a long one it calls the person back, as far as the terminal can. */
    ended(text: string): void {
      const isLong = waitAtMs !== null && performance.now() - waitAtMs > LONG_WAIT_MS;
      settle();
      if (isLong && signals) stderr.write(`${signals.notify(text)}\u0007`);
    },
    /** Writes between two frames of the spinner. */
    around(write: () => void): void {
      spinner?.clear();
      write();
      spinner?.render();
    },
  };
}

const osc = (text: string): string => `\u001b]${text}\u001b\\`;

/**
 * The signals of a terminal beside its bell: progress in its tab (OSC 9;4, of ConEmu) and a notification (OSC 9 of
 * iTerm2, OSC 99 of kitty). An unknown terminal gets neither, since it might print them.
 */
function signalsOf({ TERM_PROGRAM, TERM, WT_SESSION, ConEmuANSI }: Environment) {
  const hasProgress =
    WT_SESSION !== undefined || ConEmuANSI === 'ON' || TERM_PROGRAM === 'ghostty' || TERM_PROGRAM === 'WezTerm';
  const hasNotification = ['iTerm.app', 'WezTerm', 'ghostty'].includes(TERM_PROGRAM ?? '');
  return {
    begun: hasProgress ? osc('9;4;3') : '',
    over: hasProgress ? osc('9;4;0') : '',
    notify: (text: string) => (TERM === 'xterm-kitty' ? osc(`99;;${text}`) : hasNotification ? osc(`9;${text}`) : ''),
  };
}

/** Reduces a document, or the entries of its one list, to the fields of `--json a,b`. */
export function selectFields(document: unknown, fields: readonly string[] | null, list?: string): unknown {
  if (fields === null) return document;
  if (list !== undefined && isRecord(document)) {
    const entries = document[list];
    return { [list]: Array.isArray(entries) ? entries.map((entry) => pick(entry, fields)) : [] };
  }
  return pick(document, fields);
}

const pick = (value: unknown, fields: readonly string[]): unknown =>
  isRecord(value)
    ? Object.fromEntries(fields.filter((field) => field in value).map((field) => [field, value[field]]))
    : value;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Shows text a screen at a time; resolves when the person has seen enough. */
export type Pager = (text: string) => Promise<void>;

/**
 * The command line of the pager: FARELOCK_PAGER, then PAGER, then less. Null if none is wanted (empty or `cat`), or on
 * a terminal that cannot move its cursor.
 */
export function pagerCommand(environment: Environment): string | null {
  if (environment.TERM === 'dumb') return null;
  const command = (environment.FARELOCK_PAGER ?? environment.PAGER ?? 'less').trim();
  return command === '' || command === 'cat' ? null : command;
}

/** True if text does not fit on a terminal, which also shows the prompt. */
export function isLong(text: string, rows: number, columns: number): boolean {
  let taken = 0;
  for (const line of text.split('\n').slice(0, -1)) {
    taken += Math.max(1, Math.ceil(textWidth(line) / columns));
    if (taken >= rows) return true;
  }
  return false;
}
