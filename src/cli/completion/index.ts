import type { Command as Commander, Option } from 'commander';
import { harmless, type Streams } from '../../terminal/index.ts';
import {
  buildTree,
  type CommandSpec,
  loadSchemaFiles,
  shapeOf,
  shownIn,
  specNamed,
  type ToolSpec,
} from '../spec/index.ts';
import { type Candidate, FILES, type Place, type Position } from './candidate.ts';
import { valuesNamed } from './values.ts';

/**
 * `farelock complete <shell> -- <words…>`, which the scripts of `completion` call: prints a line for each candidate for
 * the last word. It prints no problems, since a person is typing.
 */
export async function complete(
  argv: readonly string[],
  world: Place & { readonly tool: ToolSpec; readonly streams: Streams },
): Promise<0> {
  const [shell = '', ...rest] = argv;
  const given = rest[0] === '--' ? rest.slice(1) : rest;
  const words = shell === 'bash' ? rejoined(given) : given;
  try {
    const found = await candidatesFor(words, world.tool, world);
    // bash replaces only what follows the last colon.
    const before = shell === 'bash' ? (words.at(-1)?.lastIndexOf(':') ?? -1) + 1 : 0;
    const shown = found.map((one) => (one === FILES ? one : { ...one, value: one.value.slice(before) }));
    world.streams.stdout.write(shown.map((one) => `${lineOf(shell, one)}\n`).join(''));
  } catch (error) {
    if (world.environment.FARELOCK_DEBUG_COMPLETION) world.streams.stderr.write(`${String(error)}\n`);
  }
  return 0;
}

function lineOf(shell: string, candidate: Candidate): string {
  const value = harmless(candidate.value);
  const words = harmless(candidate.words);
  if (candidate === FILES || shell === 'bash' || words === '') {
    return shell === 'zsh' && candidate !== FILES ? value.replaceAll(':', '\\:') : value;
  }
  return shell === 'zsh' ? `${value.replaceAll(':', '\\:')}:${words}` : `${value}\t${words}`;
}

/** Rejoins words, since bash splits `--cabin=eco` and `lowcost:x` at `=` and `:`, and completes only the last part. */
function rejoined(words: readonly string[]): string[] {
  const whole: string[] = [];
  let joins = false;
  for (const [index, word] of words.entries()) {
    const isLast = index === words.length - 1;
    if (word === ':' || joins) whole.push(`${whole.pop() ?? ''}${word}`);
    else if (word !== '=') whole.push(word);
    else if (isLast) whole.push('');
    joins = word === ':';
  }
  return whole;
}

/** Commands, options and values for the last word, which is being typed. */
async function candidatesFor(words: readonly string[], tool: ToolSpec, place: Place): Promise<readonly Candidate[]> {
  const program = buildTree(tool, '', { write: () => undefined, width: 80 }, () => undefined);
  const at = positionOf(program, words);
  if (at.option) return prefixed(at, await valuesOfOption(at, tool, place));
  if (at.word.startsWith('-') && !at.isAfterDashes) return starting(at.word, optionsAt(at, program.options));
  const commands = shownIn(at.command);
  const argument = at.argument;
  const values = argument
    ? (chosen(shapeOf(argument.parseArg)?.enum) ?? (await valuesNamed(argument.name(), at, place)))
    : [];
  return [
    ...(at.isAfterDashes
      ? []
      : starting(
          at.word,
          commands.map((one) => ({ value: one.name(), words: one.description() })),
        )),
    ...starting(at.word, values),
  ];
}

async function valuesOfOption(at: Position, tool: ToolSpec, place: Place): Promise<readonly Candidate[]> {
  const { option, word } = at;
  if (!option) return [];
  if (option.long === '--json') {
    const spec = specAt(tool, at.path);
    const { fieldsOf } = await loadSchemaFiles();
    const fields = spec ? fieldsOf(spec) : [];
    const before = word.includes(',') ? word.slice(0, word.lastIndexOf(',') + 1) : '';
    return fields.map((field) => ({ value: `${before}${field}`, words: '' }));
  }
  const choices = chosen(shapeOf(option.parseArg)?.enum);
  if (choices) return choices;
  const placeholder = /[<[]([^>\]]+)/.exec(option.flags)?.[1] ?? '';
  return valuesNamed(placeholder, at, place);
}

/** The command of a path, or the default command of a group, `list` or `show`. */
const specAt = (tool: ToolSpec, path: string): CommandSpec | undefined =>
  [path, `${path} list`, `${path} show`].flatMap((name) => specNamed(tool, name) ?? [])[0];

function optionsAt({ command }: Position, everywhere: Position['command']['options']): Candidate[] {
  return [...command.options, ...everywhere]
    .flatMap(({ long, description, hidden }) => (long && !hidden ? [{ value: long, words: description }] : []))
    .concat({ value: '--help', words: 'Print help' });
}

const chosen = (choices: readonly string[] | undefined): Candidate[] | null =>
  choices ? choices.map((value) => ({ value, words: '' })) : null;

const starting = (word: string, candidates: readonly Candidate[]): Candidate[] =>
  candidates.filter((one) => one === FILES || one.value.toLowerCase().startsWith(word.toLowerCase()));

const prefixed = (at: Position, candidates: readonly Candidate[]): Candidate[] =>
  starting(at.word, candidates).map((one) => (one === FILES ? one : { ...one, value: `${at.prefix}${one.value}` }));

/** @param words after the name of the tool; the last one is being typed */
function positionOf(program: Commander, words: readonly string[]): Position {
  const before = [...words];
  const word = before.pop() ?? '';
  let command = program;
  const path: string[] = [];
  const given: string[] = [];
  const values = new Map<string, string>();
  let open: Option | null = null;
  let isAfterDashes = false;
  for (const [index, one] of before.entries()) {
    if (open) {
      if (open.long) values.set(open.long, one);
      open = null;
      continue;
    }
    if (isAfterDashes) given.push(one);
    else if (one === '--') isAfterDashes = true;
    else if (one.startsWith('-') && one !== '-') {
      const option = optionNamed(program, command, one);
      if (option?.long && one.includes('=')) values.set(option.long, one.slice(one.indexOf('=') + 1));
      // An optional value counts only while it is being typed.
      const isLast = index === before.length - 1;
      if (option && !one.includes('=') && (option.required || (option.optional && isLast))) open = option;
    } else {
      const child = command.commands.find((candidate) => candidate.name() === one);
      if (child && given.length === 0) {
        command = child;
        path.push(one);
      } else given.push(one);
    }
  }
  const [, flag, value] = /^(--[\w-]+)=(.*)$/s.exec(word) ?? [];
  const joined = flag === undefined ? null : optionNamed(program, command, flag);
  const arguments_ = (defaultOf(command) ?? command).registeredArguments;
  const last = arguments_.at(-1);
  return {
    command,
    path: path.join(' '),
    word: joined ? (value ?? '') : word,
    option: open ?? joined,
    prefix: joined ? `${flag}=` : '',
    argument: arguments_[given.length] ?? (last?.variadic ? last : null),
    arguments: given,
    values,
    isAfterDashes,
  };
}

const optionNamed = (program: Commander, command: Commander, word: string): Option | null => {
  const name = word.split('=', 1)[0];
  const known = [...command.options, ...program.options];
  return known.find(({ long, short }) => long === name || short === name) ?? null;
};

/** The default command of a group: `stuck list` of `stuck`. */
function defaultOf(group: Commander): Commander | null {
  const name: unknown = Reflect.get(group, '_defaultCommandName');
  return group.commands.find((one) => one.name() === name) ?? null;
}
