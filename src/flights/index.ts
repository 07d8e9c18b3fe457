import type { Provider } from '../airlines/index.ts';
import { createEffects } from '../effects/index.ts';
import { createRouter, type Serve, servedAt, type Visit } from '../http/index.ts';
import { once } from '../kernel/once.ts';
import { isProblem, problem } from '../kernel/problems.ts';
import { createOutbox } from '../notify/index.ts';
import { carriesPayment } from '../payments/index.ts';
import {
  createAirlineChecks,
  defaultOptions,
  type FlightsGiven,
  type FlightsPorts,
  watchBehind,
} from './base/index.ts';
import { createEscrows, createFunds, withOurOrders } from './bookings/index.ts';
import { loadDeskRoutes } from './desk/index.ts';
import { createPricing } from './offers/index.ts';
import type { Reconciling } from './reconcile/index.ts';
import { type FlightsParts, flightRoutes } from './routes.ts';
import { createWorker } from './upkeep/index.ts';

export type { FlightsGiven, FlightsOptions } from './base/index.ts';
export { turnSwitch } from './base/index.ts';
export * from './migrations.ts';
export type { WorkerRun } from './upkeep/index.ts';

/** Creates the flight service: its HTTP app (`.fetch`) and its booking worker. Opens nothing yet. */
export function createFlights(given: FlightsGiven) {
  const options = { ...defaultOptions, ...given.options };
  const pricing = createPricing({ ...given, options });
  const slowed = async (retryAfter: number | undefined) => {
    checks.slowed(retryAfter);
    await pricing.rateLimited();
  };
  const provider =
    given.provider && withOurOrders(noticingRateLimits(given.provider, slowed), given.lowcost, given.store);
  const checks = createAirlineChecks({
    clock: given.clock,
    options,
    paid: { provider, lowcost: given.lowcost },
    unpaid: given,
  });
  const isBehind = watchBehind(given);
  const ports: FlightsPorts = {
    ...given,
    options,
    provider,
    checks,
    isBehind,
    effects: createEffects({ ...given, isHeld: isBehind }),
    outbox: createOutbox({ ...given, transports: given.transports ?? null }),
  };
  const escrows = createEscrows(ports);
  const funds = createFunds(ports);
  const document = once(async () => (await import('./openapi.ts')).openapiDocument(options));
  const readiness = once(async () => (await import('./readiness.ts')).createReadiness(ports, funds));
  const parts: FlightsParts = {
    ...{ ports, escrows, pricing, funds },
    readiness: async () => (await readiness())(),
    describe: async (publicUrl) => servedAt(await document(), publicUrl),
  };
  const served = {
    log: ports.log,
    ids: ports.ids,
    // Calls that move money are POSTs or carry a payment, as a GET of an order does.
    arrive: async ({ request }: Visit) => {
      const moves = request.method === 'POST' && MOVES_MONEY.test(new URL(request.url).pathname);
      if (moves && (await isBehind())) throw problem('database_behind', { retryAfter: BEHIND_S });
      if (request.method !== 'GET' || carriesPayment(request.headers)) await ports.ready?.();
    },
  };
  const customers = createRouter({ ...served, table: flightRoutes, enter: () => parts });
  const fetch: Serve = async (request, connection) => {
    if (!/^\/operator(\/|$)/.test(new URL(request.url).pathname)) return customers(request, connection);
    const { deskRoutes, enterDesk } = await loadDeskRoutes();
    return createRouter({ ...served, table: deskRoutes, enter: enterDesk(ports) })(request, connection);
  };
  const worker = createWorker(ports, escrows, funds);
  return {
    app: { fetch },
    worker,
    outbox: ports.outbox,
    /** Compares a restored database with the cluster and the airlines, which may know of later acts. */
    reconcile: async (how: Reconciling) => (await import('./reconcile/index.ts')).reconcile(ports, how),
  };
}

/** Calls that are refused while the database is behind: creations, bookings, refunds, and decisions about them. */
const MOVES_MONEY =
  /^\/air\/(intents|book|refund-requests)$|^\/operator\/(refund-requests\/[^/]+\/(approve|reject)|stuck\/[^/]+\/resolve)$/;
const BEHIND_S = 60;

/** Raises the price of searches for a while after the provider rate-limits a call (CONTRACT, section 2). */
function noticingRateLimits(provider: Provider, slowed: (retryAfter: number | undefined) => Promise<void>): Provider {
  const noting = async <T>(call: Promise<T>): Promise<T> => {
    try {
      return await call;
    } catch (error) {
      if (isProblem(error, 'upstream_rate_limited')) await slowed(error.retryAfter);
      throw error;
    }
  };
  return {
    ...provider,
    search: (query) => noting(provider.search(query)),
    offer: (offerId, moment) => noting(provider.offer(offerId, moment)),
    createOrder: (request) => noting(provider.createOrder(request)),
    findOrder: (reference, offerId) => noting(provider.findOrder(reference, offerId)),
    order: (id) => noting(provider.order(id)),
    cancel: (id, quoteId) => noting(provider.cancel(id, quoteId)),
  };
}
