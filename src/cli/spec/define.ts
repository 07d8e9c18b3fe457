import type { Command, CommandSpec, ParameterSpec } from './command.ts';

/** Words to write a spec with. They know from its flags what a command is given, and hold its run to that. */

/** A parameter, with the type of what it gives a command. */
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
  ? (First extends Parameter<infer Given> ? Given : object) & GivenBy<Rest>
  : object;

type Parse<Value> = (value: string, before?: Value) => Value;

export const argument = <const Flags extends string, Value = string>(
  flags: Flags,
  description = '',
  parse?: Parse<Value>,
): Parameter<ArgumentGiven<Flags, Value>> => ({ flags, description, ...(parse && { parse }) });

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
export function option(
  flags: string,
  description: string,
  parse?: Parse<unknown>,
  preset?: unknown,
): ParameterSpec {
  return { flags, description, ...(parse && { parse }), ...(preset !== undefined && { preset }) };
}

export const required = <const Flags extends string, Value = string>(
  flags: Flags,
  description: string,
  parse?: Parse<Value>,
): Parameter<Required<OptionGiven<Flags, Value>>> => ({
  flags,
  description,
  isRequired: true,
  ...(parse && { parse }),
});

/** A command's spec, whose run takes what the arguments and options give. */
export const command = <
  const Arguments extends readonly ParameterSpec[] = readonly [],
  const Options extends readonly ParameterSpec[] = readonly [],
>(
  spec: Omit<CommandSpec, 'arguments' | 'options' | 'load'> & {
    readonly arguments?: Arguments;
    readonly options?: Options;
    readonly load: () => Promise<Command<GivenBy<Arguments> & GivenBy<Options>>>;
  },
): CommandSpec => spec;
