import { problem } from '../../kernel/problems.ts';
import type { Offer } from '../../wire/flights/index.ts';
import { isRoundTrip, type OfferQuery } from '../provider.ts';
import { readOffer } from './offers.ts';
import { list, offerRequestId } from './read.ts';
import { type Answer, type DuffelPorts, dataOf, failed, isOk } from './transport.ts';

const OFFERS_A_PAGE = 200;
const MOST_PAGES = 25;
/** Duffel's own default patience with airlines. */
const AIRLINES_MS = 20_000;
/** Covers all pages: the search's payment lives 60 seconds and is settled afterwards. */
const SEARCH_MS = 45_000;

/**
 * Asks every airline of Duffel's for offers on fixed dates, cheapest first.
 * @throws Problem `airport_unknown`, `upstream_rate_limited`, `provider_failed`
 */
export async function searchOffers(ports: DuffelPorts, query: OfferQuery): Promise<Offer[]> {
  const { transport, clock } = ports;
  const untilMs = clock.now() + SEARCH_MS;
  const asked = await transport.ask({
    operation: 'search',
    method: 'POST',
    path: `/air/offer_requests?return_offers=false&supplier_timeout=${AIRLINES_MS}`,
    body: offerRequest(query),
    lane: 'search',
    isRefusable: true,
    mostMs: SEARCH_MS,
  });
  checkPlaces(asked, query);
  const requestId = offerRequestId(dataOf(asked).id);
  if (requestId === null) throw failed(asked);
  return readPages(ports, requestId, untilMs);
}

/** @throws Problem `airport_unknown` for a place that Duffel does not know */
function checkPlaces({ status, pointers }: Answer, query: OfferQuery): void {
  if (status !== 400 && status !== 422) return;
  const paths = pointers.flatMap((pointer) => {
    const [, slice, end] = /slices\/(\d)\/(origin|destination)$/.exec(pointer) ?? [];
    if (end === undefined) return [];
    if (!isRoundTrip(query)) return [`slices.${slice}.${end}`];
    // The return swaps origin and destination.
    return [(slice === '0') === (end === 'origin') ? 'origin_iata' : 'destination_iata'];
  });
  if (paths.length === 0) return;
  const issues = [...new Set(paths)].map((path) => ({ path, message: 'is not an airport that the airlines know.' }));
  throw problem('airport_unknown', { detail: { issues } });
}

/** Reads all pages in time. Skips later ones, which have the highest prices, as the payment would expire. */
async function readPages({ transport, zones, clock, log }: DuffelPorts, requestId: string, untilMs: number) {
  const offers = new Map<string, Offer>();
  const dropped = new Map<string, number>();
  const missing = (field: string): null => {
    dropped.set(field, (dropped.get(field) ?? 0) + 1);
    return null;
  };
  const cursors = new Set<string>();
  for (let after: string | null = ''; after !== null && !cursors.has(after); ) {
    const leftMs = untilMs - clock.now();
    if (leftMs <= 0 && offers.size === 0) throw problem('provider_failed', { detail: { airline_code: 'too_slow' } });
    if (leftMs <= 0 || cursors.size === MOST_PAGES) {
      log('warn', 'duffel_search_cut_off', { offer_request_id: requestId, offers: offers.size });
      break;
    }
    cursors.add(after);
    const limit = String(OFFERS_A_PAGE);
    const query = new URLSearchParams({ offer_request_id: requestId, limit, sort: 'total_amount' });
    if (after !== '') query.set('after', after);
    const path = `/air/offers?${query}`;
    const page = await transport.ask({ operation: 'offers', path, isRefusable: true, mostMs: leftMs });
    const given = list(page.data);
    if (!isOk(page) || !given) throw failed(page);
    for (const one of given) {
      const offer = readOffer(one, { zones, missing });
      if (offer) offers.set(offer.offer_id, offer);
    }
    after = page.after;
  }
  for (const [field, times] of dropped) {
    log('warn', 'duffel_offers_dropped', { offer_request_id: requestId, missing: field, offers: times });
  }
  // Unreadable offers are a failure, never sold as an empty list.
  if (offers.size === 0 && dropped.size > 0) {
    throw problem('provider_failed', { message: "None of the airline's offers can be read." });
  }
  return [...offers.values()];
}

function offerRequest({ slices, adults, childAges, cabinClass }: OfferQuery) {
  return {
    slices: slices.map(({ origin, destination, departDate }) => ({ origin, destination, departure_date: departDate })),
    // A type or an age, never both: Duffel tells infants and children by their ages.
    passengers: [...Array.from({ length: adults }, () => ({ type: 'adult' })), ...childAges.map((age) => ({ age }))],
    cabin_class: cabinClass,
  };
}
