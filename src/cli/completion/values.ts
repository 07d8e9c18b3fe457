import { resolve } from 'node:path';
import type { Environment } from '../context.ts';
import { homeOf } from '../profile.ts';
import { type Candidate, FILES } from './candidate.ts';
import type { Position } from './position.ts';

type Source = (at: Position, home: string) => Promise<readonly Candidate[]>;

const words = (values: readonly string[]): Candidate[] => values.map((value) => ({ value, words: '' }));

const intents: Source = async (_at, home) => {
  const { glanceAtIntents } = await import('../../client/glance.ts');
  return glanceAtIntents(home).map((one) => ({ value: one.intentId, words: one.words }));
};

const orders: Source = async (_at, home) => {
  const { glanceAtIntents } = await import('../../client/glance.ts');
  return glanceAtIntents(home).flatMap((one) => [
    ...(one.orderId === null ? [] : [{ value: one.orderId, words: one.words }]),
    { value: one.intentId, words: one.words },
  ]);
};

const payments: Source = async (_at, home) => {
  const { glanceAtPayments } = await import('../../client/glance.ts');
  return glanceAtPayments(home).map((one) => ({ value: one.paymentId, words: one.words }));
};

const travellers: Source = async (_at, home) => {
  const { glanceAtTravellers } = await import('../../client/glance.ts');
  return words(glanceAtTravellers(home));
};

const profiles: Source = async (_at, home) => {
  const { readOwnSettings } = await import('../settings/own.ts');
  return words(['local', ...Object.keys(readOwnSettings(home).profiles)]);
};

const settings: Source = async () => {
  const { SETTING_NAMES } = await import('../settings/keys-table.ts');
  return words(['profile', ...SETTING_NAMES]);
};

/** Codes while a code may be typed, and one word for each airport. */
const airports: Source = async ({ word }) => {
  const { airportWords, namedAirports } = await import('../../kernel/airports.ts');
  const all = namedAirports();
  const nameOf = airportWords(all);
  const codes = all.map(({ iata, name, city }) => ({ value: iata, words: `${name}, ${city}` }));
  if (word === '') return codes;
  return [...codes, ...all.map(({ iata }) => ({ value: nameOf.get(iata) ?? iata, words: iata }))];
};

const problems: Source = async () => {
  const { explainedCodes } = await import('../explained.ts');
  return words(explainedCodes());
};

const commands: Source = async ({ command, path }) => {
  const program = command.parent ?? command;
  if (path === 'schema') {
    const { schemaNames } = await import('../schema-files.ts');
    return words(schemaNames());
  }
  return program.commands.map((one) => ({ value: one.name(), words: one.description() }));
};

const files: Source = async () => [FILES];
const nothing: Source = async () => [];

/** By the name of an argument, or of the value of an option, in the help. */
const SOURCES: Readonly<Record<string, Source>> = {
  from: airports,
  to: airports,
  text: airports,
  'intent-id': intents,
  'payment-id': payments,
  id: async (at, home) => (at.path === 'order' ? orders(at, home) : []),
  traveller: travellers,
  key: async (at, home) => (at.path.startsWith('config') ? settings(at, home) : []),
  code: async (at, home) => (at.path === 'explain' ? problems(at, home) : []),
  command: commands,
  file: files,
  path: files,
};

/** `name` stands for a profile in one place and for a traveller in another. */
function named(at: Position): Source {
  if (at.option?.long === '--profile' || at.path.startsWith('config profile')) return profiles;
  if (at.option?.long === '--traveller' || at.path === 'travellers remove') return travellers;
  return nothing;
}

/** The values of an argument, or of an option, by what its place is called. What a shell would take apart is left out. */
export async function valuesNamed(
  place: string,
  at: Position,
  environment: Environment,
): Promise<readonly Candidate[]> {
  const isPlace = place === 'from' || place === 'to';
  // `--from EUR` of the ramp is a currency.
  if (isPlace && at.option) return [];
  const source = place === 'name' || place === 'names' ? named(at) : (SOURCES[place] ?? nothing);
  const found = await source(at, resolve(homeOf(environment)));
  return found.filter((one) => one === FILES || /^[\p{L}\p{N}_@%+=:,./-]+$/u.test(one.value));
}
