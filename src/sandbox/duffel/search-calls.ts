import type { HttpResponse } from '../../kernel/http.ts';
import { testRoute } from './behaviours.ts';
import type { OfferRequestRecord } from './books.ts';
import { currentCents, dressedOffer, expiresAtMs, microInstant } from './dress.ts';
import { type Issue, invalid, refused } from './errors.ts';
import { offerIdOf, passengerIds } from './names.ts';
import { page } from './paging.ts';
import { airportsOf, cityOrAirport } from './places.ts';
import { type Asked, data, foundOffer, misbehaved, type Sandbox } from './sandbox.ts';
import type { DuffelWorld, WorldOffer } from './world.ts';

const CABINS = ['economy', 'premium_economy', 'business', 'first'] as const;
const MOST_PASSENGERS = 9;

/** POST /air/offer_requests: searches, and answers with the offers unless they are not wanted. */
export async function createOfferRequest(asked: Asked): Promise<HttpResponse> {
  const made = await searched(asked);
  if (!('request' in made)) return made;
  const withOffers = asked.search.get('return_offers') !== 'false';
  return data(dressedRequest(asked.sandbox, made.request, made.slices, withOffers), 201);
}

/** GET /air/offer_requests, newest first */
export const listOfferRequests = async (asked: Asked): Promise<HttpResponse> =>
  page(asked, asked.sandbox.books.requests.all().reverse(), (request) =>
    dressedRequest(asked.sandbox, request, request.slices, false),
  );

const BATCHES = 2;
const BATCHES_LIVE_MS = 60_000;

/** POST /air/batch_offer_requests: searches; the offers come with the next calls. */
export async function createBatchRequest(asked: Asked): Promise<HttpResponse> {
  const made = await searched(asked);
  if (!('request' in made)) return made;
  return data(dressedBatch(asked.sandbox, made.request, BATCHES, []), 201);
}

/** GET /air/batch_offer_requests/{id}: the offers that are new since the call before. */
export async function getBatchRequest({ sandbox }: Asked, id: string): Promise<HttpResponse> {
  const { books, clock, world } = sandbox;
  const request = requestById(sandbox, id);
  if (clock.now() >= request.createdAtMs + BATCHES_LIVE_MS) throw refused('not_found');
  const read = books.count(`batch ${request.number}`);
  const offers = world.offers(request).filter((_, at) => at % BATCHES === read - 1);
  return data(dressedBatch(sandbox, request, Math.max(0, BATCHES - read), offers));
}

const dressedBatch = (
  sandbox: Sandbox,
  request: OfferRequestRecord,
  remaining: number,
  offers: readonly WorldOffer[],
): object => ({
  ...dressedRequest(sandbox, request, request.slices, false),
  total_batches: BATCHES,
  remaining_batches: remaining,
  offers: offers.map((offer) => shown(sandbox, request, offer)),
});

/** A search that was made, or how it failed. */
export async function searched(
  asked: Asked,
): Promise<HttpResponse | { request: OfferRequestRecord; slices: OfferRequestRecord['slices'] }> {
  const { sandbox, search } = asked;
  const { books, clock } = sandbox;
  const body = await asked.data();
  checkSupplierTimeout(search.get('supplier_timeout'));
  const wanted = readSearch(body, new Date(clock.now()).toISOString().slice(0, 10), sandbox.world.airports);
  const [out] = wanted.slices;
  const behaviour = books.take('search') ?? (out && testRoute(out.origin, out.destination)?.search) ?? null;
  const failed = await misbehaved(asked, behaviour);
  if (failed) return failed;
  const number = books.count('request');
  const request = books.requests.put(number, {
    ...wanted,
    number,
    slices: behaviour === 'empty' ? [] : wanted.slices,
    createdAtMs: clock.now(),
    leastOffers: books.settings.get('least_offers') ?? 0,
  });
  return { request, slices: wanted.slices };
}

/** GET /air/offer_requests/{id} */
export async function getOfferRequest({ sandbox }: Asked, id: string): Promise<HttpResponse> {
  const request = requestById(sandbox, id);
  return data(dressedRequest(sandbox, request, request.slices, true));
}

function requestById({ books, ids }: Sandbox, id: string): OfferRequestRecord {
  const read = ids.read('orq', id);
  const request = read && books.requests.get(read.number);
  if (!request) throw refused('not_found');
  return request;
}

export function dressedRequest(
  sandbox: Sandbox,
  request: OfferRequestRecord,
  slices: OfferRequestRecord['slices'],
  withOffers: boolean,
): object {
  const { ids, world } = sandbox;
  const place = (iata: string) => cityOrAirport(world.airports, iata);
  return {
    id: ids.numbered('orq', request.number),
    live_mode: false,
    created_at: microInstant(request.createdAtMs),
    cabin_class: request.cabinClass,
    client_key: null,
    slices: slices.map(({ origin, destination, departure_date }) => ({
      origin_type: place(origin).type,
      origin: place(origin),
      destination_type: place(destination).type,
      destination: place(destination),
      departure_date,
    })),
    passengers: passengerIds(ids, request).map((id, position) => ({
      id,
      type: request.ages[position] == null ? 'adult' : null,
      age: request.ages[position] ?? null,
      given_name: null,
      family_name: null,
      loyalty_programme_accounts: [],
    })),
    ...(withOffers ? { offers: world.offers(request).map((offer) => shown(sandbox, request, offer)) } : { offers: [] }),
  };
}

export const shown = (sandbox: Sandbox, request: OfferRequestRecord, offer: WorldOffer): object =>
  dressedOffer(sandbox, request, offer, sandbox.books.offers.get(offerIdOf(sandbox.ids, offer)), null);

/** GET /air/offers?offer_request_id= */
export async function listOffers(asked: Asked): Promise<HttpResponse> {
  const { sandbox, search } = asked;
  const { books, ids, world } = sandbox;
  const requestId = search.get('offer_request_id');
  if (requestId === null)
    throw invalid([{ at: 'offer_request_id', code: 'validation_required', message: "can't be blank" }]);
  const failed = await misbehaved(asked, null);
  if (failed) return failed;
  const request = requestById(sandbox, requestId);
  const most = search.get('max_connections');
  const fits = ({ offer }: WorldOffer) => most === null || offer.slices.every(({ stops }) => stops <= Number(most));
  const sort = search.get('sort');
  const sign = sort?.startsWith('-') ? -1 : 1;
  const keyOf = sortKey(sort);
  const cents = (offer: WorldOffer) => currentCents(offer, books.offers.get(offerIdOf(ids, offer)));
  const list = world.offers(request).filter(fits);
  const sorted = keyOf ? [...list].sort((a, b) => sign * (keyOf(a, cents) - keyOf(b, cents))) : list;
  return page(asked, sorted, (offer) => shown(sandbox, request, offer));
}

type SortKey = (offer: WorldOffer, cents: (offer: WorldOffer) => number) => number;

function sortKey(sort: string | null): SortKey | null {
  switch (sort?.replace(/^-/, '')) {
    case undefined:
    case '':
      return null;
    case 'total_amount':
      return (offer, cents) => cents(offer);
    case 'total_duration':
      return ({ offer }) => Date.parse(`${offer.arriving_at}Z`) - Date.parse(`${offer.departing_at}Z`);
    default:
      throw invalid([
        { at: 'sort', code: 'validation_inclusion', message: 'must be one of total_amount, total_duration' },
      ]);
  }
}

/** POST /air/offers/{id}/actions/price: the airline's price of now, for the services that are meant to be bought. */
export const priceOffer = async (asked: Asked, id: string): Promise<HttpResponse> => {
  const { intended_services: services = [], intended_payment_methods: methods = [] } = await asked.data();
  const priced = await getOffer(asked, id);
  const { data: offer } = JSON.parse(String(priced.body)) as { data: object };
  return data({ ...offer, intended_services: services, intended_payment_methods: methods });
};

/** GET /air/offers/{id}: with the price of now, and with its services where they are asked for. */
export async function getOffer(asked: Asked, id: string): Promise<HttpResponse> {
  const { sandbox, search } = asked;
  const { books, clock } = sandbox;
  const found = foundOffer(sandbox, id);
  if (!found) throw refused('not_found');
  const { request, offer } = found;
  const [out] = request.slices;
  const behaviour = books.take('offer') ?? (out && testRoute(out.origin, out.destination)?.offer) ?? null;
  const failed = await misbehaved(asked, behaviour);
  if (failed) return failed;
  const isBooked = books.orders.all().some(({ offerId }) => offerId === id);
  if (!isBooked && clock.now() >= expiresAtMs(request, offer)) throw refused('offer_no_longer_available');
  const before = books.offers.get(id) ?? { reads: 0, raisedCents: 0 };
  const state = books.offers.put(id, {
    reads: before.reads + 1,
    raisedCents: before.raisedCents + (behaviour === 'price_up' && !isBooked ? PRICE_STEP_CENTS : 0),
  });
  const services = search.get('return_available_services') === 'true' ? { read: state.reads } : null;
  return data(dressedOffer(sandbox, request, offer, state, services));
}

const PRICE_STEP_CENTS = 1_000;

function checkSupplierTimeout(text: string | null): void {
  const ms = Number(text ?? 20_000);
  if (!(Number.isInteger(ms) && ms >= 2_000 && ms <= 60_000))
    throw invalid([
      { at: 'supplier_timeout', code: 'validation_inclusion', message: 'must be between 2000 and 60000' },
    ]);
}

type Search = Pick<OfferRequestRecord, 'slices' | 'ages' | 'cabinClass' | 'maxConnections'>;

/** @throws ApiError with every wrong field */
function readSearch(body: Readonly<Record<string, unknown>>, today: string, places: DuffelWorld['airports']): Search {
  const issues: Issue[] = [];
  const given = listOf(body.slices);
  if (given.length === 0) issues.push({ at: 'slices', code: 'validation_required', message: "can't be blank" });
  const slices = given.map((slice, at) => readSlice(slice, `slices/${at}`, today, issues, places));
  const travelling = listOf(body.passengers);
  if (travelling.length < 1 || travelling.length > MOST_PASSENGERS)
    issues.push({
      at: 'passengers',
      code: 'validation_length',
      message: `must have between 1 and ${MOST_PASSENGERS} items`,
    });
  const ages = travelling.map((passenger, at) => readAge(passenger, `passengers/${at}`, issues));
  const cabinClass = CABINS.find((cabin) => cabin === (body.cabin_class ?? 'economy'));
  if (!cabinClass)
    issues.push({ at: 'cabin_class', code: 'validation_inclusion', message: `must be one of ${CABINS.join(', ')}` });
  const maxConnections = body.max_connections ?? 1;
  if (typeof maxConnections !== 'number' || !Number.isInteger(maxConnections) || maxConnections < 0)
    issues.push({ at: 'max_connections', code: 'validation_type', message: 'must be an integer' });
  if (issues.length > 0 || !cabinClass) throw invalid(issues);
  return { slices, ages, cabinClass, maxConnections: Number(maxConnections) };
}

export const listOf = (value: unknown): Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.map((one) => (typeof one === 'object' && one !== null ? one : {})) : [];

export function readSlice(
  slice: Readonly<Record<string, unknown>>,
  at: string,
  today: string,
  issues: Issue[],
  places: DuffelWorld['airports'],
): OfferRequestRecord['slices'][number] {
  const { origin, destination, departure_date } = slice;
  for (const [name, value] of Object.entries({ origin, destination })) {
    if (typeof value !== 'string' || !/^[A-Z]{3}$/.test(value))
      issues.push({ at: `${at}/${name}`, code: 'validation_format', message: 'must be an IATA code' });
    else if (airportsOf(value, places).length === 0)
      issues.push({ at: `${at}/${name}`, code: 'linked_record_not_found', message: 'is no place that exists' });
  }
  if (typeof departure_date !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(departure_date))
    issues.push({ at: `${at}/departure_date`, code: 'validation_format', message: 'must be a date' });
  else if (departure_date < today)
    issues.push({ at: `${at}/departure_date`, code: 'validation_inclusion', message: 'must be after today' });
  return { origin: String(origin), destination: String(destination), departure_date: String(departure_date) };
}

/** null for an adult. A passenger is a type or an age, never both. */
function readAge(passenger: Readonly<Record<string, unknown>>, at: string, issues: Issue[]): number | null {
  const { type, age } = passenger;
  if (age === undefined && type === 'adult') return null;
  if (age !== undefined && type !== undefined)
    issues.push({ at, code: 'validation_inclusion', message: 'must have either a type or an age' });
  else if (age === undefined && type === undefined)
    issues.push({ at, code: 'validation_required', message: 'must have a type or an age' });
  else if (age === undefined)
    issues.push({ at: `${at}/type`, code: 'validation_inclusion', message: 'must be adult; give an age' });
  else if (typeof age !== 'number' || !Number.isInteger(age) || age < 0 || age > 130)
    issues.push({ at: `${at}/age`, code: 'validation_type', message: 'must be an integer' });
  return Number(age);
}
