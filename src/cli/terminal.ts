import { problem } from '../kernel/problems.ts';
import { selectFields } from './json.ts';
import { createProgress } from './progress.ts';
import { type Prompts, type Streams, screenWidth } from './streams.ts';
import { colourLevel, openPaint, type Paint } from './view/paint.ts';
import { tsvLines } from './view/table.ts';
import { harmless, harmlessDocument, harmlessJson } from './view/text.ts';

export interface TerminalSettings {
  readonly json: boolean;
  /** Of `--json a,b`: null means all. */
  readonly fields: readonly string[] | null;
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** false under --no-input. */
  readonly input: boolean;
  /** false under --no-color. */
  readonly color: boolean;
}

/** What a view may know of where it is drawn. */
export interface Screen {
  readonly paint: Paint;
  readonly width: number;
}

/** How a document is shown to a person: pure functions of the (harmless) document. */
export interface View<T> {
  lines(document: T, screen: Screen): readonly string[];
  /** For a pipe: tab-separated instead of drawn. */
  rows?(document: T): readonly (readonly (string | number | null)[])[];
  /** The one list of a list document: `--json fields` then name the fields of its entries. */
  readonly list?: keyof T & string;
}

/** The result goes to stdout; everything else to stderr (CONTRACT, section 15). */
export interface Terminal {
  readonly settings: TerminalSettings;
  /** Where results are drawn. */
  readonly screen: Screen;
  /** Whether there is a person to ask. */
  readonly canAsk: boolean;
  /** The command's one result. */
  result<T>(document: T, view: View<T>): void;
  /** One of several results over time: NDJSON under --json. */
  event<T>(document: T, view: View<T>): void;
  /** A part of a result that is told step by step; nothing under --json, which gets one document at the end. */
  tell(lines: readonly string[]): void;
  /** A line about what happened, on stderr, unless --quiet. */
  note(text: string): void;
  /** A finished step: `✓ text`. */
  done(text: string): void;
  /** What only a person reads after a result: its cost, the next command. Not under --json. */
  aside(lines: readonly string[]): void;
  /** A step that takes time: a spinner on a terminal, a line off one. `settle` ends it. */
  phase(text: string): void;
  settle(): void;
  /** Only under --verbose. */
  trace(text: string): void;
  /** The drawing of lines that go to stderr, for reviews before a question. */
  readonly asideScreen: Screen;
  /** @throws Problem `input_required` where nobody can be asked; `option` says how to give the answer then. */
  ask(option: string): Prompts;
}

export async function openTerminal(
  streams: Streams,
  settings: TerminalSettings,
  environment: Readonly<Record<string, string | undefined>>,
  prompts: () => Prompts,
): Promise<Terminal> {
  const paintFor = (isTTY: boolean) => openPaint(colourLevel(environment, isTTY, settings.color));
  const screen: Screen = {
    paint: await paintFor(streams.stdout.isTTY),
    width: screenWidth(streams.stdout),
  };
  const asideScreen: Screen = {
    paint: await paintFor(streams.stderr.isTTY),
    width: screenWidth(streams.stderr),
  };
  const progress = createProgress(streams.stderr, settings.quiet, asideScreen.paint);
  const say = (line: string) => progress.around(() => streams.stderr.write(`${line}\n`));
  const show = <T>(document: T, view: View<T>): string => {
    if (settings.json) return '';
    const clean = harmlessDocument(document);
    const lines = view.rows && !streams.stdout.isTTY ? tsvLines(view.rows(clean)) : view.lines(clean, screen);
    return lines.map((line) => `${line}\n`).join('');
  };
  const canAsk = settings.input && streams.stdin.isTTY && streams.stderr.isTTY;

  return {
    settings,
    screen,
    canAsk,
    asideScreen,
    result(document, view) {
      progress.settle();
      streams.stdout.write(
        settings.json
          ? `${harmlessJson(selectFields(document, settings.fields, view.list), streams.stdout.isTTY ? 2 : 0)}\n`
          : show(document, view),
      );
    },
    event(document, view) {
      progress.settle();
      streams.stdout.write(
        settings.json ? `${harmlessJson(selectFields(document, settings.fields))}\n` : show(document, view),
      );
    },
    tell(lines) {
      progress.settle();
      if (!settings.json) streams.stdout.write(lines.map((line) => `${line}\n`).join(''));
    },
    note: (text) => {
      if (!settings.quiet) say(text);
    },
    done: (text) => {
      progress.settle();
      if (!settings.quiet) say(`${asideScreen.paint.good('✓')} ${harmless(text)}`);
    },
    aside(lines) {
      if (!settings.quiet && !settings.json) for (const line of lines) say(line);
    },
    phase: (text) => progress.phase(harmless(text)),
    settle: () => progress.settle(),
    trace: (text) => {
      if (settings.verbose) say(asideScreen.paint.dim(text));
    },
    ask(option) {
      if (!canAsk) {
        throw problem('input_required', {
          message: `${option} is needed: there is nobody to ask.`,
          fix: `Give ${option}, or run on a terminal without --no-input.`,
        });
      }
      progress.settle();
      return prompts();
    },
  };
}
