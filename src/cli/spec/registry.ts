import type { Argument, Command as Commander, Option } from 'commander';
import { EFFECTS, type Effect, EXAMPLES } from './manual.ts';
import { isRepeated, shapeOf, type ValueShape } from './options.ts';

/** The command tree as data: for `help --json`, shell completion and `mcp`. Read from the very tree that parses. */

export interface ParameterDescription {
  /** As it is written: `from`, or `--max-stops`. */
  readonly name: string;
  /** `-y`, where there is one. */
  readonly short?: string;
  readonly description: string;
  readonly required: boolean;
  /** May be given several times. */
  readonly repeated: boolean;
  /** null: a switch, which takes no value. */
  readonly value: ValueShape | null;
  /** The value may be left out, as in `--json`. */
  readonly value_optional?: true;
  readonly default?: string | number | boolean;
}

export interface CommandDescription {
  /** `intent create` */
  readonly name: string;
  readonly description: string;
  /** `reads`, `pays`, `changes` what a service keeps, or `local`: only this machine. */
  readonly effect: Effect;
  readonly arguments: readonly ParameterDescription[];
  readonly options: readonly ParameterDescription[];
  readonly examples: readonly string[];
}

export interface ToolDescription {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly global_options: readonly ParameterDescription[];
  readonly commands: readonly CommandDescription[];
}

/** Every command that can be run, in the order of the help. */
export function describeTool(program: Commander): ToolDescription {
  return {
    name: program.name(),
    version: program.version() ?? '',
    description: program.description(),
    global_options: program.options.map(describeOption),
    commands: leavesOf(program, []).map(([name, command]) => describeCommand(name, command)),
  };
}

function leavesOf(command: Commander, path: readonly string[]): [string, Commander][] {
  return command.commands.flatMap((child): [string, Commander][] => {
    const at = [...path, child.name()];
    return child.commands.length === 0 ? [[at.join(' '), child]] : leavesOf(child, at);
  });
}

function describeCommand(name: string, command: Commander): CommandDescription {
  return {
    name,
    description: command.description(),
    effect: EFFECTS[name] ?? 'reads',
    arguments: command.registeredArguments.map(describeArgument),
    options: command.options.map(describeOption),
    examples: EXAMPLES[name] ?? [],
  };
}

function describeArgument(argument: Argument): ParameterDescription {
  return {
    name: argument.name(),
    description: argument.description,
    required: argument.required,
    repeated: argument.variadic,
    value: shapeOf(argument.parseArg) ?? { type: 'string' },
  };
}

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
