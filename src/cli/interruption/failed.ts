import { formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { type Problem, reworded } from '../../kernel/problems.ts';
import { farelock, type NextStep, quoted } from '../../kernel/shell-word.ts';
import type { Screen } from '../../terminal/index.ts';
import type { Session } from '../session/index.ts';
import type { GlobalOptions } from '../settings/index.ts';
import { type CommandSpec, helpOf, type Invocation, type ParameterSpec } from '../spec/index.ts';
import { problemLines, type TypedNames } from '../view/index.ts';
import { type Known, paymentsOf, storyOf, told } from './story.ts';

export interface Failed {
  readonly argv: readonly string[];
  /** Null if the command line was not understood. */
  readonly invocation:
    | (Pick<Invocation, 'name' | 'options'> & { readonly globals: Pick<GlobalOptions, 'keypair'> })
    | null;
  /** Null if it was not opened. */
  readonly session: Session | null;
}

/** Fills the option in braces into a command, such as `refund show {id}`; null without that option. */
function lookOf(look: string, { invocation, session }: Pick<Failed, 'invocation' | 'session'>): NextStep | null {
  const { meant } = session ?? {};
  const options: Readonly<Record<string, unknown>> = { ...invocation?.options, ...(meant?.intentId && meant) };
  const words = look.split(' ').map((word) => {
    const [, names] = /^\{([\w|]+)\}$/.exec(word) ?? [];
    const values = names?.split('|').map((name) => options[name]) ?? [word];
    return values.find((one): one is string => typeof one === 'string' && one !== '') ?? null;
  });
  return words.includes(null) ? null : { argv: words.filter((word) => word !== null) };
}

/** The same command again, which resumes. */
const again = ({ argv, invocation }: Failed): NextStep[] => (invocation ? [{ argv }] : []);

/** The search of the offer or the intent, if it is remembered. */
async function searchAgain({ session, invocation }: Failed): Promise<NextStep> {
  const { offerId } = (invocation?.options ?? {}) as { offerId?: unknown };
  const { intentId } = session?.meant ?? {};
  const { glanceAtIntents } = await import('../../client/glance.ts');
  const journey =
    typeof offerId === 'string'
      ? session?.recentOffers.journey(offerId)
      : session && glanceAtIntents(session.home).find((one) => one.intentId === intentId);
  const [from, to] = journey?.route?.split('-') ?? [];
  if (!journey?.departureDate || !from || !to) return farelock`help search`;
  return farelock`search ${from} ${to} --depart ${journey.departureDate}`;
}

/** Steps of the catalogue (`next`) that depend on more than an option of the command. */
const STEPS: Readonly<Record<string, (failed: Failed) => NextStep | NextStep[] | Promise<NextStep>>> = {
  '<again>': again,
  '<search>': searchAgain,
  '<help>': ({ invocation }) => helpOf(invocation ? invocation.name.split(' ') : []),
  '<orders>': ({ invocation }) =>
    invocation?.name.startsWith('partner') ? farelock`partner orders list` : farelock`intent list`,
  '<airdrop>': ({ session }) => (session?.isEmbedded ? farelock`wallet airdrop` : []),
  // A keypair that was named is where the new wallet goes.
  '<wallet>': ({ invocation }) => {
    const { keypair } = invocation?.globals ?? {};
    return farelock`wallet new ${keypair === undefined ? [] : ['--keypair', keypair]}`;
  },
};

const stepsOf = async (error: Problem, failed: Failed): Promise<NextStep[]> =>
  (
    await Promise.all((error.kind.next ?? []).map((step) => STEPS[step]?.(failed) ?? lookOf(step, failed) ?? []))
  ).flat();

/** The same command with each suggestion (`detail.meant`) for a wrong word (`detail.given`). */
function asMeant({ detail }: Problem, { argv }: Failed): NextStep[] | null {
  const { given, meant } = detail ?? {};
  if (typeof given !== 'string' || !Array.isArray(meant)) return null;
  const at = argv.findIndex((word) => word === given || word.endsWith(`=${given}`));
  if (at < 0) return null;
  return meant.map((one) => ({
    argv: argv.map((word, index) => (index === at ? word.replace(given, () => String(one)) : word)),
  }));
}

/** The commands that help after a problem: at least one. */
export async function nextStepsOf(error: Problem, failed: Failed): Promise<readonly NextStep[]> {
  const steps = asMeant(error, failed) ?? (await stepsOf(error, failed));
  return steps.length > 0 ? steps : [farelock`explain ${error.code}`];
}

/** The problem of a command that was cut off: its effect on money and records, and how to continue. */
export async function commandCutOff(
  cutOff: Problem,
  spec: Pick<CommandSpec, 'effect' | 'cutOff'>,
  failed: Failed,
): Promise<Problem> {
  const change = changeOf(cutOff, spec, failed);
  const known = { again: again(failed), ...(await paymentsOf(failed.session)), ...(change && { change }) };
  return told(cutOff, storyOf(known), cutOff);
}

function changeOf(
  { options: { isAtQuestion } }: Problem,
  { effect, cutOff }: Pick<CommandSpec, 'effect' | 'cutOff'>,
  failed: Failed,
): Known['change'] | null {
  if (effect === 'pays' || effect === 'runs') return null;
  return effect === 'reads' || isAtQuestion
    ? { said: 'Nothing changed.', look: null }
    : { said: cutOff?.said ?? 'The change may have been made.', look: cutOff ? lookOf(cutOff.look, failed) : null };
}

/** Adds to the problem of a call that cost nothing the sum that the command paid before it. */
export async function asCharged(error: Problem, session: Pick<Session, 'paidHere'> | null): Promise<Problem> {
  if (error.charged !== 'nothing') return error;
  const { paid } = await paymentsOf(session);
  if (paid.length === 0) return error;
  return reworded(error, { charged: { before: paid.reduce((sum, { amount }) => sum + parseUsdc(amount), 0n) } });
}

/** The lines of a problem that does not end the command, such as one between two questions. */
export async function toldLines(error: Problem, failed: Failed): Promise<(screen: Screen) => string[]> {
  const told = await asCharged(error, failed.session);
  const next = await nextStepsOf(told, failed);
  return (screen) => problemLines(told, screen, next);
}

/** Arguments and options with other names than the fields of the service. */
const SAID_AS: Readonly<Record<string, string>> = {
  origin_iata: 'from',
  destination_iata: 'to',
  depart_date: 'depart',
  return_date: 'return',
  cabin_class: 'cabin',
  departure_after: 'depart-after',
  departure_before: 'depart-before',
  arrival_after: 'arrive-after',
  arrival_before: 'arrive-before',
  airlines: 'airline',
  not_airlines: 'not-airline',
  payout_amount: 'amount',
  funding_wallet: 'keypair',
};

/** A service's fields as they were typed: `origin_iata` as the argument, `max_price` as the option and its value. */
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
  if (Array.isArray(value)) return quoted(value.join(','));
  return typeof value === 'number' || (typeof value === 'string' && value !== '') ? quoted(String(value)) : null;
}
