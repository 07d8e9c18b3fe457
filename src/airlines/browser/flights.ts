import type { Locator } from 'playwright-core';
import { DAY_MS } from '../../kernel/clock.ts';
import { namedAirports } from '../../kernel/domain/airports.ts';
import { parseUsdc } from '../../kernel/money.ts';
import type { RoundTrip } from '../provider.ts';
import type { Visit, Walk } from './page/index.ts';
import * as page from './page/index.ts';
import { dayNear, type FlightList, type Recipe, timeOf, type Values } from './recipes/index.ts';

export const airportOf = (iata: string) => namedAirports().find((airport) => airport.iata === iata) ?? null;

/** Identifies an offer's flight by number and time, wherever the page lists it. */
export interface FlightKey {
  readonly flightNumber: string;
  /** Local `YYYY-MM-DDTHH:mm:ss`. */
  readonly departingAt: string;
}

export type SeenFlight = Awaited<ReturnType<typeof readFlight>>;

export function queryValues(query: RoundTrip): Values {
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

/** True if the recipe sells this query; `*` in a route is any airport of a known time zone. */
export function isServed({ serves, search }: Recipe, query: RoundTrip): boolean {
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

/** The value that all flights of a trip share; null if they differ. */
export function shared<F extends 'brand' | 'checkedBags' | 'carryOnBags'>(
  flights: readonly SeenFlight[],
  field: F,
): SeenFlight[F] | null {
  const [value = null, ...others] = new Set(flights.map((flight) => flight[field]));
  return others.length === 0 ? value : null;
}

/** The price of a trip for all passengers, in atomic units. */
export const priceOf = ({ search }: Recipe, flights: readonly SeenFlight[], adults: number): bigint => {
  const times = search.price_for === 'one' ? BigInt(adults) : 1n;
  return flights.reduce((sum, { price }) => sum + parseUsdc(price.decimal) * times, 0n);
};

/** Reads the local arrival time, or the duration in minutes if the recipe reads that instead. */
async function readArrival(walk: Walk, read: FlightList['read'], departingAt: string): Promise<string | number> {
  if (read.duration) return page.must(walk, read, 'duration', await page.readsDuration(walk, read, 'duration'));
  const arrives = page.must(walk, read, 'arrives', await page.readsDate(walk, read, 'arrives'));
  const departDay = departingAt.slice(0, 10);
  const sameDay = `${dayNear(arrives, departDay)}T${timeOf(arrives)}`;
  if (arrives.day !== null || sameDay >= departingAt) return sameDay;
  const nextDay = new Date(Date.parse(`${departDay}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10);
  return `${nextDay}T${timeOf(arrives)}`;
}

async function readFlight(walk: Walk, { read }: FlightList, day: string) {
  const departs = page.must(walk, read, 'departs', await page.readsDate(walk, read, 'departs'));
  const departingAt = `${dayNear(departs, day)}T${timeOf(departs)}`;
  const number = page.must(walk, read, 'flight_number', await page.readsText(walk, read, 'flight_number'));
  return {
    flightNumber: number.replace(/\s+/g, '').toUpperCase(),
    departingAt,
    arrives: await readArrival(walk, read, departingAt),
    price: page.must(walk, read, 'price', await page.readsMoney(walk, read, 'price')),
    carrierName: await page.readsText(walk, read, 'carrier_name'),
    operatingFlightNumber: await page.readsText(walk, read, 'operating_flight_number'),
    aircraftName: await page.readsText(walk, read, 'aircraft_name'),
    originTerminal: await page.readsText(walk, read, 'origin_terminal'),
    destinationTerminal: await page.readsText(walk, read, 'destination_terminal'),
    stops: (await page.readsNumber(walk, read, 'stops')) ?? 0,
    brand: await page.readsText(walk, read, 'fare_brand_name'),
    checkedBags: await page.readsNumber(walk, read, 'checked_bags'),
    carryOnBags: await page.readsNumber(walk, read, 'carry_on_bags'),
  };
}

/** Reads the non-stop flights of a list; pages do not name the stops of the others. */
async function readList(walk: Walk, list: FlightList, day: string) {
  const seen = [];
  for (const [i, item] of (await page.itemsOf(walk, list)).entries()) {
    const flight = await readFlight({ ...walk, item, itemNumber: i + 1 }, list, day);
    if (flight.stops === 0) seen.push({ item, flight });
  }
  return seen;
}

const isSameFlight = (one: FlightKey, other: FlightKey): boolean =>
  one.flightNumber === other.flightNumber && one.departingAt === other.departingAt;

/** Leaves out flights that are listed twice, which a purchase could not tell apart. */
const offered = (seen: readonly { readonly flight: SeenFlight }[]): SeenFlight[] =>
  seen
    .map(({ flight }) => flight)
    .filter((flight, _, all) => all.filter((other) => isSameFlight(flight, other)).length === 1);

export async function searched(visit: Visit, query: RoundTrip): Promise<Walk> {
  const walk = page.walkOf(visit, 'search', queryValues(query));
  await page.runSteps(walk, visit.recipe.search.steps);
  return walk;
}

export interface SeenFlights {
  readonly out: readonly SeenFlight[];
  readonly back: readonly SeenFlight[] | null;
}

/** Reads all flights on a query's days. @throws Misfit, Stopped, BrowserGone */
export async function lookForFlights(visit: Visit, query: RoundTrip): Promise<SeenFlights> {
  const { search } = visit.recipe;
  const walk = await searched(visit, query);
  const out = offered(await readList(walk, search.out, query.departDate));
  if (query.returnDate === undefined || !search.back) return { out, back: null };
  await page.runSteps(walk, search.back.before);
  return { out, back: offered(await readList(walk, search.back, query.returnDate)) };
}

/**
 * Searches again and chooses an offer's flights, to see their fares.
 * @throws Stopped `offer_gone`, Misfit if two look alike
 */
export async function takeFlights(visit: Visit, query: RoundTrip, flights: readonly FlightKey[]) {
  const walk = await searched(visit, query);
  return { walk, taken: await takeListed(walk, flights) };
}

/** Chooses an offer's flights from the list that the visit shows. */
export async function takeListed(walk: Walk, flights: readonly FlightKey[]): Promise<SeenFlight[]> {
  const { search } = walk.visit.recipe;
  const [there, home] = flights;
  if (!there) throw new page.Misfit('search', 'search', 'an offer without flights');
  const taken = [await take(walk, search.out, there)];
  if (home && search.back) {
    await page.runSteps(walk, search.back.before);
    taken.push(await take(walk, search.back, home));
  }
  return taken;
}

async function take(walk: Walk, list: FlightList, wanted: FlightKey): Promise<SeenFlight> {
  const seen = await readList(walk, list, wanted.departingAt.slice(0, 10));
  const [one, another] = seen.filter(({ flight }) => isSameFlight(flight, wanted));
  if (!one) throw new page.Stopped('offer_gone');
  if (another) throw new page.Misfit('search', 'search (list)', `${wanted.flightNumber} is there twice`);
  await takeItem({ ...walk, item: one.item }, list.choose, 'search (choose)');
  return one.flight;
}

/** Clicks the button within an item, or the item itself. */
export async function takeItem(walk: Walk & { readonly item: Locator }, choose: FlightList['choose'], name: string) {
  if (choose) return page.click(walk, { at: choose }, name);
  await page.until(walk, name, undefined, async () => {
    const hindrance = await page.clickOnce(walk.item);
    return hindrance === null ? { found: true } : { saw: `the item is ${hindrance}` };
  });
}
