import type { HttpResponse } from '../../kernel/http.ts';
import type { Slice } from '../../wire/flights/index.ts';
import { CABINS } from '../airline/index.ts';
import type { OfferRequestRecord, WorldOffer } from './books.ts';
import { currentCents, dressedOffer, expiresAtMs, microInstant } from './dress.ts';
import { type Issue, invalid, refused } from './errors.ts';
import { passengerIds } from './ids.ts';
import { airportsOf, cityOrAirport } from './places.ts';
import {
  type Asked,
  type Body,
  behaviourOn,
  type Calls,
  data,
  listOf,
  misbehaved,
  numbered,
  offerOf,
  page,
  type Sandbox,
  today,
} from './sandbox.ts';
import { seatMaps } from './services.ts';

const MOST_PASSENGERS = 9;
const BATCHES = 2;
const BATCHES_LIVE_MS = 60_000;

export const searchCalls: Calls = {
  'POST /air/offer_requests': async (asked) => {
    const made = await searched(asked);
    if (!('request' in made)) return made;
    const { request, slices } = made;
    const withOffers = asked.search.get('return_offers') !== 'false';
    return data({ ...dressedRequest(asked, { ...request, slices }), ...(withOffers && offersOf(asked, request)) }, 201);
  },
  'GET /air/offer_requests/{id}': async (asked, id) => {
    const request = numbered(asked, asked.books.requests, 'orq', id);
    return data({ ...dressedRequest(asked, request), ...offersOf(asked, request) });
  },
  'GET /air/offer_requests': async (asked) =>
    page(asked, asked.books.requests.all().reverse(), (request) => dressedRequest(asked, request)),

  'POST /air/batch_offer_requests': async (asked) => {
    const made = await searched(asked);
    return 'request' in made ? data(dressedBatch(asked, made.request, BATCHES, []), 201) : made;
  },
  // Answers with the next batch of offers.
  'GET /air/batch_offer_requests/{id}': async (asked, id) => {
    const { books, clock, world } = asked;
    const request = numbered(asked, books.requests, 'orq', id);
    if (clock.now() >= request.createdAtMs + BATCHES_LIVE_MS) throw refused('not_found');
    const read = books.count(`batch ${request.number}`);
    const offers = world.offers(request).filter((_, at) => at % BATCHES === read - 1);
    return data(dressedBatch(asked, request, Math.max(0, BATCHES - read), offers));
  },

  'GET /air/offers': async (asked) => {
    const { books, search, world } = asked;
    const requestId = search.get('offer_request_id');
    if (requestId === null) throw invalid(['offer_request_id', 'validation_required', "can't be blank"]);
    const most = search.get('max_connections');
    const request = numbered(asked, books.requests, 'orq', requestId);
    const list = world
      .offers(request)
      .filter(({ offer }) => most === null || offer.slices.every(({ stops }) => stops <= Number(most)));
    return page(asked, sorted(asked, list, search.get('sort') ?? ''), (offer) => dressedOffer(asked, offer));
  },
  'GET /air/offers/{id}': getOffer,
  // Prices the offer again, and repeats the intended services.
  'POST /air/offers/{id}/actions/price': async (asked, id) => {
    const { intended_services = [], intended_payment_methods = [] } = await asked.data();
    const priced = await getOffer(asked, id);
    const { data: offer } = JSON.parse(String(priced.body)) as { data: object };
    return data({ ...offer, intended_services, intended_payment_methods });
  },
  // Lists the seller's dearer fares on the same flights.
  'POST /air/offers/{id}/upsell': async (asked, id) => {
    const { request, offer, ownerName, totalCents } = offerOf(asked, id);
    const others = matching(asked, request, offer.slices.map(flightsOf));
    return data(
      others
        .filter((one) => one.ownerName === ownerName && one.totalCents > totalCents)
        .map((one) => dressedOffer(asked, one)),
    );
  },
  // Repeats the details without storing them.
  'PATCH /air/offers/{id}/passengers/{passenger_id}': async (asked, id, passengerId) => {
    const { request } = offerOf(asked, id);
    const position = passengerIds(asked.ids, request).indexOf(passengerId);
    if (position < 0) throw refused('not_found');
    const { given_name = null, family_name = null, loyalty_programme_accounts } = await asked.data();
    return data({
      id: passengerId,
      ...ageOf(request, position),
      given_name,
      family_name,
      loyalty_programme_accounts: listOf(loyalty_programme_accounts),
    });
  },
  'GET /air/seat_maps': async (asked) => data(seatMaps(asked, offerOf(asked, asked.search.get('offer_id') ?? ''))),

  'POST /air/partial_offer_requests': async (asked) => {
    const made = await searched(asked);
    return 'request' in made ? data(partialRequest(asked, made.request, []), 201) : made;
  },
  // Lists choices for the next direction.
  'GET /air/partial_offer_requests/{id}': async (asked, id) => {
    const request = numbered(asked, asked.books.requests, 'prq', id);
    return data(partialRequest(asked, request, selectedIn(asked, request)));
  },
  // Lists the whole offers with the selected directions.
  'GET /air/partial_offer_requests/{id}/fares': async (asked, id) => {
    const request = numbered(asked, asked.books.requests, 'prq', id);
    const offers = matching(asked, request, selectedIn(asked, request)).map((offer) => dressedOffer(asked, offer));
    return data({ ...dressedRequest(asked, request), id, offers });
  },
};

/** @returns a search with its wanted slices, or a failure */
async function searched(
  asked: Asked,
): Promise<HttpResponse | (Pick<OfferRequestRecord, 'slices'> & { request: OfferRequestRecord })> {
  const { books, clock, search } = asked;
  const body = await asked.data();
  const timeoutMs = Number(search.get('supplier_timeout') ?? 20_000);
  if (!(Number.isInteger(timeoutMs) && timeoutMs >= 2_000 && timeoutMs <= 60_000))
    throw invalid(['supplier_timeout', 'validation_inclusion', 'must be between 2000 and 60000']);
  const wanted = readSearch(asked, body);
  const behaviour = behaviourOn(asked, 'search', wanted);
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

const ageOf = ({ ages }: OfferRequestRecord, position: number) => {
  const age = ages[position] ?? null;
  return { type: age === null ? 'adult' : null, age };
};

function dressedRequest({ ids, world }: Sandbox, request: OfferRequestRecord) {
  const place = (iata: string) => cityOrAirport(world.airports, iata);
  return {
    id: ids.numbered('orq', request.number),
    live_mode: false,
    created_at: microInstant(request.createdAtMs),
    cabin_class: request.cabinClass,
    client_key: null,
    slices: request.slices.map(({ origin, destination, departure_date }) => ({
      origin_type: place(origin).type,
      origin: place(origin),
      destination_type: place(destination).type,
      destination: place(destination),
      departure_date,
    })),
    passengers: passengerIds(ids, request).map((id, position) => ({
      id,
      ...ageOf(request, position),
      given_name: null,
      family_name: null,
      loyalty_programme_accounts: [],
    })),
    offers: [] as object[],
  };
}

const offersOf = (sandbox: Sandbox, request: OfferRequestRecord) => ({
  offers: sandbox.world.offers(request).map((offer) => dressedOffer(sandbox, offer)),
});

const dressedBatch = (sandbox: Sandbox, request: OfferRequestRecord, left: number, offers: readonly WorldOffer[]) => ({
  ...dressedRequest(sandbox, request),
  total_batches: BATCHES,
  remaining_batches: left,
  offers: offers.map((offer) => dressedOffer(sandbox, offer)),
});

/** @throws ApiError for an unknown sort key */
function sorted(sandbox: Sandbox, list: readonly WorldOffer[], sort: string): readonly WorldOffer[] {
  const keys: Record<string, (offer: WorldOffer) => number> = {
    total_amount: (offer) => currentCents(sandbox, offer),
    total_duration: ({ offer }) => Date.parse(`${offer.arriving_at}Z`) - Date.parse(`${offer.departing_at}Z`),
  };
  const name = sort.replace(/^-/, '');
  if (name === '') return list;
  const keyOf = keys[name];
  if (!keyOf) throw invalid(['sort', 'validation_inclusion', `must be one of ${Object.keys(keys).join(', ')}`]);
  const sign = sort.startsWith('-') ? -1 : 1;
  return [...list].sort((a, b) => sign * (keyOf(a) - keyOf(b)));
}

const PRICE_STEP_CENTS = 1_000;

/** Services are shown on request. */
async function getOffer(asked: Asked, id: string): Promise<HttpResponse> {
  const { books, clock, search } = asked;
  const offer = offerOf(asked, id);
  const behaviour = behaviourOn(asked, 'offer', offer.request);
  const failed = await misbehaved(asked, behaviour);
  if (failed) return failed;
  const isBooked = books.orders.all().some(({ offerId }) => offerId === id);
  if (!isBooked && clock.now() >= expiresAtMs(offer)) throw refused('offer_no_longer_available');
  const before = books.offers.get(id) ?? { reads: 0, raisedCents: 0 };
  const { bagCents = 0, seatCents = 0 } = before;
  const { reads } = books.offers.put(id, {
    reads: before.reads + 1,
    raisedCents: before.raisedCents + (behaviour === 'price_up' && !isBooked ? PRICE_STEP_CENTS : 0),
    ...(bagCents !== 0 && { bagCents }),
    ...(behaviour === 'bags_up' && { bagCents: (bagCents ?? 0) + PRICE_STEP_CENTS }),
    ...(behaviour === 'bags_gone' && { bagCents: null }),
    ...(seatCents !== 0 && { seatCents }),
    ...(behaviour === 'seats_up' && { seatCents: (seatCents ?? 0) + PRICE_STEP_CENTS }),
    ...(behaviour === 'seats_gone' && { seatCents: null }),
  });
  return data(dressedOffer(asked, offer, search.get('return_available_services') === 'true' ? reads : null));
}

/** @throws ApiError with every wrong field */
function readSearch(sandbox: Sandbox, body: Body) {
  const issues: Issue[] = [];
  const given = listOf(body.slices);
  if (given.length === 0) issues.push(['slices', 'validation_required', "can't be blank"]);
  const slices = given.map((slice, at) => readSlice(sandbox, slice, `slices/${at}`, issues));
  const travelling = listOf(body.passengers);
  if (travelling.length < 1 || travelling.length > MOST_PASSENGERS)
    issues.push(['passengers', 'validation_length', `must have between 1 and ${MOST_PASSENGERS} items`]);
  const ages = travelling.map((passenger, at) => readAge(passenger, `passengers/${at}`, issues));
  const cabinClass = CABINS.find((cabin) => cabin === (body.cabin_class ?? 'economy'));
  if (!cabinClass) issues.push(['cabin_class', 'validation_inclusion', `must be one of ${CABINS.join(', ')}`]);
  const maxConnections = body.max_connections ?? 1;
  if (typeof maxConnections !== 'number' || !Number.isInteger(maxConnections) || maxConnections < 0)
    issues.push(['max_connections', 'validation_type', 'must be an integer']);
  if (issues.length > 0 || !cabinClass) throw invalid(...issues);
  return { slices, ages, cabinClass, maxConnections: Number(maxConnections) };
}

export function readSlice(sandbox: Sandbox, slice: Body, at: string, issues: Issue[]) {
  const { origin, destination, departure_date } = slice;
  for (const [name, value] of Object.entries({ origin, destination })) {
    if (typeof value !== 'string' || !/^[A-Z]{3}$/.test(value))
      issues.push([`${at}/${name}`, 'validation_format', 'must be an IATA code']);
    else if (airportsOf(value, sandbox.world.airports).length === 0)
      issues.push([`${at}/${name}`, 'linked_record_not_found', 'is no place that exists']);
  }
  if (typeof departure_date !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(departure_date))
    issues.push([`${at}/departure_date`, 'validation_format', 'must be a date']);
  else if (departure_date < today(sandbox))
    issues.push([`${at}/departure_date`, 'validation_inclusion', 'must be after today']);
  return { origin: String(origin), destination: String(destination), departure_date: String(departure_date) };
}

/** Null for an adult. A traveller has a type or an age, never both. */
function readAge({ type, age }: Body, at: string, issues: Issue[]): number | null {
  if (age === undefined && type === 'adult') return null;
  if (age !== undefined && type !== undefined)
    issues.push([at, 'validation_inclusion', 'must have either a type or an age']);
  else if (age === undefined && type === undefined)
    issues.push([at, 'validation_required', 'must have a type or an age']);
  else if (age === undefined) issues.push([`${at}/type`, 'validation_inclusion', 'must be adult; give an age']);
  else if (typeof age !== 'number' || !Number.isInteger(age) || age < 0 || age > 130)
    issues.push([`${at}/age`, 'validation_type', 'must be an integer']);
  return Number(age);
}

/** Partial offers' indexes begin here, and encode a whole offer and a direction. */
const PARTIAL = 10_000;
const OFFERS = 2_000;

/** Names a slice's flights, alike for every seller. */
export const flightsOf = ({ segments }: Slice): string =>
  segments.map(({ flight_number, departing_at }) => `${flight_number} ${departing_at}`).join(', ');

/** @throws ApiError for an offer of another search */
function selectedIn({ ids, search, world }: Asked, request: OfferRequestRecord): string[] {
  const given = [...search.getAll('selected_partial_offer[]'), ...search.getAll('selected_partial_offer')];
  return given.map((id, at) => {
    const read = ids.read('off', id);
    const place = (read?.index ?? 0) - PARTIAL;
    const slice = world.offers(request)[place % OFFERS]?.offer.slices[at];
    if (read?.number === request.number && Math.floor(place / OFFERS) === at && slice) return flightsOf(slice);
    const message = 'must be partial offers of this request, a direction after the other';
    throw invalid(['selected_partial_offer', 'linked_record_not_found', message]);
  });
}

const matching = ({ world }: Sandbox, request: OfferRequestRecord, selected: readonly string[]) =>
  world
    .offers(request)
    .filter(({ offer: { slices } }) =>
      selected.every((flights, at) => slices[at] && flightsOf(slices[at]) === flights),
    );

/** Shows the cheapest offer of each choice of flights for the next direction. */
function partialRequest(sandbox: Sandbox, request: OfferRequestRecord, selected: readonly string[]): object {
  const { ids } = sandbox;
  const at = selected.length;
  const choices = new Map<string, WorldOffer>();
  for (const one of matching(sandbox, request, selected)) {
    const slice = one.offer.slices[at];
    const known = slice && choices.get(flightsOf(slice));
    if (slice && (!known || one.totalCents < known.totalCents)) choices.set(flightsOf(slice), one);
  }
  return {
    ...dressedRequest(sandbox, request),
    id: ids.numbered('prq', request.number),
    offers: [...choices.values()].map((offer) => {
      const whole = dressedOffer(sandbox, offer);
      return {
        ...whole,
        id: ids.numbered('off', request.number, PARTIAL + at * OFFERS + offer.index),
        partial: true,
        slices: whole.slices.slice(at, at + 1),
      };
    }),
  };
}
