import { join } from 'node:path';
import type { FlightsClient } from '../../../client/index.ts';
import { metropolitanArea } from '../../../kernel/domain/metropolitan-areas.ts';
import { canonicalJson, sha256Hex } from '../../../kernel/json.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import { problem } from '../../../kernel/problems.ts';
import type { SearchRequestInput, SearchResponse } from '../../../wire/flights/index.ts';
import { askedBags, bagsIn, dateOption, loadAirports } from '../../searching/index.ts';
import { openNotebook } from '../../session/index.ts';
import { airportOption, type CommandContext, type OptionsOf } from '../../spec/index.ts';
import type { SearchTitle } from '../../view/flights/index.ts';
import { hiddenText, incompleteText, numberedOffers, searchView } from '../../view/flights/index.ts';
import type * as spec from './spec.ts';

export const loadPrice = () => import('./price.ts');

export type SearchOptions = Omit<OptionsOf<typeof spec.search>, 'basic'> & { readonly basic?: boolean };
export type FilterOptions = Partial<
  Pick<
    SearchOptions,
    | ('maxStops' | 'departAfter' | 'departBefore' | 'arriveAfter' | 'arriveBefore' | 'maxDuration' | 'maxPrice')
    | ('airline' | 'notAirline' | 'alliance' | 'basic' | 'refundable' | 'withBag')
  >
>;

const SHOWN = 20;

/**
 * Makes the request from the options. A search that waits asks without a limit, because a slower offer may bring in an
 * itinerary that a limited answer would have cut off; the list is limited once it is complete.
 * @param options with codes of airports and dates as YYYY-MM-DD
 * @throws Problem `usage` for options that do not go together
 */
export function searchRequestOf(options: WaitingOptions): SearchRequestInput {
  const { depart, return: back } = options;
  if (back !== undefined && back < depart) {
    throw problem('usage', {
      message: `The return (${back}) is before the departure (${depart}).`,
      fix: 'Choose a --return on or after --depart.',
    });
  }
  if (options.from === options.to) {
    throw problem('usage', { message: 'Origin and destination are the same.', fix: 'Choose two airports.' });
  }
  return {
    ...directionsOf(options),
    ...(options.adults !== undefined && { adults: options.adults }),
    ...(options.childAges !== undefined && { child_ages: options.childAges }),
    ...(options.cabin !== undefined && { cabin_class: options.cabin }),
    ...filtersOf(options),
    ...askedBags(bagsIn(options)),
    ...(options.sort !== undefined && { sort: options.sort }),
    ...limitAsked(options),
    cheapest_per_itinerary: !options.allFares,
  };
}

/** The journey in the fields of the service; with `--onward`, as the slices of a multi-city search. */
function directionsOf({ from, to, depart, return: back, onward }: SearchOptions) {
  if (!onward) {
    return {
      origin_iata: from,
      destination_iata: to,
      depart_date: depart,
      ...(back !== undefined && { return_date: back }),
    };
  }
  const first = { origin: from, destination: to, departure_date: depart };
  return { slices: [first, ...onward.map(sliceOf)] };
}

/** Reads a flight of `--onward` as `understood` writes it. */
const sliceOf = (text: string) => {
  const [, origin = '', destination = '', departure_date = ''] = /^(...)-(...)@(.+)$/.exec(text) ?? [];
  return { origin, destination, departure_date };
};

/** The filters of the options, by the names of the service. */
export const filtersOf = (options: FilterOptions) => {
  const { maxPrice } = options;
  const given = {
    max_stops: options.maxStops,
    departure_after: options.departAfter,
    departure_before: options.departBefore,
    arrival_after: options.arriveAfter,
    arrival_before: options.arriveBefore,
    max_duration: options.maxDuration,
    airlines: codesIn(options.airline),
    not_airlines: codesIn(options.notAirline),
    alliance: options.alliance,
    no_basic: options.basic === false ? true : undefined,
    refundable: options.refundable,
    with_bag: options.withBag,
    max_price: maxPrice === undefined ? undefined : formatUsdc(maxPrice),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Defined<typeof given>;
};

/** Splits codes that are given with commas between them: `TP,LH`. */
const codesIn = (given: readonly string[] | undefined): string[] | undefined =>
  given?.flatMap((one) => one.split(',')).flatMap((one) => one.trim().toUpperCase() || []);

type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

/**
 * A person waits for slower offers and sees them arrive. A program gets the service's own answer at once, with a
 * `search_id` for the rest, and waits only with --wait.
 */
export interface WaitingOptions extends SearchOptions {
  readonly wait: boolean;
}

export const loadBirthdays = () => import('./birthdays.ts');

export const limitOf = (options: SearchOptions): number => options.limit ?? SHOWN;

/** @param options with codes of airports or cities, and dates as YYYY-MM-DD */
export const titleOf = (options: SearchOptions): SearchTitle => ({
  from: options.from,
  to: options.to,
  depart: options.depart,
  return: options.return,
  ...(options.onward && { onward: options.onward.map(sliceOf) }),
  adults: options.adults ?? 1,
  ...(options.childAges && { childAges: options.childAges }),
  cabin: options.cabin ?? 'economy',
  grouped: !options.allFares,
  sort: options.sort,
  bags: askedBags(bagsIn(options)).bags,
});

/** The limit of the first answer: a stream has one only if it is given, a search that waits has none. */
function limitAsked(options: WaitingOptions): { limit?: number } {
  if (options.ndjson) return options.limit === undefined ? {} : { limit: options.limit };
  return options.wait ? {} : { limit: limitOf(options) };
}

/**
 * Turns names of airports into codes and dates into YYYY-MM-DD; asks about a text with two readings. Loads the names
 * only when one is given.
 * @param takesCities keeps the code of a city, for any of its airports
 * @throws Problem `usage`
 */
export async function understood<T extends Pick<SearchOptions, 'from' | 'to' | 'depart' | 'return' | 'onward'>>(
  context: CommandContext,
  given: T,
  takesCities = false,
): Promise<T> {
  const depart = await dateOption(context, '--depart', given.depart);
  const back = given.return === undefined ? undefined : await dateOption(context, '--return', given.return, depart);
  const mayBeCities = takesCities && given.onward === undefined;
  const from = await codeOf(context, 'from', given.from, mayBeCities);
  const to = await codeOf(context, 'to', given.to, mayBeCities);
  const onward = given.onward && (await furtherFlights(context, given.onward, { place: to, day: depart }));
  if (onward !== undefined && back !== undefined) {
    throw problem('usage', {
      message: '--return and --onward do not go together.',
      fix: 'Name the way home with --onward.',
    });
  }
  return { ...given, from, to, depart, ...(back !== undefined && { return: back }), ...(onward && { onward }) };
}

const MOST_FURTHER = 3;

/** `FCO@24dec` starts from the last city, `NAP-LIS@28dec` from another one. @returns each as `NAP-LIS@2026-12-28` */
export async function furtherFlights(
  context: CommandContext,
  given: readonly string[],
  after: { readonly place: string; readonly day: string },
): Promise<string[]> {
  const fix = 'Write a flight as FCO@24dec, or as NAP-LIS@28dec from another city.';
  if (given.length > MOST_FURTHER) {
    throw problem('usage', {
      message: `--onward is given ${given.length} times.`,
      fix: 'A journey has at most 4 flights.',
    });
  }
  const read: string[] = [];
  let { place, day } = after;
  for (const text of given) {
    const [, first = '', second, date = ''] = /^([^@]+?)(?:\s*(?:-|→)\s*([^@]+?))?\s*@\s*(.+)$/.exec(text) ?? [];
    if (first === '') throw problem('usage', { message: `--onward ${text} is not a flight.`, fix });
    const from = second === undefined ? place : await codeOf(context, '--onward', airportOption(first), false);
    place = await codeOf(context, '--onward', airportOption(second ?? first), false);
    if (from === place) throw problem('usage', { message: `--onward ${text} starts where it ends.`, fix });
    const earlier = day;
    day = await dateOption(context, '--onward', date, earlier);
    if (day < earlier) {
      const message = `--onward ${text} (${day}) is before the flight before it (${earlier}).`;
      throw problem('usage', { message, fix: 'Give the flights in the order of their dates.' });
    }
    read.push(`${from}-${place}@${day}`);
  }
  return read;
}

async function codeOf(context: CommandContext, flag: string, text: string, takesCities: boolean): Promise<string> {
  if (/^[A-Z]{3}$/.test(text) && metropolitanArea(text) === null) return text;
  const { airportCode } = await loadAirports();
  return airportCode(context, flag, text, takesCities);
}

export const paidSearch = ({ terminal, signal }: CommandContext, flights: FlightsClient, request: SearchRequestInput) =>
  flights.search(request, {
    signal,
    onPhase: (phase) => terminal.phase(phase === 'paying' ? 'Paying for the search' : 'Searching'),
  });

/** Prints a list of offers and remembers its numbers; off a terminal, a note says that offers are missing. */
export async function showOffers<T extends SearchResponse>(
  { terminal, session, streams }: CommandContext,
  list: T,
  options: SearchOptions,
): Promise<void> {
  const title = titleOf(options);
  terminal.result(list, searchView(title));
  await session.recentOffers.remember(list.offers, numberedOffers(list, title.grouped), title.bags);
  const incomplete = incompleteText(list, title);
  const isPiped = !streams.stdout.isTTY;
  if (incomplete && (terminal.settings.json || isPiped)) terminal.note(incomplete);
  const hidden = hiddenText(list.hidden);
  if (hidden && isPiped && !terminal.settings.json) terminal.note(hidden);
}

export type Remembered<T> = T & { readonly atMs: number };

export type SearchMemory<T extends object> = ReturnType<typeof openSearchMemory<T>>;

/**
 * Remembers the searches of the last minutes in a file of the home, so that they are not paid for again. The file is
 * replaced whole, and holds only offers, nothing about a person.
 * @param alive the part of a result that is still available; null if there is none
 * @param goodForMs how long a result is remembered, unless its offers expire before
 */
export function openSearchMemory<T extends object>(
  { session, clock, terminal }: Pick<CommandContext, 'session' | 'clock' | 'terminal'>,
  name: `recent-${string}.json`,
  alive: (found: T, nowMs: number) => T | null,
  goodForMs = 600_000,
) {
  const { home, baseUrl } = session;
  const file = openNotebook<Record<string, Remembered<T>>>(join(home, name), terminal.note);
  const keyOf = (request: SearchRequestInput) => sha256Hex(canonicalJson({ baseUrl, request })).slice(0, 32);
  const read = (): Map<string, Remembered<T>> => {
    const nowMs = clock.now();
    const entries = Object.entries(file.read() ?? {}).flatMap(([key, found]): [string, Remembered<T>][] => {
      // A result from the future means that the clock was set back.
      if (!found || found.atMs > nowMs || nowMs - found.atMs > goodForMs) return [];
      const left = alive(found, nowMs);
      return left ? [[key, { ...left, atMs: found.atMs }]] : [];
    });
    return new Map(entries);
  };
  return {
    find: (request: SearchRequestInput): Remembered<T> | null => read().get(keyOf(request)) ?? null,
    remember(request: SearchRequestInput, found: T): Remembered<T> {
      const entry = { ...found, atMs: clock.now() };
      file.write(Object.fromEntries(read().set(keyOf(request), entry)));
      return entry;
    },
  };
}
