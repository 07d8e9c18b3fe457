import type { Argument, Option } from 'commander';
import { type CommandSpec, commandsOf, type ToolSpec } from './command.ts';
import { isRepeated, shapeOf, type ValueShape } from './options.ts';
import { argumentOf, GLOBAL_OPTIONS, optionOf } from './tree.ts';

/** The commands as data, for `help --json`, `mcp` and the pages, from the specs that the tool parses by. */

export interface ParameterDescription {
  /** `from`, or `--max-stops`. */
  readonly name: string;
  /** `-y`, where there is one. */
  readonly short?: string;
  readonly description: string;
  readonly required: boolean;
  /** May be given several times. */
  readonly repeated: boolean;
  /** Null for a switch, which takes no value. */
  readonly value: ValueShape | null;
  /** The value may be left out, as in `--json`. */
  readonly value_optional?: true;
  readonly default?: string | number | boolean;
}

export type CommandDescription = Readonly<ReturnType<typeof describeCommand>>;
export type ToolDescription = Readonly<ReturnType<typeof describeTool>>;

/** Every command that can be run, in the order of the help. */
export const describeTool = (tool: ToolSpec, version: string) => ({
  name: 'farelock',
  version,
  description: tool.summary,
  global_options: [VERSION, ...GLOBAL_OPTIONS.map((one) => describeOption(optionOf(one)))],
  commands: commandsOf(tool).map(describeCommand),
});

/** commander adds this option itself. */
const VERSION: ParameterDescription = {
  name: '--version',
  short: '-V',
  description: 'Print the version',
  required: false,
  repeated: false,
  value: null,
};

const describeCommand = (spec: CommandSpec) => ({
  name: spec.name,
  description: spec.summary,
  effect: spec.effect,
  arguments: (spec.arguments ?? []).map((one) => describeArgument(argumentOf(one))),
  options: (spec.options ?? []).map((one) => describeOption(optionOf(one))),
  examples: spec.examples,
});

const describeArgument = (argument: Argument): ParameterDescription => ({
  name: argument.name(),
  description: argument.description,
  required: argument.required,
  repeated: argument.variadic,
  value: shapeOf(argument.parseArg) ?? { type: 'string' },
});

function describeOption(option: Option): ParameterDescription {
  const takesValue = option.required || option.optional;
  const preset: unknown = option.negate ? undefined : option.defaultValue;
  return {
    name: option.long ?? option.flags,
    ...(option.short ? { short: option.short } : {}),
    description: option.description,
    required: option.mandatory,
    repeated: option.variadic || Array.isArray(preset) || isRepeated(option.parseArg),
    value: takesValue ? (shapeOf(option.parseArg) ?? { type: 'string' }) : null,
    ...(option.optional ? { value_optional: true } : {}),
    ...(typeof preset === 'string' || typeof preset === 'number' || typeof preset === 'boolean'
      ? { default: preset }
      : {}),
  };
}
