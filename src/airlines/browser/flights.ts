import type { Locator } from 'playwright-core';
import { DAY_MS } from '../../kernel/clock.ts';
import { namedAirports } from '../../kernel/domain/airports.ts';
import type { OfferQuery } from '../provider.ts';
import {
  click,
  isClicked,
  itemsOf,
  Misfit,
  must,
  readsDate,
  readsMoney,
  readsNumber,
  readsText,
  runSteps,
  Stopped,
  until,
  type Visit,
  type Walk,
  walkOf,
} from './page/index.ts';
import { dayNear, type FlightList, type Money, type Recipe, timeOf, type Values } from './recipes/index.ts';

/** A carrier's flights as its result page shows them. */

interface Airport {
  readonly city: string;
  readonly timeZone: string;
}

export const airportOf = (iata: string): Airport | null =>
  namedAirports().find((airport) => airport.iata === iata) ?? null;

/** Which flights an offer is about: found again by number and day, wherever the page shows them. */
export interface FlightKey {
  readonly flightNumber: string;
  /** `YYYY-MM-DDTHH:mm:ss`, local. */
  readonly departingAt: string;
}

export interface SeenFlight extends FlightKey {
  readonly arrivingAt: string;
  readonly price: Money;
  readonly carrierName: string | null;
  readonly operatingFlightNumber: string | null;
  readonly aircraftName: string | null;
  readonly originTerminal: string | null;
  readonly destinationTerminal: string | null;
  readonly stops: number;
  readonly brand: string | null;
  readonly checkedBags: number | null;
  readonly carryOnBags: number | null;
}

export function queryValues(query: OfferQuery): Values {
  return {
    origin: query.origin,
    destination: query.destination,
    origin_city: airportOf(query.origin)?.city,
    destination_city: airportOf(query.destination)?.city,
    depart_date: query.departDate,
    return_date: query.returnDate,
    adults: String(query.adults),
  };
}

/** The route of a recipe that a query is for; `*` is any airport whose zone is known. */
export function isServed({ serves, search }: Recipe, query: OfferQuery): boolean {
  const { origin, destination } = query;
  const fits = (code: string, wanted: string | undefined) => wanted === '*' || wanted === code;
  return (
    query.cabinClass === 'economy' &&
    query.adults <= (serves.most_passengers ?? 9) &&
    (query.returnDate === undefined || search.back !== undefined) &&
    origin !== destination &&
    serves.routes.some((route) => {
      const [from, to] = route.split('-');
      return fits(origin, from) && fits(destination, to);
    }) &&
    airportOf(origin) !== null &&
    airportOf(destination) !== null
  );
}

async function readFlight(walk: Walk, { read }: FlightList, day: string): Promise<SeenFlight> {
  const departs = must(walk, 'departs', await readsDate(walk, 'departs', read.departs));
  const arrives = must(walk, 'arrives', await readsDate(walk, 'arrives', read.arrives));
  const departDay = dayNear(departs, day);
  const departingAt = `${departDay}T${timeOf(departs)}`;
  const sameDay = `${dayNear(arrives, departDay)}T${timeOf(arrives)}`;
  const isNextDay = arrives.day === null && sameDay < departingAt;
  const nextDay = new Date(Date.parse(`${departDay}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10);
  return {
    flightNumber: numberOf(must(walk, 'flight_number', await readsText(walk, 'flight_number', read.flight_number))),
    departingAt,
    arrivingAt: isNextDay ? `${nextDay}T${timeOf(arrives)}` : sameDay,
    price: must(walk, 'price', await readsMoney(walk, 'price', read.price)),
    carrierName: await readsText(walk, 'carrier_name', read.carrier_name),
    operatingFlightNumber: await readsText(walk, 'operating_flight_number', read.operating_flight_number),
    aircraftName: await readsText(walk, 'aircraft_name', read.aircraft_name),
    originTerminal: await readsText(walk, 'origin_terminal', read.origin_terminal),
    destinationTerminal: await readsText(walk, 'destination_terminal', read.destination_terminal),
    stops: (await readsNumber(walk, 'stops', read.stops)) ?? 0,
    brand: await readsText(walk, 'fare_brand_name', read.fare_brand_name),
    checkedBags: await readsNumber(walk, 'checked_bags', read.checked_bags),
    carryOnBags: await readsNumber(walk, 'carry_on_bags', read.carry_on_bags),
  };
}

const numberOf = (text: string): string => text.replace(/\s+/g, '').toUpperCase();

/** The flights of one list, those with stops left out: where they stop is not on such pages. */
async function readList(
  walk: Walk,
  list: FlightList,
  day: string,
): Promise<{ readonly item: Locator; readonly flight: SeenFlight }[]> {
  const seen = [];
  for (const item of await itemsOf(walk, list)) {
    const flight = await readFlight({ ...walk, item }, list, day);
    if (flight.stops === 0) seen.push({ item, flight });
  }
  return seen;
}

const isSameFlight = (one: FlightKey, other: FlightKey): boolean =>
  one.flightNumber === other.flightNumber && one.departingAt === other.departingAt;

/** A flight that is listed twice could not be told from the other one when it is bought. */
const offered = (seen: readonly { readonly flight: SeenFlight }[]): SeenFlight[] =>
  seen
    .map(({ flight }) => flight)
    .filter((flight, _, all) => all.filter((other) => isSameFlight(flight, other)).length === 1);

/** From the home page to the list of flights. */
async function searched(visit: Visit, query: OfferQuery): Promise<Walk> {
  const walk = walkOf(visit, 'search', queryValues(query));
  await runSteps(walk, visit.recipe.search.steps);
  return walk;
}

/** Everything that flies on the days of a query. @throws Misfit, Stopped, BrowserGone */
export async function lookForFlights(
  visit: Visit,
  query: OfferQuery,
): Promise<{ readonly out: SeenFlight[]; readonly back: SeenFlight[] | null }> {
  const { search } = visit.recipe;
  const walk = await searched(visit, query);
  const out = offered(await readList(walk, search.out, query.departDate));
  if (query.returnDate === undefined || !search.back) return { out, back: null };
  await runSteps(walk, search.back.before);
  const back = offered(await readList(walk, search.back, query.returnDate));
  return { out, back };
}

/**
 * Searches again, and takes the flights of an offer: the page that is left shows their fares.
 * @throws Stopped `offer_gone`, Misfit where two look alike
 */
export async function takeFlights(visit: Visit, query: OfferQuery, flights: readonly FlightKey[]): Promise<Walk> {
  const { search } = visit.recipe;
  const walk = await searched(visit, query);
  const [there, home] = flights;
  if (!there) throw new Misfit('search', 'search', 'an offer without flights');
  await take(walk, search.out, there);
  if (home && search.back) {
    await runSteps(walk, search.back.before);
    await take(walk, search.back, home);
  }
  return walk;
}

async function take(walk: Walk, list: FlightList, wanted: FlightKey): Promise<void> {
  const found = (await readList(walk, list, wanted.departingAt.slice(0, 10))).filter(({ flight }) =>
    isSameFlight(flight, wanted),
  );
  const [one, another] = found;
  if (!one) throw new Stopped('offer_gone');
  if (another) throw new Misfit('search', 'search (list)', `${wanted.flightNumber} is there twice`);
  await takeItem({ ...walk, item: one.item }, list.choose, 'search (choose)');
}

/** Clicks the button within an item, or the item itself. */
export async function takeItem(
  walk: Walk & { readonly item: Locator },
  choose: FlightList['choose'],
  name: string,
): Promise<void> {
  if (choose) return click(walk, { at: choose }, name);
  await until(walk, name, undefined, async () =>
    (await isClicked(walk.item)) ? { found: true } : { saw: 'the item is covered' },
  );
}
