import { isProblem, problem } from '../../../kernel/problems.ts';
import { lineOf, type NextStep } from '../../../kernel/shell-word.ts';
import {
  type CommandDescription,
  type ParameterDescription,
  readSchema,
  type ToolDescription,
  type ToolSpec,
} from '../../spec/index.ts';
import { parse } from '../../tool/index.ts';

/** Commands as tools of the Model Context Protocol: their names, their input as JSON Schema, and back to a command line. */

/** A command line, and its standard input. */
export type CommandLine = ReturnType<typeof commandLineOf>;

/** The passengers of `book` come inline instead of from a file or standard input: a model gets no paths. */
const PASSENGERS = {
  type: 'array',
  minItems: 1,
  maxItems: 9,
  items: { type: 'object' },
  description: 'The passengers, each with given_name, family_name, born_on, title, gender, email, phone_number.',
};

const isInline = (command: CommandDescription, { name }: ParameterDescription): boolean =>
  command.name === 'book' && name === '--passengers';

/** Entries of a list unless a call gives a limit: more than that helps no model. */
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

/** The lists of a command that reads and has no limit of its own. */
export function wholeLists({ name, effect, options }: CommandDescription): string[] {
  if (effect !== 'reads' || options.some((option) => option.name === LIMIT.name)) return [];
  return [...new Set(formsOf(readSchema(name.replaceAll(' ', '-'))).flatMap(listsOf))];
}

/** Limits each list of an answer; `left_out` counts the missing entries. */
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
 * Files of this machine and streams: neither fits one call and one answer. A person agrees to --live by starting the server
 * with --allow-changes.
 */
const LEFT_OUT = /^--(ics|watch|ndjson|live|results|deposit-instructions|.*-file)$/;
/**
 * Keys, tokens and the proofs of a customer's identity stay between a person and the tool. The verdict on an identity is a
 * person's, as are the cluster and the money of an operator.
 */
const NOT_TOOLS =
  /^(help|upgrade|completion|config|cluster|travellers|keys|attestations (show|decide)|payments resume|requirements submit|partner orders (apply|watch))\b/;
/** No tool changes this machine's own files, such as a person's limits and keypair. */
const TOOL_EFFECTS: ReadonlySet<CommandDescription['effect']> = new Set(['reads', 'pays', 'changes']);

const isTool = ({ name, effect }: CommandDescription): boolean => TOOL_EFFECTS.has(effect) && !NOT_TOOLS.test(name);

/** The commands that a program may call, in the order of the help. */
export const toolCommands = (tool: ToolDescription): CommandDescription[] => tool.commands.filter(isTool);

export const toolName = ({ name }: CommandDescription): string => name.replace(/[ -]/g, '_');

export function toolOf(command: CommandDescription) {
  const parameters = parametersOf(command);
  return {
    name: toolName(command),
    description: command.description,
    inputSchema: {
      type: 'object' as const,
      properties: Object.fromEntries(
        parameters.map((parameter) => [
          keyOf(parameter),
          isInline(command, parameter) ? PASSENGERS : schemaOf(parameter, presetOf(command, parameter)),
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
      // A payment is never signed twice for the same call, but a second call is a second payment.
      idempotentHint: command.effect === 'reads',
      openWorldHint: command.effect !== 'local',
    },
  };
}

/**
 * The command line of a call.
 * @throws Problem `usage` for a parameter that the tool does not have, or one that is missing
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
  const missing = parameters.filter((parameter) => parameter.required && given[keyOf(parameter)] === undefined);
  if (missing.length > 0) {
    throw problem('usage', {
      message: `${toolName(command)} needs ${missing.map(keyOf).join(', ')}.`,
      fix: 'Give every required parameter.',
    });
  }
  const options: string[] = [];
  const positional: string[] = [];
  let stdin = '';
  for (const parameter of parameters) {
    const value = given[keyOf(parameter)] ?? (isByDay(given) ? undefined : presetOf(command, parameter));
    if (value === undefined || value === null || parameter === LIMIT) continue;
    const isOption = parameter.name.startsWith('--');
    if (isInline(command, parameter)) {
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
    /** Entries of each list of the answer, where the command itself has no limit. */
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

const DRY_RUN: ParameterDescription = {
  name: '--dry-run',
  description: 'show what would be paid and done, without doing it; needs no permission',
  required: false,
  repeated: false,
  value: null,
};

export const parametersOf = (command: CommandDescription): ParameterDescription[] => [
  ...[...command.arguments, ...command.options].filter(({ name }) => !LEFT_OUT.test(name)),
  ...(wholeLists(command).length > 0 ? [LIMIT] : []),
  ...(command.effect === 'reads' ? [] : [DRY_RUN]),
];

/** A search over days has a price for each, and takes no limit. */
const isByDay = ({ flex, cheapest_day: cheapestDay }: Readonly<Record<string, unknown>>): boolean =>
  flex !== undefined || cheapestDay === true;

/** The default of a parameter for tools, where the command has another one. */
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

/** The output schema of a tool: its command's published one, in the form that clients of the protocol take. */

type Schema = Readonly<Record<string, unknown>>;

/** The document of a failed call: clients check it against the schema too. */
const FAILURE: Schema = { type: 'object', properties: { error: { type: 'object' } }, required: ['error'] };

/** The forms that a command's document can have. */
export const formsOf = (published: Schema): Schema[] => [
  published,
  ...Object.values((published.$defs ?? {}) as Record<string, Schema>),
];

/** The lists of a form. */
export const listsOf = ({ properties = {} }: Schema): string[] =>
  Object.entries(properties as Record<string, { type?: unknown }>)
    .filter(([, schema]) => schema.type === 'array')
    .map(([name]) => name);

/** How many entries of each list an answer does not have. */
const LEFT_OUT_COUNTS: Schema = { type: 'object', additionalProperties: { type: 'integer' } };

/**
 * `{ error }`, or the command's document: `farelock schema <command>` without the words of its page.
 * @param isBounded its lists may be cut
 */
export function outputSchemaOf(command: string, isBounded: boolean): { readonly type: 'object' } & Schema {
  const published = readSchema(command.replaceAll(' ', '-'));
  const { $schema: _dialect, $id: _id, title: _title, $defs = {}, ...document } = published;
  const short = portable({ ...document, $defs }) as Schema;
  if (isBounded)
    for (const form of formsOf(short).filter((one) => listsOf(one).length > 0))
      Object.assign(form.properties as object, { left_out: LEFT_OUT_COUNTS });
  const { $defs: forms, ...whole } = short;
  return sharing({ type: 'object', anyOf: [FAILURE, whole], $defs: forms });
}

/**
 * Names, types and choices, without descriptions and patterns: clients read a list of tools whole. Gives each form one
 * type, because clients of several vendors refuse a list of types.
 */
function portable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(portable);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { type, ...rest } = Object.fromEntries(
    Object.entries(schema)
      .filter(([name, value]) => !isLeftOut(name, value))
      .map(([name, value]) => [name, name === WITHHELD ? { type: 'null' } : portable(value)]),
  );
  // A property may be called `type`: it has a schema, not a list of names.
  if (!Array.isArray(type)) return type === undefined ? rest : { type, ...rest };
  return { anyOf: type.map((one: unknown) => (one === 'null' ? { type: one } : { type: one, ...rest })) };
}

/** A property of such a name has a schema, not a text or a number. */
const isLeftOut = (name: string, value: unknown): boolean =>
  ((name === 'description' || name === 'pattern') && typeof value === 'string') ||
  ((name === 'minimum' || name === 'maximum') && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER);

/** Writes repeated parts of a schema once: an offer's slices, the two halves of an order. */
function sharing(schema: { readonly type: 'object' } & Schema): { readonly type: 'object' } & Schema {
  const times = new Map<string, number>();
  const count = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if (isWorthSharing(value)) {
      const text = JSON.stringify(value);
      const before = times.get(text) ?? 0;
      times.set(text, before + 1);
      if (before > 0) return;
    }
    for (const inner of Object.values(value)) count(inner);
  };
  count(schema);
  const shared = new Map<string, { readonly name: string; schema: unknown }>();
  const written = (value: unknown, isRoot = false): unknown => {
    if (Array.isArray(value)) return value.map((one) => written(one));
    if (typeof value !== 'object' || value === null) return value;
    const text = JSON.stringify(value);
    const inside = () => Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, written(inner)]));
    if (isRoot || !isWorthSharing(value) || (times.get(text) ?? 0) < 2) return inside();
    let known = shared.get(text);
    if (!known) {
      known = { name: `s${shared.size}`, schema: null };
      shared.set(text, known);
      known.schema = inside();
    }
    return { $ref: `#/$defs/${known.name}` };
  };
  const { $defs, ...root } = written(schema, true) as Schema;
  const defs = {
    ...($defs as Schema),
    ...Object.fromEntries([...shared.values()].map(({ name, schema: own }) => [name, own])),
  };
  return { ...root, type: 'object', ...(Object.keys(defs).length > 0 && { $defs: defs }) };
}

/** True for a schema, not a list of properties, that is longer than a reference to it. */
const isWorthSharing = (value: object): boolean =>
  ('type' in value ? typeof value.type === 'string' : 'anyOf' in value && Array.isArray(value.anyOf)) &&
  JSON.stringify(value).length > 60;

/** The code gives a right to the refund: no model sees it, and the tool keeps it sealed. */
const WITHHELD = 'customer_support_code';

/** An answer for a model, without the code however deep it lies. */
export const withheld = (document: Schema): Schema =>
  JSON.parse(JSON.stringify(document, (name, inner: unknown) => (name === WITHHELD ? null : inner)));

interface ToolGiven {
  readonly described: ToolDescription;
  readonly spec: ToolSpec;
  /** The commands that a client may call, by name. */
  readonly callable: ReadonlySet<string>;
}

/** Next steps after a failed call: lines for a person's shell, without the options of the server, and calls for a client. */
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

/** Null for words that the tool itself would not take. */
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
    // The server has added the global options.
    if (own.has(parameter)) given.push({ parameter, text });
  }
  return { name: command.name, given };
}

/** `wallet limits` is `wallet limits show`. */
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

/** @param isAgain the failed call itself: with the parameters that are not repeated here, such as the passengers */
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
