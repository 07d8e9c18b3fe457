import type { Provider, Scenario } from '../../flights/providers/provider.ts';
import type { Clock } from '../../kernel/clock.ts';
import { parseUsdc } from '../../kernel/money.ts';
import { once } from '../../kernel/once.ts';
import { problem } from '../../kernel/problems.ts';
import type { OnTrouble } from '../../store/libsql.ts';
import { createItineraries } from './itineraries.ts';
import { readOffer } from './live-offer.ts';
import { createNetwork } from './network/network.ts';
import { createTimetable } from './network/timetable.ts';
import { createOfferIds } from './offer-id.ts';
import type { OrderBook } from './orders.ts';
import { RATE_LIMIT_RETRY_SECONDS, scenarioOn, TICKETING_SLOW_BY } from './scenarios.ts';
import { searchOffers } from './search.ts';
import { createWorld } from './world.ts';

export { type Airport, airportByCode } from './network/airports.ts';
export { SCENARIO_ROUTES } from './scenarios.ts';

export interface SandboxOptions {
  /** The same seed is the same world. */
  readonly seed: string;
  readonly clock: Clock;
  /** What goes wrong everywhere; the routes of SCENARIO_ROUTES have their own. */
  readonly scenario?: Scenario | undefined;
  /** From an order's confirmation to its ticket, milliseconds. */
  readonly ticketingMs: number;
  /** Path of the airline's own database file. Opened on the first order, never by a search. */
  readonly orders: string;
  /** Told of trouble with that file. */
  readonly onTrouble?: OnTrouble | undefined;
}

export interface SandboxProvider extends Provider {
  close(): Promise<void>;
}

/**
 * A deterministic airline world over real airports and invented airlines: nothing is stored for a search, and every
 * process with the same seed sees the same flights and, at the same moment, the same prices.
 */
export function createSandboxProvider(options: SandboxOptions): SandboxProvider {
  const { clock, ticketingMs, scenario: configured = 'none' } = options;
  const sandbox = lazily(() => {
    const world = createWorld(options.seed);
    const network = createNetwork(world);
    const timetable = createTimetable(world);
    return {
      world,
      itineraries: createItineraries(world, network, timetable),
      ids: createOfferIds(world, network, timetable),
    };
  });

  const orders = once(
    async (): Promise<OrderBook> =>
      (await import('./orders.ts')).openOrderBook(options.orders, options.onTrouble),
  );

  return {
    name: 'sandbox',

    airport(iata) {
      const found = sandbox().world.byCode(iata);
      return found
        ? { name: found.name, city: found.city, country: found.country, timeZone: found.timeZone }
        : null;
    },

    async search(query) {
      if (scenarioOn(configured, query.origin, query.destination) === 'rate_limited') {
        throw problem('upstream_rate_limited', { retryAfter: RATE_LIMIT_RETRY_SECONDS });
      }
      const { world, itineraries, ids } = sandbox();
      return searchOffers(world, itineraries, ids, query, clock.now());
    },

    async offer(offerId, moment = 'quote') {
      const { world, ids } = sandbox();
      const { passengerCount, offer, availableServices } = readOffer(
        world,
        ids,
        configured,
        offerId,
        moment,
        clock.now(),
      );
      return { passengerCount, offer, availableServices };
    },

    async createOrder({ reference, offerId, expectedAmountDecimal, passengers }) {
      const airline = await orders();
      const nowMs = clock.now();
      const known = await airline.byReference(reference, nowMs);
      if (known) return known;
      const { world, ids } = sandbox();
      const { offer, scenario, passengerCount } = readOffer(
        world,
        ids,
        configured,
        offerId,
        'booking',
        nowMs,
      );
      if (passengers.length !== passengerCount) {
        throw problem('passenger_count_mismatch', {
          detail: { expected: passengerCount, received: passengers.length },
        });
      }
      if (parseUsdc(offer.total_amount_decimal) !== parseUsdc(expectedAmountDecimal)) {
        throw problem('offer_repriced', {
          detail: {
            expected_ticket_amount: expectedAmountDecimal,
            current_ticket_amount: offer.total_amount_decimal,
          },
        });
      }
      if (scenario === 'sold_out') throw problem('offer_unavailable');
      const { order, made } = await airline.add({
        reference,
        offer,
        passengerCount: passengers.length,
        nowMs,
        ticketingMs: scenario === 'ticketing_slow' ? ticketingMs * TICKETING_SLOW_BY : ticketingMs,
        fate: scenario === 'ticketing_fails' ? 'failed' : 'ticketed',
      });
      // The order stands; only its answer is lost. findOrder tells.
      if (made && scenario === 'outcome_unknown') throw problem('provider_failed');
      return order;
    },

    async findOrder(reference) {
      return (await orders()).byReference(reference, clock.now());
    },

    async order(providerOrderId) {
      return (await orders()).byId(providerOrderId, clock.now());
    },

    async cancel(providerOrderId) {
      return (await orders()).cancel(providerOrderId, clock.now());
    },

    async close() {
      await (await orders.opened())?.close();
    },
  };
}

/** A command that only reads what is stored never makes the world. */
function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
