import { formatUsdc } from '../../kernel/money.ts';
import { quoted } from '../../kernel/shell-word.ts';
import type { Invocation, ParameterSpec } from '../spec/index.ts';
import type { TypedNames } from '../view/index.ts';

/** Fields of a service whose argument or option has another name. */
const SAID_AS: Readonly<Record<string, string>> = {
  origin_iata: 'from',
  destination_iata: 'to',
  depart_date: 'depart',
  return_date: 'return',
  cabin_class: 'cabin',
  departure_after: 'depart-after',
  departure_before: 'depart-before',
  payout_amount: 'amount',
  funding_wallet: 'keypair',
};

/** Fields of a service as they were typed: `origin_iata` is the argument itself, `max_price` the option with its value. */
export function typedNamesOf(invocation: Pick<Invocation, 'spec' | 'options'> | null): TypedNames {
  if (invocation === null) return () => null;
  const { spec } = invocation;
  const options = invocation.options as Readonly<Record<string, unknown>>;
  return (field) => {
    const name = SAID_AS[field] ?? kebab(field);
    const value = typed(options[camel(name)]);
    if (spec.arguments?.some((one) => isNamed(one, name))) return { name: value ?? `<${name}>`, value: null };
    return spec.options?.some((one) => isNamed(one, `--${name}`)) ? { name: `--${name}`, value } : null;
  };
}

const isNamed = ({ flags }: ParameterSpec, name: string): boolean =>
  flags.split(/[ ,<>[\]]+/).some((word) => word.replace(/\.\.\.$/, '') === name);

const kebab = (field: string): string =>
  field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replaceAll('_', '-');

const camel = (name: string): string => name.replace(/-([a-z])/g, (_dash, letter: string) => letter.toUpperCase());

function typed(value: unknown): string | null {
  if (typeof value === 'bigint') return formatUsdc(value);
  return typeof value === 'number' || (typeof value === 'string' && value !== '') ? quoted(String(value)) : null;
}
