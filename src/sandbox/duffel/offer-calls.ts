import type { HttpResponse } from '../../kernel/http.ts';
import type { Slice } from '../../wire/flights/index.ts';
import type { OfferRequestRecord } from './books.ts';
import { dressedOffer } from './dress.ts';
import { invalid, refused } from './errors.ts';
import { passengerIds } from './names.ts';
import { type Asked, data, foundOffer, type Sandbox } from './sandbox.ts';
import { dressedRequest, listOf, searched, shown } from './search-calls.ts';
import { seatMaps } from './services.ts';
import type { WorldOffer } from './world.ts';

/** Calls about offers that Farelock itself does not make: direction by direction, seats, dearer fares, travellers. */

/** Ids of partial offers are told from those of whole ones by their place, and name one whole offer and a direction. */
const PARTIAL = 10_000;
const OFFERS = 2_000;

/** The flights of a direction, whoever sells them. */
export const flightsOf = ({ segments }: Slice): string =>
  segments.map(({ flight_number, departing_at }) => `${flight_number} ${departing_at}`).join(', ');

/** POST /air/partial_offer_requests: searches, and answers with the first direction of what was found. */
export async function createPartialRequest(asked: Asked): Promise<HttpResponse> {
  const made = await searched(asked);
  return 'request' in made ? data(partialRequest(asked.sandbox, made.request, []), 201) : made;
}

/** GET /air/partial_offer_requests/{id}: the next direction, after those that were selected. */
export async function getPartialRequest({ sandbox, search }: Asked, id: string): Promise<HttpResponse> {
  const request = partialById(sandbox, id);
  return data(partialRequest(sandbox, request, selectedIn(sandbox, request, search)));
}

/** GET /air/partial_offer_requests/{id}/fares: whole offers of the selected directions. */
export async function getPartialFares({ sandbox, search }: Asked, id: string): Promise<HttpResponse> {
  const request = partialById(sandbox, id);
  const offers = matching(sandbox, request, selectedIn(sandbox, request, search));
  return data({
    ...dressedRequest(sandbox, request, request.slices, false),
    id,
    offers: offers.map((offer) => shown(sandbox, request, offer)),
  });
}

function partialById({ books, ids }: Sandbox, id: string): OfferRequestRecord {
  const read = ids.read('prq', id);
  const request = read && books.requests.get(read.number);
  if (!request) throw refused('not_found');
  return request;
}

/** The flights of each selected direction. @throws ApiError for one that is not of this search */
function selectedIn({ ids, world }: Sandbox, request: OfferRequestRecord, search: URLSearchParams): string[] {
  const given = [...search.getAll('selected_partial_offer[]'), ...search.getAll('selected_partial_offer')];
  return given.map((id, at) => {
    const read = ids.read('off', id);
    const place = (read?.index ?? 0) - PARTIAL;
    const slice = world.offers(request)[place % OFFERS]?.offer.slices[at];
    if (read?.number !== request.number || Math.floor(place / OFFERS) !== at || !slice)
      throw invalid([
        {
          at: 'selected_partial_offer',
          code: 'linked_record_not_found',
          message: 'must be partial offers of this request, a direction after the other',
        },
      ]);
    return flightsOf(slice);
  });
}

const matching = ({ world }: Sandbox, request: OfferRequestRecord, selected: readonly string[]) =>
  world
    .offers(request)
    .filter(({ offer }) =>
      selected.every((flights, at) => offer.slices[at] && flightsOf(offer.slices[at]) === flights),
    );

/** The cheapest offer for each choice of flights in the next direction, shown as that direction alone. */
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
    ...dressedRequest(sandbox, request, request.slices, false),
    id: ids.numbered('prq', request.number),
    offers: [...choices.values()].map((offer) => {
      const whole = shown(sandbox, request, offer) as { slices: readonly object[] };
      return {
        ...whole,
        id: ids.numbered('off', request.number, PARTIAL + at * OFFERS + offer.index),
        partial: true,
        slices: whole.slices.slice(at, at + 1),
      };
    }),
  };
}

/** GET /air/seat_maps?offer_id= */
export async function getSeatMaps({ sandbox, search }: Asked): Promise<HttpResponse> {
  const { request, offer } = offerOf(sandbox, search.get('offer_id') ?? '');
  return data(seatMaps(sandbox.ids, request, offer));
}

/** POST /air/offers/{id}/upsell: dearer fares of the same seller on the same flights. */
export async function upsell({ sandbox }: Asked, id: string): Promise<HttpResponse> {
  const { request, offer } = offerOf(sandbox, id);
  const flights = offer.offer.slices.map(flightsOf);
  const others = matching(sandbox, request, flights).filter(
    ({ ownerName, totalCents }) => ownerName === offer.ownerName && totalCents > offer.totalCents,
  );
  return data(others.map((one) => dressedOffer(sandbox, request, one, undefined, null)));
}

/** PATCH /air/offers/{id}/passengers/{passenger_id}: echoed, and kept nowhere. */
export async function updatePassenger(asked: Asked, id: string, passengerId: string): Promise<HttpResponse> {
  const { request } = offerOf(asked.sandbox, id);
  const position = passengerIds(asked.sandbox.ids, request).indexOf(passengerId);
  if (position < 0) throw refused('not_found');
  const { given_name = null, family_name = null, loyalty_programme_accounts } = await asked.data();
  const age = request.ages[position] ?? null;
  return data({
    id: passengerId,
    type: age === null ? 'adult' : null,
    age,
    given_name,
    family_name,
    loyalty_programme_accounts: listOf(loyalty_programme_accounts),
  });
}

function offerOf(sandbox: Sandbox, id: string) {
  const found = foundOffer(sandbox, id);
  if (!found) throw refused('not_found');
  return found;
}
