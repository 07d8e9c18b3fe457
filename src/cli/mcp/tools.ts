import { problem } from '../../kernel/problems.ts';
import type { CommandDescription, ParameterDescription, ToolDescription } from '../registry.ts';

/** Commands as tools of the Model Context Protocol: their names, their input as JSON Schema, and back to a command line. */

export interface McpTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: {
    readonly type: 'object';
    readonly properties: Readonly<Record<string, object>>;
    readonly required: readonly string[];
    readonly additionalProperties: false;
  };
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
}

/** What is read from a file or from standard input comes inline: a program's path is no business of a model's. */
const INLINE: Readonly<Record<string, { readonly parameter: string; readonly schema: object }>> = {
  book: {
    parameter: '--passengers',
    schema: {
      type: 'array',
      minItems: 1,
      maxItems: 9,
      items: { type: 'object' },
      description:
        'The passengers, with the fields of docs: given_name, family_name, born_on, title, gender, email, phone_number.',
    },
  },
};

/** Files of this machine, waiting for a person, and streams: none of them fits one call and one answer. */
const LEFT_OUT = /^--(ics|watch|ndjson|wait|results|deposit-instructions|.*-file)$/;
/** Nor do secrets: keys, tokens and what a customer proves an identity with stay between a person and the tool. */
const NOT_TOOLS =
  /^(help|completion|config|travellers|keys|wallet (new|limits)|payments resume|requirements submit|partner orders (apply|watch))\b/;

const isTool = ({ name, effect }: CommandDescription): boolean => !NOT_TOOLS.test(name) && effect !== 'runs';

/** The commands that a program may call, in the order of the help. */
export const toolCommands = (tool: ToolDescription): CommandDescription[] => tool.commands.filter(isTool);

export const toolName = ({ name }: CommandDescription): string => name.replace(/[ -]/g, '_');

export function toolOf(command: CommandDescription): McpTool {
  const parameters = parametersOf(command);
  const inline = INLINE[command.name];
  return {
    name: toolName(command),
    description: [command.description, ...command.examples.map((example) => `Example: ${example}`)].join(
      '\n',
    ),
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        parameters.map((parameter) => [
          keyOf(parameter),
          parameter.name === inline?.parameter ? inline.schema : schemaOf(parameter),
        ]),
      ),
      required: parameters.filter((parameter) => parameter.required).map(keyOf),
      additionalProperties: false,
    },
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
export function commandLineOf(
  command: CommandDescription,
  given: Readonly<Record<string, unknown>>,
): CommandLine {
  const parameters = parametersOf(command);
  const known = new Map(parameters.map((parameter) => [keyOf(parameter), parameter]));
  const unknown = Object.keys(given).filter((key) => !known.has(key));
  if (unknown.length > 0) {
    throw problem('usage', {
      message: `${toolName(command)} has no parameter "${unknown.join('", "')}".`,
      fix: `It has ${[...known.keys()].join(', ') || 'none'}.`,
    });
  }
  const missing = parameters.filter(
    (parameter) => parameter.required && given[keyOf(parameter)] === undefined,
  );
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
  for (const [key, value] of Object.entries(given)) {
    const parameter = known.get(key);
    if (!parameter || value === undefined || value === null) continue;
    const isInline = parameter.name === inline?.parameter;
    if (isInline) stdin = JSON.stringify(value);
    const texts = isInline ? ['-'] : (Array.isArray(value) ? value : [value]).map(String);
    if (!parameter.name.startsWith('--')) continue;
    // One word each: a value that begins with a dash stays a value.
    if (parameter.value === null) options.push(...(value === true ? [parameter.name] : []));
    else options.push(...texts.map((text) => `${parameter.name}=${text}`));
  }
  for (const parameter of parameters.filter(({ name }) => !name.startsWith('--'))) {
    const value = given[keyOf(parameter)];
    if (value === undefined || value === null) continue;
    positional.push(parameter.name === inline?.parameter ? '-' : String(value));
  }
  return { argv: [...command.name.split(' '), ...options, '--', ...positional], stdin };
}

const parametersOf = (command: CommandDescription): ParameterDescription[] =>
  [...command.arguments, ...command.options].filter(
    ({ name }) => !LEFT_OUT.test(name) || INLINE[command.name]?.parameter === name,
  );

/** `--max-stops` is max_stops; `--no-wait` is no_wait. */
const keyOf = ({ name }: ParameterDescription): string => name.replace(/^--/, '').replaceAll('-', '_');

function schemaOf({ value, description, repeated, default: preset }: ParameterDescription): object {
  const about = {
    ...(description ? { description } : {}),
    ...(preset === undefined ? {} : { default: preset }),
  };
  if (value === null) return { type: 'boolean', ...about };
  return repeated ? { type: 'array', items: value, ...about } : { ...value, ...about };
}
