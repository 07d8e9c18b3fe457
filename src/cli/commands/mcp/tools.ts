import { BASE_FIELDS, type PassengerField, TITLES } from '../../../kernel/domain/passengers.ts';
import { isProblem, problem } from '../../../kernel/problems.ts';
import { lineOf, type NextStep } from '../../../kernel/shell-word.ts';
import type { CommandDescription, ParameterDescription, ToolDescription, ToolSpec } from '../../spec/index.ts';
import { parse } from '../../tool/index.ts';
import { listsIn, outputSchemaOf, type Page } from './answers.ts';
import type { TOOL_SETS } from './spec.ts';
import words from './tools.json' with { type: 'json' };

/** Turns commands into tools of the Model Context Protocol, and calls of tools into command lines. */

export type CommandLine = ReturnType<typeof commandLineOf>;

const text = (description: string, pattern?: string) => ({ type: 'string', ...(pattern && { pattern }), description });
const day = (description: string) => ({ type: 'string', format: 'date', description });

const FIELDS: Readonly<Record<PassengerField, object>> = {
  given_name: text('as in the passport, in Latin letters, up to 40'),
  family_name: text('as in the passport'),
  born_on: day('YYYY-MM-DD; at least 12 years before departure'),
  title: { type: 'string', enum: TITLES },
  gender: { type: 'string', enum: ['m', 'f'], description: 'as in the passport' },
  email: text('gets the ticket'),
  phone_number: text('with country code: +351912345678', '^[+][1-9][0-9]{6,14}$'),
  nationality: text('country code: PT or PRT', '^[A-Za-z]{2,3}$'),
  passport_number: text('letters and digits', '^[A-Za-z0-9]{5,15}$'),
  passport_expiry: day('YYYY-MM-DD, not yet expired'),
};

/** The passengers of `book` come inline instead of from a file or standard input: a model gets no paths. */
const PASSENGERS = {
  type: 'array',
  minItems: 1,
  maxItems: 9,
  items: { type: 'object', properties: FIELDS, required: BASE_FIELDS, additionalProperties: false },
  description:
    'One for each of passenger_count. nationality, passport_number and passport_expiry are needed where passenger_fields of the offer or lock has them: always for lowcost: offers.',
};

const isInline = (command: CommandDescription, { name }: ParameterDescription): boolean =>
  command.name === 'book' && name === '--passengers';

/** Entries of a list unless a call gives a limit: a model has no use for more. */
const MOST = 20;
const PRESETS: Readonly<Record<string, number>> = { search: 8, 'search updates': 8, doctor: 100 };

/** The limit of a tool whose command has none of its own. */
const LIMIT: ParameterDescription = {
  name: '--limit',
  description: 'entries of each list',
  required: false,
  repeated: false,
  value: { type: 'integer', minimum: 1, maximum: 1000 },
};

const OFFSET: ParameterDescription = {
  name: '--offset',
  description: 'next_offset of the answer before',
  required: false,
  repeated: false,
  value: { type: 'integer', minimum: 0, maximum: 9_999 },
};

const hasLimit = ({ options }: CommandDescription): boolean => options.some(({ name }) => name === LIMIT.name);

function pagingOf(command: CommandDescription): Page['paging'] {
  const isLong = command.options.some(({ name }) => name === '--cursor' || name === '--page-token');
  if (hasLimit(command) && isLong) return 'cursor';
  if (command.name === 'search') return 'offset';
  return command.effect === 'reads' && (hasLimit(command) || listsIn(command).length > 0) ? 'offset' : null;
}

/** Lists that are read whole, so that their total is known. */
const READ_WHOLE: ReadonlySet<string> = new Set(['airports', 'intent list', 'payments list']);

function pageOf(command: CommandDescription, given: Readonly<Record<string, unknown>>): Page {
  const read = (parameter: ParameterDescription, preset: number): number => {
    const value = given[keyOf(parameter)] ?? preset;
    const { minimum = 0, maximum = 0 } = parameter.value ?? {};
    if (Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum) return Number(value);
    throw wrongType(command, parameter, `a whole number from ${minimum} to ${maximum}`);
  };
  const own = command.options.find(({ name }) => name === LIMIT.name);
  const paging = pagingOf(command);
  const offset = read(OFFSET, 0);
  const limit = read(own ?? LIMIT, PRESETS[command.name] ?? MOST);
  // One more entry than the page tells whether the list goes on.
  const isWhole = READ_WHOLE.has(command.name) && given.chain !== true;
  const least = command.name === 'search' ? Number.POSITIVE_INFINITY : isWhole ? 1000 : 0;
  const wanted = Math.min(own?.value?.maximum ?? 0, Math.max(offset + limit + 1, least));
  return {
    offset,
    limit,
    isChosen: given.limit !== undefined,
    paging,
    read: own && paging === 'offset' && !isByDay(given) ? wanted : null,
  };
}

/**
 * Options for files of this machine and for streams do not fit a call with one answer. A person agrees to --live by
 * starting the server with --allow-changes.
 */
const LEFT_OUT = /^--(ics|watch|ndjson|live|results|deposit-instructions|.*-file)$/;
/**
 * Commands that only a person runs: for keys, tokens and the proofs of a customer's identity; for the verdict on an
 * identity; for an operator's cluster and money; for a watch, which pays by itself for days.
 */
const NOT_TOOLS =
  /^(help|upgrade|completion|config|cluster|travellers|keys|watch|recipe|attestations (show|decide)|payments resume|requirements submit|partner orders (apply|watch))\b/;
/** No tool changes this machine's own files, such as a person's limits and keypair. */
const TOOL_EFFECTS: ReadonlySet<CommandDescription['effect']> = new Set(['reads', 'pays', 'changes']);

const isTool = ({ name, effect }: CommandDescription): boolean => TOOL_EFFECTS.has(effect) && !NOT_TOOLS.test(name);

/** The commands that a program may call, in the order of the help. */
export const toolCommands = (tool: ToolDescription): CommandDescription[] => tool.commands.filter(isTool);

/** Names of earlier releases, and what they call now. They are not listed. */
export const OLD_TOOLS: Readonly<Record<string, readonly [name: string, given: object]>> = {
  intent_show: ['status', {}],
  intent_verify: ['status', { verify: true }],
  wallet_history: ['payments_list', { chain: true }],
};

/** The description of a tool (its use, cost and next steps), and the sets that have it. */
export function wordsFor({ name }: CommandDescription): { readonly sets: readonly string[]; readonly says: string } {
  const found = words[name as keyof typeof words];
  if (!found) throw new Error(`tools.json of mcp has no words for ${name}`);
  return found;
}

export type ToolSet = (typeof TOOL_SETS)[number];

export const isInSets = (command: CommandDescription, sets: readonly ToolSet[]): boolean =>
  sets.some((one) => one === 'all' || wordsFor(command).sets.includes(one));

export const toolName = ({ name }: CommandDescription): string => name.replace(/[ -]/g, '_');

/** @param withOutput adds the schema of the answer, which is most of the length */
export function toolOf(command: CommandDescription, withOutput = false) {
  const parameters = parametersOf(command);
  const required = parameters.filter(isNeeded).map(keyOf);
  return {
    name: toolName(command),
    description: wordsFor(command).says,
    inputSchema: {
      type: 'object' as const,
      properties: Object.fromEntries(
        parameters.map((parameter) => [
          keyOf(parameter),
          isInline(command, parameter) ? PASSENGERS : schemaOf(parameter, presetOf(command, parameter)),
        ]),
      ),
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    },
    ...(withOutput && { outputSchema: outputSchemaOf(command) }),
    // The protocol's defaults fit the other hints: a second call pays again, and a call reaches a service.
    annotations: { readOnlyHint: command.effect === 'reads' },
  };
}

/**
 * The command line of a call.
 * @throws Problem `usage` for an unknown or a missing parameter
 */
export function commandLineOf(command: CommandDescription, given: Readonly<Record<string, unknown>>) {
  const parameters = parametersOf(command);
  const known = new Map(parameters.map((parameter) => [keyOf(parameter), parameter]));
  const unknown = Object.keys(given).filter((key) => !known.has(key));
  if (unknown.length > 0) {
    throw problem('usage', {
      message: `${toolName(command)} has no parameter "${unknown.join('", "')}".`,
      fix: `It has ${[...known.keys()].join(', ') || 'none'}.`,
    });
  }
  const missing = parameters.filter((parameter) => isNeeded(parameter) && given[keyOf(parameter)] === undefined);
  if (missing.length > 0) {
    throw problem('usage', {
      message: `${toolName(command)} needs ${missing.map(keyOf).join(', ')}.`,
      fix: 'Add every required parameter.',
    });
  }
  const page = pageOf(command, given);
  const options: string[] = [];
  const positional: string[] = [];
  let stdin = '';
  for (const parameter of parameters) {
    const value =
      (parameter.name === LIMIT.name ? page.read : null) ??
      given[keyOf(parameter)] ??
      (isByDay(given) ? undefined : presetOf(command, parameter));
    if (value === undefined || value === null || parameter === LIMIT || parameter === OFFSET) continue;
    const isOption = parameter.name.startsWith('--');
    if (isInline(command, parameter)) {
      stdin = JSON.stringify(value);
      options.push(`${parameter.name}=-`);
    } else if (parameter.value === null || (parameter.value_optional && typeof value === 'boolean')) {
      if (typeof value !== 'boolean') throw wrongType(command, parameter, 'true or false');
      if (value) options.push(parameter.name);
    } else {
      const texts = textsOf(command, parameter, value);
      // Name and value in one word: a value that begins with a dash stays a value.
      if (isOption) options.push(...texts.map((text) => `${parameter.name}=${text}`));
      else positional.push(...texts);
    }
  }
  return {
    argv: [...command.name.split(' '), ...options, '--', ...positional],
    stdin,
    isDryRun: given[keyOf(DRY_RUN)] === true && command.effect !== 'reads',
    page,
  };
}

function textsOf(command: CommandDescription, parameter: ParameterDescription, value: unknown): string[] {
  const values: readonly unknown[] = parameter.repeated && Array.isArray(value) ? value : [value];
  return values.map((one) => {
    if (typeof one !== 'string' && typeof one !== 'number') {
      throw wrongType(command, parameter, parameter.repeated ? 'a list of strings' : 'a string or a number');
    }
    return String(one);
  });
}

const wrongType = (command: CommandDescription, parameter: ParameterDescription, want: string) =>
  problem('usage', {
    message: `${keyOf(parameter)} of ${toolName(command)} is ${want}.`,
    fix: 'Follow the inputSchema of the tool.',
  });

/** A person may leave out the intent; a program names it. */
const isNeeded = ({ name, required }: ParameterDescription): boolean => required || /^(intent-)?id$/.test(name);

const DRY_RUN: ParameterDescription = {
  name: '--dry-run',
  description: 'plan only',
  required: false,
  repeated: false,
  value: null,
};

export const parametersOf = (command: CommandDescription): ParameterDescription[] => [
  ...[...command.arguments, ...command.options].filter(({ name }) => !LEFT_OUT.test(name)),
  ...(pagingOf(command) === 'offset' ? [...(hasLimit(command) ? [] : [LIMIT]), OFFSET] : []),
  ...(command.effect === 'reads' ? [] : [DRY_RUN]),
];

/** A search over days has a price for each day, and takes no limit. */
const isByDay = ({ flex, cheapest_day: cheapestDay }: Readonly<Record<string, unknown>>): boolean =>
  flex !== undefined || cheapestDay === true;

/** The default of a parameter for tools, where the command has another one. */
const presetOf = ({ name }: CommandDescription, parameter: ParameterDescription): number | undefined =>
  parameter.name === LIMIT.name ? (PRESETS[name] ?? MOST) : undefined;

/** `--max-stops` is max_stops; `--no-wait` is no_wait. */
export const keyOf = ({ name }: ParameterDescription): string => name.replace(/^--/, '').replaceAll('-', '_');

/** Writes `--depart` as depart, and leaves out what is true only of the command, such as its default. */
const inToolWords = (description: string): string =>
  description
    .replace(/ \(\d+\)$|, even with --json$/, '')
    .replace(/--([a-z][a-z-]*)/g, (_, name: string) => name.replaceAll('-', '_'));

function schemaOf(
  { value, value_optional, description, repeated, default: own }: ParameterDescription,
  preset: string | number | boolean | undefined = own,
): object {
  const said = description === value?.enum?.join(', ') ? '' : inToolWords(description);
  const about = { ...(said && { description: said }), ...(preset === undefined ? {} : { default: preset }) };
  if (value === null) return { type: 'boolean', ...about };
  if (value_optional) return { anyOf: [{ type: 'boolean' }, value], ...about };
  return repeated ? { type: 'array', items: value, ...about } : { ...value, ...about };
}

interface ToolGiven {
  readonly described: ToolDescription;
  readonly spec: ToolSpec;
  /** The commands that a client may call, by name. */
  readonly callable: ReadonlySet<string>;
}

/** Next steps after a failed call: lines for a person's shell, without the server's options, and calls for a client. */
export function nextStepsFor(failed: CommandDescription, next: readonly NextStep[], tool: ToolGiven) {
  const { commands } = tool.described;
  const steps = next.map((step) => ({ step, understood: 'argv' in step ? understand(step.argv, tool) : null }));
  return {
    next: steps.map(({ step, understood }) => lineOf(understood ? { argv: wordsOf(understood) } : step)),
    calls: steps.flatMap(({ understood }) => {
      const command = understood && commands.find(({ name }) => name === understood.name);
      if (!understood || !command || !tool.callable.has(command.name)) return [];
      return [callOf(understood, command, command.name === failed.name)];
    }),
  };
}

type Understood = NonNullable<ReturnType<typeof understand>>;

/** Reads a command line; null if the tool itself would refuse it. */
function understand(words: readonly string[], { described, spec }: ToolGiven) {
  const { commands, global_options } = described;
  const name = commandOf(words, spec);
  const command = commands.find((one) => one.name === name);
  if (!command) return null;
  const own = new Set<ParameterDescription>([...command.arguments, ...command.options]);
  const known = new Map([...own, ...global_options].map((one) => [one.name, one]));
  const rest = [...words];
  const path = command.name.split(' ');
  const given: { parameter: ParameterDescription; text: string | null }[] = [];
  const places = [...command.arguments];
  let isPositional = false;
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (isPositional || !word.startsWith('-')) {
      if (!isPositional && places.length === command.arguments.length && path[0] === word) {
        path.shift();
        continue;
      }
      const parameter = places[0];
      if (!parameter) return null;
      if (!parameter.repeated) places.shift();
      given.push({ parameter, text: word });
      continue;
    }
    if (word === '--') {
      isPositional = true;
      continue;
    }
    const [option = '', ...value] = word.split('=');
    const parameter = known.get(option);
    if (!parameter) continue;
    const takesNext = parameter.value !== null && parameter.value_optional !== true && value.length === 0;
    const text = takesNext ? (rest.shift() ?? '') : value.length > 0 ? value.join('=') : null;
    // Leaves out the global options, which the server adds.
    if (own.has(parameter)) given.push({ parameter, text });
  }
  return { name: command.name, given };
}

/** The name of the command that runs: `wallet limits` runs `wallet limits show`. */
function commandOf(words: readonly string[], tool: ToolSpec): string | null {
  const nowhere = { isTTY: false, columns: null, write: () => undefined };
  try {
    const streams = { stdout: nowhere, stderr: nowhere, stdin: { isTTY: false, text: async () => '' } };
    return parse(words, { tool, version: '', streams })?.name ?? null;
  } catch (error) {
    if (isProblem(error)) return null;
    throw error;
  }
}

function wordsOf({ name, given }: Understood): string[] {
  const words = given.map(({ parameter, text }) => {
    if (!parameter.name.startsWith('--')) return text ?? '';
    return text === null ? parameter.name : `${parameter.name}=${text}`;
  });
  const positional = words.filter((_word, index) => !given[index]?.parameter.name.startsWith('--'));
  const options = words.filter((_word, index) => given[index]?.parameter.name.startsWith('--'));
  const parts = positional.some((word) => word.startsWith('-'))
    ? [...options, '--', ...positional]
    : [...positional, ...options];
  return [...name.split(' '), ...parts];
}

/** @param isAgain marks the failed call itself: the client adds what is not repeated here, such as the passengers */
function callOf({ given }: Understood, command: CommandDescription, isAgain: boolean) {
  const callable = new Set(parametersOf(command).map(({ name }) => name));
  const values: Record<string, unknown> = {};
  for (const { parameter, text } of given) {
    if (!callable.has(parameter.name) || isInline(command, parameter) || text === '…') continue;
    const key = keyOf(parameter);
    const value = text === null ? true : parameter.value?.type === 'integer' ? Number(text) : text;
    const before = values[key];
    values[key] = parameter.repeated ? [...(Array.isArray(before) ? before : []), value] : value;
  }
  return { tool: toolName(command), arguments: values, ...(isAgain && { again: true }) };
}
