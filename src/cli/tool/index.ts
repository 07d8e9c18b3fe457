import { existsSync, statSync } from 'node:fs';
import { CommanderError } from 'commander';
import type { Allowance } from '../../client/base/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { missingNative } from '../../kernel/native.ts';
import { didYouMean } from '../../kernel/nearest.ts';
import { isProblem, type Problem, problem, reworded } from '../../kernel/problems.ts';
import { type NextStep, shell } from '../../kernel/shell-word.ts';
import { withoutAddressKeys } from '../../kernel/shown-url.ts';
import { storageTrouble, unfinishedRestore } from '../../kernel/storage.ts';
import {
  harmless,
  harmlessJson,
  openTerminal,
  type Pager,
  type Prompts,
  type Streams,
  screenWidth,
  type Terminal,
  type TerminalSettings,
} from '../../terminal/index.ts';

import { cutOffBy, loadFailed, type nextStepsOf } from '../interruption/index.ts';
import { loadSession, type Session } from '../session/index.ts';
import { type Environment, loadProfile, loadTable } from '../settings/index.ts';
import {
  buildTree,
  type CommandContext,
  familyAlone,
  type Invocation,
  loadSchemaFiles,
  mistakenCommand,
  mistakenProblem,
  neededFor,
  type ToolSpec,
  usageProblem,
} from '../spec/index.ts';
import { problemDocument, problemLines, type TypedNames } from '../view/index.ts';

const ACTS: ReadonlySet<unknown> = new Set(['pays', 'changes', 'runs']);
/** Commands that run in a home whose restore has not finished. */
const BEFORE_RESTORED: ReadonlySet<string> = new Set(['db restore', 'help', 'explain', 'completion']);

/** Everything outside the tool, which tests replace. */
interface World {
  readonly tool: ToolSpec;
  readonly version: string;
  readonly environment: Environment;
  readonly streams: Streams;
  readonly clock: Clock;
  /** The working folder, unless it is the process's own. */
  readonly folder?: string | undefined;
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal;
  readonly prompts: (signal: AbortSignal, isPlain: boolean) => Prompts;
  /** The allowance of the program that drives the tool; absent if a person does. */
  readonly allowance?: Allowance | undefined;
  /** Shows long results, on a terminal. */
  readonly pager?: Pager | undefined;
  /** Called once the command is parsed. */
  readonly began?: ((name: string) => void) | undefined;
  /** Called with the steps that help after a failure. */
  readonly failed?: ((next: readonly NextStep[]) => void) | undefined;
  /** Called with the payments whose answers are in the result, for a program that confirms their arrival itself. */
  readonly answered?: ((paymentIds: readonly string[]) => void) | undefined;
}

/** Runs one command line to its exit code. Only here are problems caught and printed. */
export async function runTool(argv: readonly string[], world: World): Promise<number> {
  let terminal: Terminal | null = null;
  let invocation: Invocation | null = null;
  let session: Session | null = null;
  // The shell runs `complete` whenever Tab is pressed; the help does not list it.
  if (argv[0] === 'complete') return (await import('../completion/index.ts')).complete(argv.slice(1), world);
  const deadline = new AbortController();
  const signal = AbortSignal.any([world.interrupted, deadline.signal]);
  try {
    // Without a command: the guided walk on a terminal, the help elsewhere.
    const isAlone = argv.every((word) => word === '--plain');
    const isGuided = isAlone && world.streams.stdin.isTTY && world.streams.stderr.isTTY;
    invocation = parse(isGuided ? ['guided', ...argv] : argv, world);
    if (invocation === null) return 0;
    world.began?.(invocation.name);
    const { globals } = invocation;
    const settings = settingsOf(invocation, await chosenFields(invocation), world);
    terminal = await openTerminal(
      world.streams,
      settings,
      world.environment,
      () => world.prompts(signal, settings.plain === true),
      world.pager,
    );
    const { now } = invocation.spec;
    if (now !== undefined) terminal.aside([`farelock ${invocation.name} is now farelock ${now}.`]);
    const timer = globals.timeout && setTimeout(() => deadline.abort(problem('timed_out')), globals.timeout);
    // Not for commands that only read or are local: they may be looking for the mistake.
    if (ACTS.has(invocation.spec.effect)) (await loadTable()).checkVariables(world.environment);
    const { openSession } = await loadSession();
    const opened = await openSession({
      ...world,
      terminal,
      globals,
      // These two report wrong settings themselves.
      ...((invocation.name === 'doctor' || invocation.name === 'config show') && {
        profile: (await loadProfile()).EMBEDDED,
      }),
    });
    session = opened;
    if (!BEFORE_RESTORED.has(invocation.name) && existsSync(unfinishedRestore(opened.home)))
      throw problem('restore_unfinished');
    const context: CommandContext = { ...world, terminal, session: opened, globals, signal };
    try {
      const code = await invocation.run(context);
      await terminal.written();
      await (world.answered ? world.answered(opened.paidHere.ids) : opened.paidHere.shown());
      return code;
    } catch (error) {
      const cutOff = untoldCutOff(error, signal);
      if (cutOff === null) {
        if (!isProblem(error)) throw error;
        throw await charged(error, opened);
      }
      terminal.settle();
      const { commandCutOff } = await loadFailed();
      throw await commandCutOff(cutOff, invocation.spec, { argv, invocation, session });
    } finally {
      if (timer) clearTimeout(timer);
      await opened.close();
      await terminal.written();
    }
  } catch (error) {
    terminal ??= await openTerminal(world.streams, scannedSettings(argv, world.environment), world.environment, () =>
      world.prompts(signal, true),
    );
    const failure = untoldCutOff(error, signal) ?? (await withFile(error, session, world.environment));
    const failed = { argv, invocation, session };
    // Out of file handles: report it without loading more code.
    const next = await nextSteps(failure, failed).catch(() => []);
    const typed = await loadFailed().then(
      ({ typedNamesOf }) => typedNamesOf(invocation),
      () => () => null,
    );
    world.failed?.(next);
    return report(failure, next, terminal, world.streams, typed);
  }
}

/** The part of the world that parsing needs. */
type Reader = Pick<World, 'tool' | 'version' | 'streams'>;

/** Parses a command line; null if help or the version was printed. */
export function parse(argv: readonly string[], world: Reader): Invocation | null {
  // `--json` may have a value: in `order --json ord_1` the id is not a list of fields.
  const moved = withBareJson(argv);
  try {
    const parsed = parseOnce(argv, world);
    const isId = typeof parsed?.globals.json === 'string' && /\d|^(int|off|ord)_/.test(parsed.globals.json);
    return isId && moved ? parseOnce(moved, world) : parsed;
  } catch (error) {
    if (moved === null || !isProblem(error, 'usage')) throw error;
    try {
      return parseOnce(moved, world);
    } catch {
      throw error;
    }
  }
}

function parseOnce(argv: readonly string[], { tool, version, streams }: Reader): Invocation | null {
  let invocation: Invocation | null = null;
  const program = buildTree(
    tool,
    version,
    {
      write: (text) => streams.stdout.write(text),
      width: Math.min(100, streams.stdout.isTTY ? screenWidth(streams.stdout) : 80),
    },
    (understood) => {
      invocation = understood;
    },
    neededFor(tool, argv),
  );
  if (argv.length === 0) {
    program.outputHelp();
    return null;
  }
  try {
    program.parse(argv, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return null;
    const family = isJson(argv) ? null : familyAlone(error, program, argv);
    if (family) {
      family.outputHelp();
      return null;
    }
    throw usageProblem(error, program, argv);
  }
  // `intent shwo` would otherwise take `shwo` for an offer.
  const mistake = mistakenCommand(program, argv);
  if (mistake) throw mistakenProblem(argv, mistake);
  return invocation;
}

function withBareJson(argv: readonly string[]): string[] | null {
  const at = argv.indexOf('--json');
  if (at < 0 || argv[at + 1] === undefined || argv[at + 1]?.startsWith('-')) return null;
  return ['--json=', ...argv.slice(0, at), ...argv.slice(at + 1)];
}

async function chosenFields({ name, spec, globals }: Invocation): Promise<string[] | null> {
  if (typeof globals.json !== 'string' || globals.json === '') return null;
  const { fieldsOf } = await loadSchemaFiles();
  const known = fieldsOf(spec);
  const wanted = globals.json
    .split(',')
    .map((field) => field.trim())
    .filter(Boolean);
  const unknown = wanted.filter((field) => known.length > 0 && !known.includes(field));
  if (unknown.length > 0) {
    throw problem('usage', {
      message:
        `farelock ${name} has no JSON field "${unknown.join('", "')}". ${didYouMean(unknown[0] ?? '', known)}`.trim(),
      fix: `It has ${known.join(', ')}.`,
    });
  }
  return wanted;
}

/** The interruption that ended a command; null also for a problem that names next steps itself. */
const untoldCutOff = (error: unknown, signal: AbortSignal): Problem | null =>
  isProblem(error) && error.next.length > 0 ? null : cutOffBy(error, signal);

/** Adds the name of the file to a storage problem: an embedded service leaves it out of its answer. */
async function withFile(error: unknown, session: Session | null, environment: Environment): Promise<unknown> {
  const trouble = storageTrouble(error);
  if (!trouble) return error;
  const here = trouble.detail?.file === undefined && session?.isEmbedded === true ? await session.trouble() : null;
  const named = here?.code === trouble.code ? here : trouble;
  if (!session || process.platform === 'win32') return named;
  return asHome(named, session.home, environment);
}

/** Rewords a problem to count what this command has paid before. */
const charged = (error: Problem, session: Session): Promise<Problem> =>
  loadFailed().then(
    ({ asCharged }) => asCharged(error, session),
    () => error,
  );

/** Commands that help, from the problem itself or from its code; at least one. */
async function nextSteps(error: unknown, failed: Parameters<typeof nextStepsOf>[1]): Promise<readonly NextStep[]> {
  const told = isProblem(error) ? error : missingNative(error);
  if (told === null) return [{ argv: [...failed.argv, '--verbose'] }];
  if (told.next.length > 0) return told.next;
  return (await loadFailed()).nextStepsOf(told, failed);
}

/** The terminal settings of a parsed command. */
const settingsOf = (
  { name, globals, options }: Invocation,
  fields: string[] | null,
  { environment, clock }: Pick<World, 'environment' | 'clock'>,
): TerminalSettings => ({
  json: globals.json !== undefined || 'ndjson' in options,
  fields,
  quiet: globals.quiet === true,
  verbose: globals.verbose === true,
  input: globals.input,
  color: globals.color,
  pager: globals.pager !== false && !isPlain(globals, environment),
  plain: isPlain(globals, environment),
  noteLine: LOGGING.has(name) && globals.json !== undefined ? (text) => logged(text, clock.now()) : undefined,
});

/** Servers, whose stderr is a log under --json. */
const LOGGING: ReadonlySet<string> = new Set(['serve', 'worker']);

const logged = (text: string, nowMs: number): string =>
  text.startsWith('{"at":')
    ? text
    : JSON.stringify({ at: new Date(nowMs).toISOString(), level: 'info', event: 'note', message: text.trim() });

const isJson = (argv: readonly string[]): boolean => argv.some((word) => /^--(nd)?json(=|$)/.test(word));

/** Terminal settings for a problem, from a command line that could not be parsed. */
const scannedSettings = (argv: readonly string[], environment: Environment): TerminalSettings => ({
  json: isJson(argv),
  fields: null,
  quiet: false,
  verbose: argv.includes('--verbose') || argv.includes('-v'),
  input: false,
  color: !argv.includes('--no-color'),
  pager: false,
  plain: argv.includes('--plain') || isPlainAlways(environment),
});

const isPlain = ({ plain }: Invocation['globals'], environment: Environment): boolean =>
  plain === true || isPlainAlways(environment);

const isPlainAlways = ({ FARELOCK_PLAIN }: Environment): boolean =>
  FARELOCK_PLAIN !== undefined && !['', '0', 'false'].includes(FARELOCK_PLAIN);

/** Prints the problem once: one document under --json, lines for a person otherwise. @returns the exit code */
function report(
  error: unknown,
  next: readonly NextStep[],
  terminal: Terminal,
  streams: Streams,
  typed?: TypedNames,
): number {
  terminal.settle();
  const { json, verbose } = terminal.settings;
  const told = isProblem(error) ? error : missingNative(error);
  const shown =
    told ??
    problem('internal_error', {
      message: `Unexpected error: ${withoutAddressKeys(error instanceof Error ? error.message : String(error))}`,
      fix: 'Run it again with --verbose to see where.',
      cause: error,
    });
  if (json) streams.stdout.write(`${harmlessJson(problemDocument(shown, next), streams.stdout.isTTY ? 2 : 0)}\n`);
  else terminal.review(problemLines(shown, terminal.asideScreen, next, typed));
  if (verbose) for (const line of stackLines(error)) terminal.trace(line);
  return shown.kind.exit;
}

function stackLines(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const own = (error.stack ?? '').split('\n').map(harmless);
  return error.cause === undefined ? own : [...own, 'caused by', ...stackLines(error.cause)];
}

/** Rewords a storage problem if the folder of the home itself cannot be made. */
function asHome(trouble: Problem, home: string, { FARELOCK_HOME }: Environment): Problem {
  if (!isProblem(trouble, 'storage_not_writable', 'storage_failed') || isFolder(home)) return trouble;
  const { reason } = trouble.detail ?? {};
  const why = typeof reason === 'string' ? ` (${reason})` : '';
  return reworded(trouble, {
    message: FARELOCK_HOME
      ? `FARELOCK_HOME is ${home}, where no folder can be made${why}.`
      : `The folder ${home} cannot be made${why}.`,
    fix: FARELOCK_HOME
      ? 'Set FARELOCK_HOME to a folder that you can write, or unset it for the usual one.'
      : 'Set FARELOCK_HOME to a folder that you can write.',
    next: [FARELOCK_HOME ? shell`unset FARELOCK_HOME` : shell`export FARELOCK_HOME=~/farelock`],
  });
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // The problem itself says why the path cannot be read.
    return false;
  }
}
