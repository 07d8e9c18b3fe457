import { Argument, Command as Commander, Help, Option } from 'commander';
import type { ExitCode, GlobalOptions } from '../settings/index.ts';
import {
  type CommandContext,
  type CommandSpec,
  everyCommandOf,
  option,
  type ParameterSpec,
  type ToolCommand,
  type ToolSpec,
} from './command.ts';
import { shownIn } from './mistaken.ts';
import { durationOption, usdcOption } from './options.ts';

/** A command line that was understood: the command to run, and its options. */
export interface Invocation {
  /** `search`, `intent create`, … */
  readonly name: string;
  readonly spec: ToolCommand;
  readonly options: object;
  readonly globals: GlobalOptions;
  run(context: CommandContext): Promise<ExitCode>;
}

interface ProgramOutput {
  write(text: string): void;
  readonly width: number;
}

type Start = (invocation: Invocation) => void;

export const GLOBAL_OPTIONS: readonly ParameterSpec[] = [
  option('--profile <name>', 'where to run: local (embedded), or a profile from the settings'),
  option('--keypair <path>', 'keypair file of the wallet, - for standard input'),
  option('--json [fields]', 'print one JSON document; choose fields with a comma-separated list'),
  option('-y, --yes', 'answer yes to questions'),
  option('--no-input', 'never ask questions'),
  option('--dry-run', 'show what would be done, without doing it'),
  option('--max-payment <usdc>', 'pay at most this per call', usdcOption),
  option('--timeout <time>', 'give up after 90s, 5m, …', durationOption),
  option('-q, --quiet', 'print only the result'),
  option('-v, --verbose', 'more details on stderr'),
  option('--no-color', 'do not use colour'),
  option('--no-pager', 'do not page long results'),
  option(
    '--plain',
    'labelled lines for a screen reader, no drawings or colour; FARELOCK_PLAIN=1 to make it the default',
  ),
];

/**
 * Builds the tree that commander parses with and prints help from. Loads nothing of a command, and adds only the
 * commands that the command line needs (neededFor).
 */
export function buildTree(
  tool: ToolSpec,
  version: string,
  output: ProgramOutput,
  start: Start,
  { first, isWhole }: Needed = ALL,
): Commander {
  const program = new Commander('farelock')
    .description(tool.summary)
    .version(version, '-V, --version', 'Print the version')
    .exitOverride()
    // Near misses get a corrected command line instead (mistaken.ts).
    .showSuggestionAfterError(false)
    .configureOutput({
      writeOut: (text) => output.write(text),
      // Usage errors are printed with every other problem, in one place.
      writeErr: () => undefined,
      getOutHelpWidth: () => output.width,
    })
    .configureHelp({ showGlobalOptions: true, minWidthToWrap: LEAST_TEXT })
    .helpOption('-h, --help', 'Print help')
    .helpCommand(false)
    .optionsGroup('Global options:');
  for (const one of GLOBAL_OPTIONS) program.addOption(optionOf(one));
  const isNeeded = (spec: ToolCommand) => first === null || firstWord(spec) === first;
  for (const [heading, commands] of Object.entries(tool.sections)) {
    program.commandsGroup(heading);
    for (const spec of commands) if (isNeeded(spec)) addCommand(program, tool, spec, start);
  }
  for (const spec of tool.old) if (isNeeded(spec)) addCommand(program, tool, spec, start);
  if (isWhole) return program.addHelpText('after', examples(tool.examples));
  program.helpInformation = () => overviewText(tool, output.width);
  return program;
}

/** The least width of a text beside its term; commander's own 40 would cut words at 60 columns. */
const LEAST_TEXT = 20;

/** The help on one screen; `help --all` has the rest. */
function overviewText({ summary, overview }: ToolSpec, width: number): string {
  const help = Object.assign(new Help(), { minWidthToWrap: LEAST_TEXT });
  const usageWidth = Math.max(...overview.map(([, usage]) => usage.length));
  const hang = 10 + usageWidth + 2;
  const lines = overview.map(([purpose, usage, words], index) => {
    const isNew = purpose !== overview[index - 1]?.[0];
    const text = help.boxWrap(words, width - hang).replaceAll('\n', `\n${' '.repeat(hang)}`);
    return `${(isNew ? purpose : '').padEnd(10)}${usage.padEnd(usageWidth)}  ${text}`.trimEnd();
  });
  return ['Usage: farelock <command> [options]', '', help.boxWrap(summary, width), '', ...lines, ''].join('\n');
}

const firstWord = ({ name }: CommandSpec): string => name.split(' ')[0] ?? '';

/** The part of the tree to build: the commands that begin with `first`, or all. `isWhole` is for the help of all. */
interface Needed {
  readonly first: string | null;
  readonly isWhole?: boolean;
}

const ALL: Needed = { first: null };

/** Limits the tree to a command line: setting up all 90 commands, with all options, takes 5 ms. */
export function neededFor(tool: ToolSpec, [word = '--help', ...more]: readonly string[]): Needed {
  // The short help and the version need no command.
  const isOfNone = more.length === 0 && ['--help', '-h', '--version', '-V'].includes(word);
  return isOfNone || everyCommandOf(tool).some((spec) => firstWord(spec) === word) ? { first: word } : ALL;
}

function addCommand(program: Commander, tool: ToolSpec, spec: ToolCommand, start: Start): void {
  const path = spec.name.split(' ');
  const own = path.pop() ?? '';
  const group = groupAt(program, tool, path);
  const command = group.command(own, { isDefault: spec.isDefault === true, hidden: spec.now !== undefined });
  if (group.registeredArguments.length > 0) group.hook('preSubcommand', passOptions);
  command.description(spec.summary).addHelpText('after', examples(spec.examples));
  for (const one of spec.arguments ?? []) command.addArgument(argumentOf(one));
  for (const one of spec.options ?? []) command.addOption(optionOf(one));
  command.action(function (this: Commander, ...given: unknown[]) {
    const positional = this.registeredArguments.map((argument, index) => [camelCase(argument.name()), given[index]]);
    const options = { ...Object.fromEntries(positional), ...this.opts() };
    start({
      name: spec.name,
      spec,
      options,
      globals: program.opts<GlobalOptions>(),
      // The types of the options are inferred from the spec that parsed them (command.ts).
      run: async (context) => (await spec.load())(context, options as never),
    });
  });
}

/** Hands options before a subcommand to it: commander reads `--wait` of `search updates` as one of `search`. */
function passOptions(parent: Commander, child: Commander): void {
  for (const one of parent.options) {
    const name = one.attributeName();
    one.makeOptionMandatory(false);
    if (parent.getOptionValueSource(name) !== 'cli') continue;
    if (child.options.some((own) => own.attributeName() === name))
      child.setOptionValue(name, parent.getOptionValue(name));
    else child.error(`error: unknown option '${one.long}'`, { code: 'commander.unknownOption' });
  }
}

/** Finds the group of a path, or makes it for its first command. */
function groupAt(program: Commander, tool: ToolSpec, path: readonly string[]): Commander {
  return path.reduce((group, name, depth) => {
    const known = group.commands.find((one) => one.name() === name);
    return known ?? familyOf(group.command(name), tool, path.slice(0, depth + 1));
  }, program);
}

/** Sets up a group. Its help is one short screen: its subcommands at any depth, with their arguments. */
function familyOf(group: Commander, tool: ToolSpec, path: readonly string[]): Commander {
  const name = ['farelock', ...path].join(' ');
  const termOf = (one: Commander): string => {
    const before = one.parent === null || one.parent === group ? '' : `${one.parent.name()} `;
    return [before + one.name(), ...one.registeredArguments.map(humanReadable)].join(' ');
  };
  group.createHelp = () =>
    Object.assign(new Help(), {
      minWidthToWrap: LEAST_TEXT,
      commandUsage: () => `${name} <command>`,
      visibleOptions: () => [],
      visibleCommands: () => leavesOf(group),
      subcommandTerm: termOf,
    });
  return group
    .helpCommand(false)
    .description(tool.groups[path.join(' ')] ?? '')
    .addHelpText('after', `\nMore: ${name} <command> --help`);
}

const leavesOf = (group: Commander): Commander[] =>
  shownIn(group).flatMap((one) => (one.commands.length > 0 ? leavesOf(one) : [one]));

const humanReadable = (one: Argument): string => {
  const name = `${one.name()}${one.variadic ? '...' : ''}`;
  return one.required ? `<${name}>` : `[${name}]`;
};

export function argumentOf({ flags, description, parse }: ParameterSpec): Argument {
  const argument = new Argument(flags, description);
  return parse ? argument.argParser(parse) : argument;
}

export function optionOf({ flags, description, parse, preset, isRequired }: ParameterSpec): Option {
  const option = new Option(flags, description).default(preset).makeOptionMandatory(isRequired === true);
  return parse ? option.argParser(parse) : option;
}

const examples = (lines: readonly string[]): string => `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`;

const camelCase = (name: string): string => name.replace(/-(\w)/g, (_match, letter: string) => letter.toUpperCase());
