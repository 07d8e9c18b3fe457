import type { Surroundings } from '../session/index.ts';
import type { ExitCode } from '../settings/index.ts';

/**
 * A command. Parsing, help, completion, `help --json`, mcp, the pages and the schemas are made from it. It is loaded at
 * every start; its function is loaded when it runs.
 */
export interface CommandSpec {
  /** `intent create` */
  readonly name: string;
  readonly summary: string;
  /** The default of its group: `stuck` is `stuck list`. */
  readonly isDefault?: true;
  /** The command line that took the place of this one, which still works and is shown nowhere. */
  readonly now?: string;
  readonly arguments?: readonly ParameterSpec[];
  readonly options?: readonly ParameterSpec[];
  readonly effect: Effect;
  readonly examples: readonly string[];
  /** The one list of its document: `--json` chooses among the fields of the entries. */
  readonly list?: string;
  /**
   * Words for a command that was cut off and may have made its change. `look`: the command that shows it, with an option
   * of this one in braces, such as `refund show {id}`.
   */
  readonly cutOff?: { readonly said?: string; readonly look: string };
}

/**
 * `reads`: changes and pays nothing. `pays`: signs a payment. `changes`: a service keeps something new. `local`: only this
 * machine's files. `runs`: a server, a demonstration, a conversation or a deployment, for a person to start.
 */
export type Effect = 'reads' | 'pays' | 'changes' | 'local' | 'runs';

/** An argument or an option. */
export interface ParameterSpec {
  /** As the help writes it: `<from>`, or `--limit <n>`. */
  readonly flags: string;
  readonly description: string;
  /** From its text to its value; absent: the text itself. */
  parse?(value: string, before: unknown): unknown;
  readonly preset?: unknown;
  readonly isRequired?: true;
}

/** The tool as a whole. */
export interface ToolSpec {
  readonly summary: string;
  /** Of the whole help. */
  readonly examples: readonly string[];
  /** The lines of the first help: a word for what a person comes for, a command or option, and its words. */
  readonly overview: readonly (readonly [purpose: string, usage: string, words: string])[];
  /** Names that commands begin with, and what the help says of each. */
  readonly groups: Readonly<Record<string, string>>;
  /** The commands by the headings of the help, in its order. */
  readonly sections: Readonly<Record<string, readonly ToolCommand[]>>;
  /** Earlier names of commands, and lines that another command has now. */
  readonly old: readonly ToolCommand[];
}

export const commandsOf = (tool: ToolSpec): ToolCommand[] => Object.values(tool.sections).flat();

/** Old names included. */
export const everyCommandOf = (tool: ToolSpec): ToolCommand[] => [...commandsOf(tool), ...tool.old];

export const specNamed = (tool: ToolSpec, name: string): CommandSpec | undefined =>
  everyCommandOf(tool).find((one) => one.name === name);

export interface ToolCommand extends CommandSpec {
  readonly load: () => Promise<(context: CommandContext, options: never) => Promise<ExitCode>>;
}

/** The surroundings of a command, with the tool for commands about commands. */
export interface CommandContext extends Surroundings {
  readonly tool: ToolSpec;
}

/** Builders for specs: they infer from the flags the options that `run` receives. */
interface Parameter<Given extends object> extends ParameterSpec {
  /** Of types alone. */
  readonly given?: Given;
}

type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

/** `<offer-id>` is offerId, `[text...]` is text. */
type Place<Flags extends string> = Flags extends `<${infer Name}>`
  ? Camel<Name>
  : Flags extends `[${infer Name}...]`
    ? Camel<Name>
    : Flags extends `[${infer Name}]`
      ? Camel<Name>
      : never;

type ArgumentGiven<Flags extends string, Value> = Flags extends `<${string}>`
  ? { readonly [Key in Place<Flags>]: Value }
  : Flags extends `[${string}...]`
    ? { readonly [Key in Place<Flags>]: readonly Value[] }
    : { readonly [Key in Place<Flags>]?: Value };

/** `--max-stops <n>` is maxStops, `--no-wait` is wait. */
type Key<Flags extends string> = Flags extends `--no-${infer Name}`
  ? Camel<Name>
  : Flags extends `--${infer Name} ${string}`
    ? Camel<Name>
    : Flags extends `--${infer Name}`
      ? Camel<Name>
      : never;

/** `--qr [usdc]` may be given without its value; a switch is true where it is given, and `--no-…` is never left out. */
type OptionGiven<Flags extends string, Value> = Flags extends `--no-${string}`
  ? { readonly [Name in Key<Flags>]: boolean }
  : Flags extends `${string}<${string}>`
    ? { readonly [Name in Key<Flags>]?: Value }
    : Flags extends `${string}[${string}]`
      ? { readonly [Name in Key<Flags>]?: Value | true }
      : { readonly [Name in Key<Flags>]?: true };

type GivenBy<Parameters extends readonly unknown[]> = Parameters extends readonly [infer First, ...infer Rest]
  ? Both<First extends Parameter<infer Given> ? Given : object, GivenBy<Rest>>
  : object;

/** Neither of `--wait` and `--no-wait` may be given. */
type Both<A, B> = keyof A & keyof B extends never
  ? A & B
  : Omit<A, keyof B> & Omit<B, keyof A> & { readonly [Name in keyof A & keyof B]?: A[Name] | B[Name] };

/** From a text to its value; raises `usage` naming the flag. */
type Parse<Value> = (value: string, before: Value | undefined, flag: string) => Value;

/** A parser for commander, which knows its flag and keeps the shape of its values. */
const parsing = <Value>(flags: string, parse: Parse<Value> | undefined) => {
  const [flag = flags] = /--[\w-]+/.exec(flags) ?? /[\w-]+/.exec(flags) ?? [];
  return parse && { parse: Object.assign((value: string, before?: Value) => parse(value, before, flag), parse) };
};

export const argument = <const Flags extends string, Value = string>(
  flags: Flags,
  description = '',
  parse?: Parse<Value>,
): Parameter<ArgumentGiven<Flags, Value>> => ({ flags, description, ...parsing(flags, parse) });

/** The intent of a command, which a person may leave out. */
export const intentArgument = argument('[intent-id]', 'row number or id');

export function option<const Flags extends string, Value = string>(
  flags: Flags,
  description: string,
  parse?: Parse<Value>,
): Parameter<OptionGiven<Flags, Value>>;

export function option<const Flags extends string, Value>(
  flags: Flags,
  description: string,
  parse: Parse<Value>,
  preset: Value,
): Parameter<Required<OptionGiven<Flags, Value>>>;

export function option(flags: string, description: string, parse?: Parse<unknown>, preset?: unknown): ParameterSpec {
  return { flags, description, ...parsing(flags, parse), ...(preset !== undefined && { preset }) };
}

export const required = <const Flags extends string, Value = string>(
  flags: Flags,
  description: string,
  parse?: Parse<Value>,
): Parameter<Required<OptionGiven<Flags, Value>>> => ({
  flags,
  description,
  isRequired: true,
  ...parsing(flags, parse),
});

/** A spec with the type of what its arguments and options give. */
export interface Spec<Given extends object> extends CommandSpec {
  /** Of types alone. */
  readonly given?: Given;
}

export const command = <
  const Arguments extends readonly ParameterSpec[] = readonly [],
  const Options extends readonly ParameterSpec[] = readonly [],
>(
  spec: Omit<CommandSpec, 'arguments' | 'options'> & { readonly arguments?: Arguments; readonly options?: Options },
): Spec<GivenBy<Arguments> & GivenBy<Options>> => spec;

/** The options of a command, inferred from its spec: `OptionsOf<typeof spec.walletShow>`. */
export type OptionsOf<S> = S extends Spec<infer Given> ? { readonly [Name in keyof Given]: Given[Name] } : never;

/** A command's function, whose options are inferred from its spec. */
export type Run<S> = (context: CommandContext, options: OptionsOf<S>) => Promise<ExitCode>;

/** A command of the tool: its spec, and the function that is loaded when it runs. */
export const run = <S extends CommandSpec>(spec: S, load: () => Promise<Run<S>>): ToolCommand => ({ ...spec, load });

/** A command under its old name. */
export const was = (name: string, now: string, command: ToolCommand): ToolCommand => ({ ...command, name, now });
