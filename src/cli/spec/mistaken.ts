import { type Command as Commander, CommanderError } from 'commander';
import { nearest } from '../../kernel/nearest.ts';
import { isProblem, type Problem, problem, reworded } from '../../kernel/problems.ts';
import { lineOf, type NextStep } from '../../kernel/shell-word.ts';
import { withoutAddressKeys } from '../../kernel/shown-url.ts';

/** A word of a command line that was likely meant to be another one. */
interface Mistake {
  readonly at: number;
  readonly given: string;
  readonly meant: string;
}

/**
 * Finds the first word that is nearly a command, as in `serach`, or in `intent shwo`: the default command of `intent`
 * would take it for an offer id.
 */
export function mistakenCommand(program: Commander, argv: readonly string[]): Mistake | null {
  let group = program;
  for (const [at, given] of argv.entries()) {
    if (given.startsWith('-')) return null;
    const child = group.commands.find((one) => one.name() === given);
    if (!child) {
      const names = shownIn(group).map((one) => one.name());
      const [meant] = /^[a-z][a-z-]+$/.test(given) ? nearest(given, names, 1) : [];
      return meant === undefined ? null : { at, given, meant };
    }
    if (child.commands.length === 0) return null;
    group = child;
  }
  return null;
}

/** The commands of a group without their old names. */
export const shownIn = (group: Commander): Commander[] => group.commands.filter((one) => !Reflect.get(one, '_hidden'));

/** The words of the command that a command line names: `partner orders show`. */
function namedCommand(program: Commander, argv: readonly string[]): string[] {
  const names: string[] = [];
  let group = program;
  for (const word of argv) {
    const child = group.commands.find((one) => one.name() === word);
    if (!child && word.startsWith('-')) continue;
    if (!child) break;
    names.push(word);
    group = child;
  }
  return names;
}

/** The lists that show the ids of a group's commands. */
const LISTS: Readonly<Record<string, string>> = {
  order: 'intent list',
  payments: 'payments list',
  refund: 'refund queue',
  stuck: 'stuck list',
  travellers: 'travellers list',
};

/** Names the list that shows a missing id, or else the help of the command. */
function whereToLook(error: CommanderError, command: readonly string[]): NextStep[] {
  const [, missing = ''] = error.code === 'commander.missingArgument' ? (/'([a-z-]+)'/.exec(error.message) ?? []) : [];
  const lists: Readonly<Record<string, string | null>> = {
    'offer-id': 'help search',
    'intent-id': 'intent list',
    'order-id': 'partner orders list',
    'attestation-id': 'attestations list',
    id: LISTS[command[0] ?? ''] ?? null,
  };
  const look = lists[missing];
  return [look ? { argv: look.split(' ') } : helpOf(command)];
}

/** Finds an unknown option that is close to a known one. */
function mistakenOption(program: Commander, argv: readonly string[]): Mistake | null {
  let command = program;
  for (const [at, word] of argv.entries()) {
    if (word === '--') return null;
    const child = command.commands.find((one) => one.name() === word);
    if (child) command = child;
    if (!word.startsWith('--')) continue;
    const [given = ''] = word.split('=', 1);
    const names = [...command.options, ...program.options].flatMap(({ long }) => (long ? [long] : []));
    if (names.includes(given) || given === '--help') continue;
    const [meant] = nearest(given, names, 1);
    return meant === undefined ? null : { at, given, meant };
  }
  return null;
}

/** Corrects the mistake in the command line. */
const corrected = (argv: readonly string[], { at, given, meant }: Mistake): string[] =>
  argv.map((word, index) => (index === at ? meant + word.slice(given.length) : word));

export const helpOf = (command: readonly string[]) => ({ argv: [...command, '--help'] });

/** An unknown command that is close to a known one. */
export const mistakenProblem = (argv: readonly string[], mistake: Mistake): Problem => {
  const group = argv.slice(0, mistake.at);
  const meant = [...group, mistake.meant].join(' ');
  return problem('usage', {
    message: `Unknown command '${mistake.given}'. Did you mean ${meant}?`,
    fix: `See ${lineOf(helpOf(group))}.`,
    next: [{ argv: corrected(argv, mistake) }],
  });
};

/** The errors that a mistyped option causes: the required one is then missing. */
const IN_OPTIONS: readonly string[] = ['commander.unknownOption', 'commander.missingMandatoryOptionValue'];

/** The group that a command line names without a subcommand, if its default command is absent or needs an argument. */
export function familyAlone(error: unknown, program: Commander, argv: readonly string[]): Commander | null {
  const isAlone =
    error instanceof CommanderError && ['commander.help', 'commander.missingArgument'].includes(error.code);
  const family = isAlone ? commandAt(program, namedCommand(program, argv)) : program;
  return family === program || family.commands.length === 0 || family.registeredArguments.length > 0 ? null : family;
}

const commandAt = (program: Commander, path: readonly string[]): Commander =>
  path.reduce((inside, name) => inside.commands.find((one) => one.name() === name) ?? inside, program);

/** Turns a misunderstood command line into a problem that leads to the help of the command that it names. */
export function usageProblem(error: unknown, program: Commander, argv: readonly string[]): unknown {
  const command = namedCommand(program, argv);
  const help = helpOf(command);
  // The value of an option or an argument is wrong.
  if (isProblem(error, 'usage') && error.next.length === 0) return reworded(error, { next: [help] });
  if (!(error instanceof CommanderError)) return error;
  const inOptions = IN_OPTIONS.includes(error.code);
  const mistake = inOptions ? mistakenOption(program, argv) : mistakenCommand(program, argv);
  if (mistake && !inOptions) return mistakenProblem(argv, mistake);
  const [said = ''] = withoutAddressKeys(error.message)
    .replace(/^error: /, '')
    .split('\n');
  const sentence = `${said.charAt(0).toUpperCase()}${said.slice(1)}.`.replace(/([.?!])\.$/, '$1');
  const unknown = error.code === 'commander.excessArguments' ? unknownIn(program, command, argv) : null;
  const message =
    error.code === 'commander.help'
      ? `${['farelock', ...command].join(' ')} needs a ${command.length > 0 ? 'subcommand' : 'command'}.`
      : unknown !== null
        ? `Unknown command '${unknown}'.`
        : mistake
          ? `Unknown option '${mistake.given}'. Did you mean ${mistake.meant}?`
          : sentence;
  return problem('usage', {
    message,
    fix: `See ${lineOf(help)}.`,
    next: mistake ? [{ argv: corrected(argv, mistake) }] : whereToLook(error, command),
  });
}

/** Finds an unknown word after a group, which its default command would call an excess argument. */
function unknownIn(program: Commander, command: readonly string[], argv: readonly string[]): string | null {
  const group = commandAt(program, command);
  const after = argv[argv.lastIndexOf(command.at(-1) ?? '') + 1];
  return group.commands.length > 0 &&
    group.registeredArguments.length === 0 &&
    after !== undefined &&
    !after.startsWith('-')
    ? after
    : null;
}
