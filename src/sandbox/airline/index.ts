import {
  type OfferMoment,
  OrderRefused,
  type OrderRequest,
  type Provider,
  type ProviderOrder,
  type Scenario,
} from '../../airlines/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { parseUsdc } from '../../kernel/money.ts';
import { once } from '../../kernel/once.ts';
import { problem } from '../../kernel/problems.ts';
import type { OnTrouble } from '../../store/libsql/index.ts';
import { createItineraries } from './itineraries.ts';
import { type ReadOffer, readOffer } from './live-offer.ts';
import { createNetwork } from './network.ts';
import { createOfferIds } from './offer-id.ts';
import type { OrderBook } from './orders.ts';
import { RATE_LIMIT_RETRY_SECONDS, scenarioOn, TICKETING_SLOW_BY } from './scenarios.ts';
import { searchOffers } from './search.ts';
import { createTimetable } from './timetable.ts';
import { createWorld } from './world.ts';

export { distanceKm, readAirports } from './airports.ts';
export { createItineraries } from './itineraries.ts';
export { createNetwork } from './network.ts';
export { createOfferIds } from './offer-id.ts';
export { airlineMigrations, recordLocator, tickets } from './orders.ts';
export { centsOf, decimalOf } from './prices.ts';
export { searchOffers } from './search.ts';
export { createTimetable } from './timetable.ts';
export * from './world.ts';

export const loadWorld = () => import('./world.ts');

export { type Airport, airportByCode } from './airports.ts';
export { SCENARIO_ROUTES } from './scenarios.ts';

export interface SandboxOptions {
  /** The same seed is the same world. */
  readonly seed: string;
  readonly clock: Clock;
  /** The failure on every route; the routes of SCENARIO_ROUTES have their own. */
  readonly scenario?: Scenario | undefined;
  /** From an order's confirmation to its ticket, milliseconds. */
  readonly ticketingMs: number;
  /** Path of the airline's own database file. Opened on the first order, never by a search. */
  readonly orders: string;
  /** Called for trouble with that file. */
  readonly onTrouble?: OnTrouble | undefined;
}

export interface SandboxProvider extends Provider {
  /** Its own book: it knows for certain. */
  findOrder(reference: string): Promise<ProviderOrder | null>;
  close(): Promise<void>;
}

/** The options of the sandbox, its world and its records. */
interface Airline extends SandboxOptions {
  readonly scenario: Scenario;
  readonly sandbox: () => Sandbox;
  readonly book: () => Promise<OrderBook>;
}

/**
 * A deterministic airline world over real airports and invented airlines: nothing is stored for a search, and every
 * process with the same seed sees the same flights and, at the same moment, the same prices.
 */
export function createSandboxProvider(options: SandboxOptions): SandboxProvider {
  const { clock } = options;
  const sandbox = lazily(() => openSandbox(options.seed));
  const book = once(
    async (): Promise<OrderBook> => (await import('./orders.ts')).openOrderBook(options.orders, options.onTrouble),
  );
  const airline: Airline = { ...options, scenario: options.scenario ?? 'none', sandbox, book };
  return {
    name: 'sandbox',
    isSandbox: true,
    airport(iata) {
      const found = sandbox().world.byCode(iata);
      return found ? { name: found.name, city: found.city, country: found.country, timeZone: found.timeZone } : null;
    },
    async search(query) {
      if (scenarioOn(airline.scenario, query.origin, query.destination) === 'rate_limited') {
        throw problem('upstream_rate_limited', { retryAfter: RATE_LIMIT_RETRY_SECONDS });
      }
      const { world, itineraries, ids } = sandbox();
      return searchOffers(world, itineraries, ids, query, clock.now());
    },
    async offer(offerId, moment = 'quote') {
      const { scenario: _, ...live } = liveOffer(airline, offerId, moment);
      return live;
    },
    createOrder: (order) => createOrder(airline, order),
    findOrder: async (reference) => (await book()).byReference(reference, clock.now()),
    order: async (providerOrderId) => (await book()).byId(providerOrderId, clock.now()),
    cancel: async (providerOrderId) => (await book()).cancel(providerOrderId, clock.now()),
    async close() {
      await (await book.opened())?.close();
    },
  };
}

type Sandbox = ReturnType<typeof openSandbox>;

function openSandbox(seed: string) {
  const world = createWorld(seed);
  const network = createNetwork(world);
  const timetable = createTimetable(world);
  return {
    world,
    itineraries: createItineraries(world, network, timetable),
    ids: createOfferIds(world, network, timetable),
  };
}

function liveOffer({ sandbox, scenario, clock }: Airline, offerId: string, moment: OfferMoment): ReadOffer {
  const { world, ids } = sandbox();
  return readOffer(world, ids, scenario, offerId, moment, clock.now());
}

async function createOrder(airline: Airline, wanted: OrderRequest): Promise<ProviderOrder> {
  const { clock, ticketingMs } = airline;
  const { reference, offerId, expectedAmountDecimal, passengers } = wanted;
  const book = await airline.book();
  const nowMs = clock.now();
  const known = await book.byReference(reference, nowMs);
  if (known) return known;
  const { offer, scenario, passengerCount } = liveOffer(airline, offerId, 'booking');
  if (passengers.length !== passengerCount) {
    throw new OrderRefused('form_rejected', false);
  }
  if (parseUsdc(offer.total_amount_decimal) !== parseUsdc(expectedAmountDecimal)) {
    throw problem('offer_repriced', {
      detail: { expected_ticket_amount: expectedAmountDecimal, current_ticket_amount: offer.total_amount_decimal },
    });
  }
  if (scenario === 'sold_out') throw problem('offer_unavailable');
  const { order, made } = await book.add({
    reference,
    offer,
    passengerCount,
    nowMs,
    ticketingMs: scenario === 'ticketing_slow' ? ticketingMs * TICKETING_SLOW_BY : ticketingMs,
    fate: scenario === 'ticketing_fails' ? 'failed' : 'ticketed',
  });
  // The order exists; only its answer is lost. findOrder finds it.
  if (made && scenario === 'outcome_unknown') throw problem('provider_failed');
  return order;
}

/** A command that only reads what is stored never makes the world. */
function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
