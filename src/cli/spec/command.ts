import type { Surroundings } from '../session/index.ts';
import type { ExitCode } from '../settings/index.ts';

/**
 * A command. Parsing, help, completion, `help --json`, mcp, the pages and the schemas are made from it. Every start
 * loads it; its function is loaded when it runs.
 */
export interface CommandSpec {
  /** `intent create` */
  readonly name: string;
  readonly summary: string;
  /** True for the default command of its group: `stuck` means `stuck list`. */
  readonly isDefault?: true;
  /** For an old name, the command line to use instead. The old one still works, but is shown nowhere. */
  readonly now?: string;
  readonly arguments?: readonly ParameterSpec[];
  readonly options?: readonly ParameterSpec[];
  readonly effect: Effect;
  readonly examples: readonly string[];
  /** The name of the one list in its document: `--json` then chooses among the fields of the entries. */
  readonly list?: string;
  /**
   * For an interrupted command that may have made its change. `look` is the command that shows the change, with an
   * option of this one in braces, such as `refund show {id}`.
   */
  readonly cutOff?: { readonly said?: string; readonly look: string };
}

/**
 * `reads`: changes and pays nothing. `pays`: signs a payment. `changes`: a service keeps something new. `local`: only
 * files of this machine. `runs`: a server, a demonstration, a conversation or a deployment, for a person to start.
 */
export type Effect = 'reads' | 'pays' | 'changes' | 'local' | 'runs';

/** An argument or an option. */
export interface ParameterSpec {
  /** The flags in the notation of the help: `<from>`, or `--limit <n>`. */
  readonly flags: string;
  readonly description: string;
  /** Turns the text into the value; by default the text itself. */
  parse?(value: string, before: unknown): unknown;
  readonly preset?: unknown;
  readonly isRequired?: true;
}

export interface ToolSpec {
  readonly summary: string;
  /** Examples in the whole help. */
  readonly examples: readonly string[];
  /** The lines of the short help: the purpose, a command or option, and its description. */
  readonly overview: readonly (readonly [purpose: string, usage: string, words: string])[];
  /** The groups of commands by their first words, with the description of each for the help. */
  readonly groups: Readonly<Record<string, string>>;
  /** The commands by the headings of the help, in its order. */
  readonly sections: Readonly<Record<string, readonly ToolCommand[]>>;
  /** Old command lines, which still work. */
  readonly old: readonly ToolCommand[];
}

export const commandsOf = (tool: ToolSpec): ToolCommand[] => Object.values(tool.sections).flat();

/** All commands, with the old names. */
export const everyCommandOf = (tool: ToolSpec): ToolCommand[] => [...commandsOf(tool), ...tool.old];

export const specNamed = (tool: ToolSpec, name: string): CommandSpec | undefined =>
  everyCommandOf(tool).find((one) => one.name === name);

export interface ToolCommand extends CommandSpec {
  readonly load: () => Promise<(context: CommandContext, options: never) => Promise<ExitCode>>;
}

/** Everything that a command receives, with the specs of the tool for commands about commands. */
export interface CommandContext extends Surroundings {
  readonly tool: ToolSpec;
}

/** A parameter that carries the type of the option that `run` receives, inferred from its flags. */
interface Parameter<Given extends object> extends ParameterSpec {
  /** Exists in types alone. */
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

/** Merges options. `--wait` and `--no-wait` make one that may be missing. */
type Both<A, B> = keyof A & keyof B extends never
  ? A & B
  : Omit<A, keyof B> & Omit<B, keyof A> & { readonly [Name in keyof A & keyof B]?: A[Name] | B[Name] };

/** Turns a text into its value. @throws Problem `usage` naming the flag */
type Parse<Value> = (value: string, before: Value | undefined, flag: string) => Value;

/** Makes a parser for commander, which knows its flag and keeps the shape of its values. */
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

/** A spec that carries the type of its arguments and options. */
export interface Spec<Given extends object> extends CommandSpec {
  /** Exists in types alone. */
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
