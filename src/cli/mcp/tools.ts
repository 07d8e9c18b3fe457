import { problem } from '../../kernel/problems.ts';
import { type CommandDescription, type ParameterDescription, readSchema, type ToolDescription } from '../spec/index.ts';
import { formsOf, listsOf, outputSchemaOf } from './output.ts';

/** Commands as tools of the Model Context Protocol: their names, their input as JSON Schema, and back to a command line. */

interface McpTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: {
    readonly type: 'object';
    readonly properties: Readonly<Record<string, object>>;
    readonly required: readonly string[];
    readonly additionalProperties: false;
  };
  readonly outputSchema: { readonly type: 'object' };
  readonly annotations: {
    readonly title: string;
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
}

/** A command line, and what its standard input reads. */
export interface CommandLine {
  readonly argv: readonly string[];
  readonly stdin: string;
  /** It is only to say what it would do. */
  readonly isDryRun: boolean;
  /** Entries of each list of the answer, where the command itself has no limit. */
  readonly most: number;
}

/** Parameters that come inline rather than from a file or standard input: a model is given no paths. */
const INLINE: Readonly<Record<string, { readonly parameter: string; readonly schema: object }>> = {
  book: {
    parameter: '--passengers',
    schema: {
      type: 'array',
      minItems: 1,
      maxItems: 9,
      items: { type: 'object' },
      description: 'The passengers, each with given_name, family_name, born_on, title, gender, email, phone_number.',
    },
  },
};

/** Entries of a list unless a call says how many: as much as a model reads with profit. */
const MOST = 20;
const LIMITS: Readonly<Record<string, number>> = { search: 8, 'payments verify': 100, doctor: 100 };

/** The limit of a tool whose command has none of its own. */
const LIMIT: ParameterDescription = {
  name: '--limit',
  description: 'entries of each list; left_out says how many more there are',
  required: false,
  repeated: false,
  value: { type: 'integer', minimum: 1, maximum: 1000 },
};

/** The lists that a command gives whole: it reads, and has no limit of its own. */
export function wholeLists({ name, effect, options }: CommandDescription): string[] {
  if (effect !== 'reads' || options.some((option) => option.name === LIMIT.name)) return [];
  return [...new Set(formsOf(readSchema(name.replaceAll(' ', '-'))).flatMap(listsOf))];
}

/** An answer whose lists have at most so many entries; `left_out` says of each how many are missing. */
export function bounded(
  command: CommandDescription,
  document: Readonly<Record<string, unknown>>,
  most: number,
): Readonly<Record<string, unknown>> {
  const long = wholeLists(command).flatMap((name) => {
    const list = document[name];
    return Array.isArray(list) && list.length > most ? [{ name, list }] : [];
  });
  if (long.length === 0) return document;
  return {
    ...document,
    ...Object.fromEntries(long.map(({ name, list }) => [name, list.slice(0, most)])),
    left_out: Object.fromEntries(long.map(({ name, list }) => [name, list.length - most])),
  };
}

/**
 * Files of this machine and streams: none of them fits one call and one answer. What a person
 * means by --live is said when the server is started with --allow-changes.
 */
const LEFT_OUT = /^--(ics|watch|ndjson|live|results|deposit-instructions|.*-file)$/;
/**
 * Nor do secrets: keys, tokens and what a customer proves an identity with stay between a person and the tool. And the
 * verdict on an identity is a person's, as are the cluster and the money of an operator.
 */
const NOT_TOOLS =
  /^(help|upgrade|completion|config|cluster|travellers|keys|attestations (show|decide)|payments resume|requirements submit|partner orders (apply|watch))\b/;
/** This machine's own files, a person's limits and keypair among them, are no tool's to change. */
const TOOL_EFFECTS: ReadonlySet<CommandDescription['effect']> = new Set(['reads', 'pays', 'changes']);

const isTool = ({ name, effect }: CommandDescription): boolean => TOOL_EFFECTS.has(effect) && !NOT_TOOLS.test(name);

/** The commands that a program may call, in the order of the help. */
export const toolCommands = (tool: ToolDescription): CommandDescription[] => tool.commands.filter(isTool);

export const toolName = ({ name }: CommandDescription): string => name.replace(/[ -]/g, '_');

export function toolOf(command: CommandDescription): McpTool {
  const parameters = parametersOf(command);
  const inline = INLINE[command.name];
  return {
    name: toolName(command),
    description: command.description,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        parameters.map((parameter) => [
          keyOf(parameter),
          parameter.name === inline?.parameter ? inline.schema : schemaOf(parameter, presetOf(command, parameter)),
        ]),
      ),
      required: parameters.filter((parameter) => parameter.required).map(keyOf),
      additionalProperties: false,
    },
    outputSchema: outputSchemaOf(command.name, wholeLists(command).length > 0),
    annotations: {
      title: `farelock ${command.name}`,
      readOnlyHint: command.effect === 'reads',
      destructiveHint: command.effect === 'pays' || command.effect === 'changes',
      // A payment that was signed is never signed twice for the same call, but a second call is a second payment.
      idempotentHint: command.effect === 'reads',
      openWorldHint: command.effect !== 'local',
    },
  };
}

/**
 * The command line of a call.
 * @throws Problem `usage` for a parameter that the tool does not have, or one that is missing
 */
export function commandLineOf(command: CommandDescription, given: Readonly<Record<string, unknown>>): CommandLine {
  const parameters = parametersOf(command);
  const known = new Map(parameters.map((parameter) => [keyOf(parameter), parameter]));
  const unknown = Object.keys(given).filter((key) => !known.has(key));
  if (unknown.length > 0) {
    throw problem('usage', {
      message: `${toolName(command)} has no parameter "${unknown.join('", "')}".`,
      fix: `It has ${[...known.keys()].join(', ') || 'none'}.`,
    });
  }
  const missing = parameters.filter((parameter) => parameter.required && given[keyOf(parameter)] === undefined);
  if (missing.length > 0) {
    throw problem('usage', {
      message: `${toolName(command)} needs ${missing.map(keyOf).join(', ')}.`,
      fix: 'Give every required parameter.',
    });
  }
  const inline = INLINE[command.name];
  const options: string[] = [];
  const positional: string[] = [];
  let stdin = '';
  for (const parameter of parameters) {
    const value = given[keyOf(parameter)] ?? (isByDay(given) ? undefined : presetOf(command, parameter));
    if (value === undefined || value === null || parameter === LIMIT) continue;
    const isOption = parameter.name.startsWith('--');
    if (parameter.name === inline?.parameter) {
      stdin = JSON.stringify(value);
      options.push(`${parameter.name}=-`);
    } else if (parameter.value === null || (parameter.value_optional && typeof value === 'boolean')) {
      if (typeof value !== 'boolean') throw wrongType(command, parameter, 'true or false');
      if (value) options.push(parameter.name);
    } else {
      const texts = textsOf(command, parameter, value);
      // One word each: a value that begins with a dash stays a value.
      if (isOption) options.push(...texts.map((text) => `${parameter.name}=${text}`));
      else positional.push(...texts);
    }
  }
  return {
    argv: [...command.name.split(' '), ...options, '--', ...positional],
    stdin,
    isDryRun: given[keyOf(DRY_RUN)] === true && command.effect !== 'reads',
    most: parameters.includes(LIMIT) ? mostOf(command, given.limit ?? presetOf(command, LIMIT)) : MOST,
  };
}

function mostOf(command: CommandDescription, given: unknown): number {
  if (!Number.isInteger(given) || Number(given) < 1 || Number(given) > 1000)
    throw wrongType(command, LIMIT, 'a whole number from 1 to 1000');
  return Number(given);
}

/** The words of a value: one, or one for each of a list. */
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

/** Says what a call would do, and does nothing. */
const DRY_RUN: ParameterDescription = {
  name: '--dry-run',
  description: 'show what would be paid and done, without doing it; needs no permission',
  required: false,
  repeated: false,
  value: null,
};

export const parametersOf = (command: CommandDescription): ParameterDescription[] => [
  ...[...command.arguments, ...command.options].filter(({ name }) => !LEFT_OUT.test(name) || isInline(command, name)),
  ...(wholeLists(command).length > 0 ? [LIMIT] : []),
  ...(command.effect === 'reads' ? [] : [DRY_RUN]),
];

/** True when a parameter is a file whose contents are given with the call. */
export const isInline = (command: CommandDescription, name: string): boolean =>
  INLINE[command.name]?.parameter === name;

/** A search over days has a price for each, and takes no limit. */
const isByDay = ({ flex, cheapest_day: cheapestDay }: Readonly<Record<string, unknown>>): boolean =>
  flex !== undefined || cheapestDay === true;

/** The value of a parameter that a call leaves out, where it is not the command's own. */
const presetOf = ({ name }: CommandDescription, parameter: ParameterDescription): number | undefined =>
  parameter.name === LIMIT.name ? (LIMITS[name] ?? MOST) : undefined;

/** `--max-stops` is max_stops; `--no-wait` is no_wait. */
export const keyOf = ({ name }: ParameterDescription): string => name.replace(/^--/, '').replaceAll('-', '_');

function schemaOf(
  { value, value_optional, description, repeated, default: own }: ParameterDescription,
  preset: string | number | boolean | undefined = own,
): object {
  const about = {
    ...(description ? { description: description.replace(/ \(\d+\)$/, '') } : {}),
    ...(preset === undefined ? {} : { default: preset }),
  };
  if (value === null) return { type: 'boolean', ...about };
  if (value_optional) return { anyOf: [{ type: 'boolean' }, value], ...about };
  return repeated ? { type: 'array', items: value, ...about } : { ...value, ...about };
}
