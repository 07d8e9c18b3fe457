import { createRouter, MOST_BODY_BYTES, type Route, type RouteTable, readBytes, routesOf } from '../../http/index.ts';
import { type HttpRequest, HttpResponse, headerOf } from '../../kernel/http.ts';
import { silentLog } from '../../kernel/log.ts';
import {
  cancelByAirline,
  changeSchedule,
  changeSettings,
  showBehaviours,
  showOrders,
  turnBehaviours,
} from './admin.ts';
import { confirmCancellation, createCancellation, getCancellation, listCancellations } from './cancellation-calls.ts';
import { acceptChange, listChanges, updateChange } from './change-calls.ts';
import { ApiError, type KindName, refused } from './errors.ts';
import {
  createPartialRequest,
  getPartialFares,
  getPartialRequest,
  getSeatMaps,
  updatePassenger,
  upsell,
} from './offer-calls.ts';
import { createOrder, getOrder, listOrders, updateOrder } from './order-calls.ts';
import {
  confirmChange,
  createChange,
  createChangeRequest,
  getChange,
  getChangeOffer,
  getChangeRequest,
  listChangeOffers,
} from './order-change-calls.ts';
import { page } from './paging.ts';
import { addServices, availableServices, createPayment } from './payment-calls.ts';
import { placeOf } from './places.ts';
import {
  getAircraft,
  getAirline,
  getLoyalty,
  listAircraft,
  listAirlines,
  listLoyalty,
  suggestPlaces,
} from './reference-calls.ts';
import { type Asked, data, rateLimitHeaders, type Sandbox } from './sandbox.ts';
import {
  createBatchRequest,
  createOfferRequest,
  getBatchRequest,
  getOffer,
  getOfferRequest,
  listOfferRequests,
  listOffers,
  priceOffer,
} from './search-calls.ts';
import {
  createWebhook,
  deleteWebhook,
  getEvent,
  getWebhook,
  listDeliveries,
  listEvents,
  listWebhooks,
  pingWebhook,
  redeliver,
  updateWebhook,
} from './webhook-calls.ts';

/** GET /air/airports */
async function listAirports(asked: Asked): Promise<HttpResponse> {
  const country = asked.search.get('iata_country_code');
  const airports = [...asked.sandbox.world.airports].filter(
    ([, place]) => country === null || place.country === country,
  );
  return page(asked, airports, ([iata, place]) => placeOf(place, iata));
}

/** GET /air/airports/{id} */
async function getAirport({ sandbox }: Asked, id: string): Promise<HttpResponse> {
  const iata = (/^arp_([a-z]{3})_/.exec(id)?.[1] ?? '').toUpperCase();
  const place = sandbox.world.airports.get(iata);
  if (!place) throw refused('not_found');
  return data(placeOf(place, iata));
}

/** Does the work of a route, with the parameters of its path; what is not there is empty. */
type Work = (asked: Asked, id: string, second: string) => Promise<HttpResponse>;

/** Every status that a call may answer with: what it was made to answer with decides. */
const ANSWERS = Object.fromEntries(
  [200, 201, 202, 204, 400, 401, 403, 404, 405, 413, 422, 429, 444, 500, 502, 503, 504].map((status) => [
    status,
    { description: 'As the API, or as the switches say.' },
  ]),
);

const made = routesOf<Asked>();
const route = (method: Route<Asked>['method'], path: string, id: string, summary: string, work: Work): Route<Asked> =>
  made({
    method,
    path,
    id,
    summary,
    answers: ANSWERS,
    codes: ['payload_too_large', 'body_incomplete'],
    run: async ({ context, params }) => {
      try {
        const [id = '', second = ''] = Object.values<string>(params);
        return await work(context, id, second);
      } catch (error) {
        if (error instanceof ApiError) return error.response(context.requestId);
        throw error;
      }
    },
  });
const get = (path: string, id: string, summary: string, work: Work) => route('GET', path, id, summary, work);
const post = (path: string, id: string, summary: string, work: Work) => route('POST', path, id, summary, work);

const patch = (path: string, id: string, summary: string, work: Work) => route('PATCH', path, id, summary, work);

const ROUTES: RouteTable<Asked> = {
  unknown: 'not_found',
  routes: [
    post('/air/offer_requests', 'createOfferRequest', 'Searches.', createOfferRequest),
    get('/air/offer_requests/{id}', 'getOfferRequest', 'A search with its offers.', getOfferRequest),
    get('/air/offer_requests', 'listOfferRequests', 'Searches, in pages.', listOfferRequests),
    post('/air/batch_offer_requests', 'createBatchRequest', 'Searches in batches.', createBatchRequest),
    get('/air/batch_offer_requests/{id}', 'getBatchRequest', 'The next batch of offers.', getBatchRequest),
    get('/air/offers', 'listOffers', 'The offers of a search, in pages.', listOffers),
    get('/air/offers/{id}', 'getOffer', 'An offer as it is now.', getOffer),
    post('/air/offers/{id}/actions/price', 'priceOffer', 'The price of now.', priceOffer),
    post('/air/offers/{id}/upsell', 'upsell', 'Dearer fares of the same flights.', upsell),
    patch('/air/offers/{id}/passengers/{passenger_id}', 'updatePassenger', 'Names a traveller.', updatePassenger),
    get('/air/seat_maps', 'getSeatMaps', 'The seats of an offer.', getSeatMaps),
    post('/air/partial_offer_requests', 'createPartial', 'Searches by direction.', createPartialRequest),
    get('/air/partial_offer_requests/{id}', 'getPartial', 'The next direction.', getPartialRequest),
    get('/air/partial_offer_requests/{id}/fares', 'getPartialFares', 'Whole offers.', getPartialFares),
    get('/air/airlines', 'listAirlines', 'Airlines, in pages.', listAirlines),
    get('/air/airlines/{id}', 'getAirline', 'An airline.', getAirline),
    get('/air/aircraft', 'listAircraft', 'Aircraft, in pages.', listAircraft),
    get('/air/aircraft/{id}', 'getAircraft', 'An aircraft.', getAircraft),
    get('/air/loyalty_programmes', 'listLoyalty', 'Loyalty programmes.', listLoyalty),
    get('/air/loyalty_programmes/{id}', 'getLoyalty', 'A loyalty programme.', getLoyalty),
    get('/places/suggestions', 'suggestPlaces', 'Places by the start of their names.', suggestPlaces),
    get('/air/airports', 'listAirports', 'Airports, in pages.', listAirports),
    get('/air/airports/{id}', 'getAirport', 'An airport.', getAirport),
    post('/air/orders', 'createOrder', 'Orders.', createOrder),
    get('/air/orders', 'listOrders', 'Orders by filters, in pages.', listOrders),
    get('/air/orders/{id}', 'getOrder', 'An order.', getOrder),
    patch('/air/orders/{id}', 'updateOrder', 'Changes its metadata.', updateOrder),
    get('/air/orders/{id}/available_services', 'availableServices', 'What can be added to it.', availableServices),
    post('/air/orders/{id}/services', 'addServices', 'Adds bags to it.', addServices),
    post('/air/payments', 'createPayment', 'Pays an order that is held.', createPayment),
    post('/air/order_change_requests', 'createChangeRequest', 'Looks for others.', createChangeRequest),
    get('/air/order_change_requests/{id}', 'getChangeRequest', 'What was looked for.', getChangeRequest),
    get('/air/order_change_offers', 'listChangeOffers', 'What was found.', listChangeOffers),
    get('/air/order_change_offers/{id}', 'getChangeOffer', 'One of these.', getChangeOffer),
    post('/air/order_changes', 'createChange', 'Chooses one.', createChange),
    get('/air/order_changes/{id}', 'getChange', 'What was chosen.', getChange),
    post('/air/order_changes/{id}/actions/confirm', 'confirmChange', 'Changes the order.', confirmChange),
    post('/air/order_cancellations', 'createCancellation', 'Quotes a cancellation.', createCancellation),
    get('/air/order_cancellations', 'listCancellations', 'Cancellations, in pages.', listCancellations),
    get('/air/order_cancellations/{id}', 'getCancellation', 'A cancellation.', getCancellation),
    post(
      '/air/order_cancellations/{id}/actions/confirm',
      'confirmCancellation',
      'Cancels an order.',
      confirmCancellation,
    ),
    get('/air/airline_initiated_changes', 'listChanges', 'Changes by airlines.', listChanges),
    patch('/air/airline_initiated_changes/{id}', 'updateChange', 'Says what became of it.', updateChange),
    post('/air/airline_initiated_changes/{id}/actions/accept', 'acceptChange', 'Accepts one.', acceptChange),
    post('/air/webhooks', 'createWebhook', 'Registers who is told.', createWebhook),
    get('/air/webhooks', 'listWebhooks', 'Who is told.', listWebhooks),
    get('/air/webhooks/events', 'listEvents', 'Everything that was told.', listEvents),
    get('/air/webhooks/events/{id}', 'getEvent', 'One of these.', getEvent),
    post('/air/webhooks/events/{id}/actions/redeliver', 'redeliver', 'Tells it again.', redeliver),
    get('/air/webhooks/deliveries', 'listDeliveries', 'How it was told.', listDeliveries),
    get('/air/webhooks/{id}', 'getWebhook', 'One of them.', getWebhook),
    patch('/air/webhooks/{id}', 'updateWebhook', 'Moves it, or turns it off.', updateWebhook),
    route('DELETE', '/air/webhooks/{id}', 'deleteWebhook', 'Forgets it.', deleteWebhook),
    post('/air/webhooks/{id}/actions/ping', 'pingWebhook', 'Tells nothing, to try it.', pingWebhook),
    get('/sandbox/behaviours', 'showBehaviours', 'The switches.', showBehaviours),
    post('/sandbox/behaviours', 'turnBehaviours', 'Turns switches.', turnBehaviours),
    post('/sandbox/settings', 'changeSettings', 'Balance, limits, sizes.', changeSettings),
    get('/sandbox/orders', 'showOrders', 'The books.', showOrders),
    post(
      '/sandbox/orders/{id}/airline_cancellation',
      'cancelByAirline',
      'Ends an order by its airline.',
      cancelByAirline,
    ),
    post('/sandbox/orders/{id}/schedule_change', 'changeSchedule', 'Moves flights.', changeSchedule),
  ],
};

/** As the API's own test mode has it: so many calls a minute for a token. */
const CALLS_PER_MINUTE = 4_000;

/**
 * The sandbox of the Duffel flights API v2: its public documentation as a real HTTP service over the sandbox airline's
 * world, with books of its own, which misbehaves when it is told to (docs/sandbox.md). It is another company: it knows
 * the service by its calls alone.
 */
export function createDuffelApp(sandbox: Sandbox): { fetch(request: HttpRequest): Promise<HttpResponse> } {
  let minute = 0;
  let calls = 0;
  return {
    async fetch(request) {
      const url = new URL(request.url);
      const isOwn = url.pathname.startsWith('/sandbox/');
      const requestId = sandbox.ids.hashed('req', sandbox.books.count('call')).slice(8);
      const nowMs = sandbox.clock.now();
      const limit = sandbox.books.settings.get('rate_limit') ?? CALLS_PER_MINUTE;
      if (!isOwn) {
        calls = Math.floor(nowMs / 60_000) === minute ? calls + 1 : 1;
        minute = Math.floor(nowMs / 60_000);
      }
      const budget = rateLimitHeaders(nowMs, limit, limit - calls);
      const refusal = isOwn ? null : turnedAway(request, calls > limit);
      const answer = refusal?.response(requestId) ?? (await served(sandbox, request, url, requestId));
      return new HttpResponse(answer.status, answer.body, { ...budget, ...answer.headers, 'x-request-id': requestId });
    },
  };
}

/** Why a call is not even looked at; null: it is let in. */
function turnedAway(request: HttpRequest, isTooMuch: boolean): ApiError | null {
  const token = /^Bearer (\S+)$/.exec(headerOf(request, 'authorization') ?? '')?.[1];
  if (token === undefined) return refused('missing_authorization_header');
  if (!token.startsWith('duffel_test_')) return refused('access_token_not_found');
  const version = headerOf(request, 'duffel-version');
  if (version === null) return refused('missing_version_header');
  if (version !== 'v2') return refused('unsupported_version');
  return isTooMuch ? refused('rate_limit_exceeded') : null;
}

/** The query goes by another way than the router's: the API takes names that are given twice. */
function served(sandbox: Sandbox, request: HttpRequest, url: URL, requestId: string): Promise<HttpResponse> {
  const asked: Asked = {
    sandbox,
    search: url.searchParams,
    requestId,
    signal: request.signal,
    data: () => dataOf(request, url.pathname.startsWith('/sandbox/')),
  };
  const router = createRouter({
    table: ROUTES,
    log: silentLog,
    ids: { next: () => requestId },
    enter: () => asked,
    failure: ({ code }) => refused(failureOf(code)).response(requestId),
  });
  // The API takes a slash at the end, which its own client sends.
  return router({ ...request, url: url.origin + url.pathname.replace(/\/+$/, '') });
}

const failureOf = (code: string): KindName =>
  code === 'not_found' || code === 'method_not_allowed' || code === 'payload_too_large'
    ? code
    : 'internal_server_error';

const read = new WeakMap<HttpRequest, Readonly<Record<string, unknown>>>();

/** The `data` of a body, or the body itself where it is the sandbox's own. @throws ApiError */
async function dataOf(request: HttpRequest, isOwn: boolean): Promise<Readonly<Record<string, unknown>>> {
  const known = read.get(request);
  if (known) return known;
  const text = new TextDecoder().decode(await readBytes(request, MOST_BODY_BYTES));
  const body = objectOf(parsed(text));
  const data = isOwn ? body : objectOf(body?.data);
  if (data === null) throw refused('malformed_json');
  read.set(request, data);
  return data;
}

const objectOf = (value: unknown): Readonly<Record<string, unknown>> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What is no JSON is refused like a body without data.
    return null;
  }
}
