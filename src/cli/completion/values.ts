import { join, resolve } from 'node:path';
import { loadRecent } from '../session/index.ts';
import { homeOf, loadTable, loadWrite, type Setting } from '../settings/index.ts';
import { loadSchemaFiles, shownIn } from '../spec/index.ts';
import { type Candidate, FILES, type Place, type Position, type Source } from './candidate.ts';

const words = (values: readonly string[]): Candidate[] => values.map((value) => ({ value, words: '' }));

/** `book` takes only intents that have not ended. */
const intents: Source = async ({ path }, home) => {
  const { glanceAtIntents } = await import('../../client/glance.ts');
  return glanceAtIntents(home)
    .filter(({ status }) => path !== 'book' || (status !== 'booked' && status !== 'refunded'))
    .map((one) => ({ value: one.intentId, words: one.words }));
};

const orders: Source = async (_at, home) => {
  const { glanceAtIntents } = await import('../../client/glance.ts');
  return glanceAtIntents(home).flatMap((one) => [
    ...(one.orderId === null ? [] : [{ value: one.orderId, words: one.words }]),
    { value: one.intentId, words: one.words },
  ]);
};

/** The row numbers of the last search; once a word is begun, the offer ids too. */
const offers: Source = async ({ word }, home, { streams }) => {
  const { openRecentOffers } = await loadRecent();
  return openRecentOffers(join(home, 'recent-offers.json'), () => undefined, streams?.place)
    .listed()
    .flatMap(({ number, offerId, journey }) => {
      const about = journey === null ? '' : `${journey.route} ${journey.departureDate}`;
      const byNumber = { value: number, words: about };
      return word === '' ? [byNumber] : [byNumber, { value: offerId, words: `${number}, ${about}` }];
    });
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
  const { readOwnSettings } = await loadWrite();
  return words(['local', ...Object.keys(readOwnSettings(home).profiles)]);
};

/** The values of a setting, if it has a list of them. */
const valuesOf =
  (name: string): Source =>
  async () => {
    const { SETTINGS } = await loadTable();
    const { read } = Object.entries<Setting>(SETTINGS).find(([one]) => one === name)?.[1] ?? {};
    return read?.isPath ? [FILES] : words(read?.choices ?? []);
  };

const noLimit: Source = async () => words(['none']);

const settingValues: Source = async (at, home, place) => {
  const [name = ''] = at.arguments;
  return (name === 'profile' ? profiles : valuesOf(name))(at, home, place);
};

const settings: Source = async () => {
  const { KEPT_NAMES, SETTINGS } = await loadTable();
  return [
    { value: 'profile', words: SETTINGS.profile.says },
    // `wallet limits set` sets limits.
    ...KEPT_NAMES.filter((name) => SETTINGS[name].of !== 'limits').map((name) => ({
      value: name,
      words: SETTINGS[name].says,
    })),
  ];
};

/** Codes of airports and cities, and a word for each airport. */
const airports: Source = async ({ word }) => {
  const [{ airportWords, namedAirports }, { METROPOLITAN_CODES, metropolitanArea }] = await Promise.all([
    import('../../kernel/domain/airports.ts'),
    import('../../kernel/domain/metropolitan-areas.ts'),
  ]);
  const all = namedAirports();
  const nameOf = airportWords(all);
  const codes = all.map(({ iata, name, city }) => ({ value: iata, words: `${name}, ${city}` }));
  if (word === '') return codes;
  const areas = METROPOLITAN_CODES.map((code) => {
    const area = metropolitanArea(code);
    return { value: code, words: area ? `${area.city}: ${area.airports.join(', ')}` : '' };
  });
  return [...codes, ...areas, ...all.map(({ iata }) => ({ value: nameOf.get(iata) ?? iata, words: iata }))];
};

const problems: Source = async () => {
  const { explainedCodes } = await import('../commands/explain/index.ts');
  return words(explainedCodes());
};

/** The commands of `help`, or of its named group; the schemas of `schema`. */
const commands: Source = async ({ command, path, arguments: named }) => {
  if (path === 'schema') {
    const { schemaNames } = await loadSchemaFiles();
    return words(schemaNames());
  }
  let at = command.parent ?? command;
  for (const name of named) {
    const child = at.commands.find((one) => one.name() === name);
    if (!child) return [];
    at = child;
  }
  return shownIn(at).map((one) => ({ value: one.name(), words: one.description() }));
};

const files: Source = async () => [FILES];
const nothing: Source = async () => [];

/** A source of one command, where the name of its argument has other meanings elsewhere. */
const under =
  (path: string, source: Source): Source =>
  async (at, home, place) =>
    at.path.startsWith(path) ? source(at, home, place) : [];

/** Sources by the name of an argument in the help. */
const ARGUMENTS: Readonly<Record<string, Source>> = {
  from: airports,
  to: airports,
  text: under('airports', airports),
  'offer-id': offers,
  'intent-id': intents,
  'payment-id': payments,
  id: under('order', orders),
  name: async (at, home, place) =>
    (at.path.startsWith('travellers') ? travellers : under('config profile', profiles))(at, home, place),
  key: under('config', settings),
  value: settingValues,
  code: under('explain', problems),
  command: commands,
  file: files,
  path: files,
};

const OPTIONS: Readonly<Record<string, Source>> = {
  '--profile': profiles,
  '--scenario': valuesOf('scenario'),
  '--traveller': travellers,
  '--cluster': valuesOf('cluster'),
  '--per-call': noLimit,
  '--per-day': noLimit,
  '--booking': noLimit,
  '--hosts': noLimit,
};

/** The values of an argument or an option, by the name of its place, without those that a shell would split. */
export async function valuesNamed(name: string, at: Position, place: Place): Promise<readonly Candidate[]> {
  const found = await (await sourceOf(name, at))(at, resolve(homeOf(place.environment)), place);
  return found.filter((one) => one === FILES || /^[\p{L}\p{N}_@%+=:,./-][\p{L}\p{N}_@%+=:,./#-]*$/u.test(one.value));
}

async function sourceOf(name: string, at: Position): Promise<Source> {
  const { serviceSource } = await import('./service-values.ts');
  const fromServices = serviceSource(name, at);
  if (fromServices !== null) return fromServices;
  if (!at.option) return ARGUMENTS[name] ?? nothing;
  return OPTIONS[at.option.long ?? ''] ?? (name === 'file' || name === 'path' ? files : nothing);
}
