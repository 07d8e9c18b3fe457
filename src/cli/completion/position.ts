import type { Argument, Command as Commander, Option } from 'commander';

/** Where in a command line the cursor stands. */
export interface Position {
  /** The command that the words lead to: the tool itself, a group, or a command. */
  readonly command: Commander;
  /** `intent create`, empty for the tool itself. */
  readonly path: string;
  /** The word being typed; empty after a space. */
  readonly word: string;
  /** The option whose value is being typed, else null. */
  readonly option: Option | null;
  /** The part of the word before the value: `--cabin=`, else empty. */
  readonly prefix: string;
  /** The argument that is being typed, else null. */
  readonly argument: Argument | null;
  /** The arguments before the one that is being typed. */
  readonly arguments: readonly string[];
  /** Values of the options before the cursor, by their long name: `--profile`. */
  readonly values: ReadonlyMap<string, string>;
  /** Only arguments can follow: `--` came before. */
  readonly isAfterDashes: boolean;
}

/** @param words those after the name of the tool; the last one is being typed */
export function positionOf(program: Commander, words: readonly string[]): Position {
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
      // A value that may be left out is only taken for one where it is being typed.
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
  const arguments_ = (command.commands.length > 0 ? defaultOf(command) : command)?.registeredArguments ?? [];
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

/** The command that a group stands for by itself, as `stuck` for `stuck list`. */
function defaultOf(group: Commander): Commander | null {
  const name: unknown = Reflect.get(group, '_defaultCommandName');
  return group.commands.find((one) => one.name() === name) ?? null;
}
