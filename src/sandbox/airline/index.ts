import {
  type OfferMoment,
  OrderRefused,
  type OrderRequest,
  type Provider,
  type ProviderOrder,
  type Scenario,
} from '../../airlines/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { bagsToBuy, countedBags } from '../../kernel/domain/bags.ts';
import { type SeatMap, seatsToBuy } from '../../kernel/domain/seats.ts';
import { ageOn, agesOf, CHILD_FROM, seatsFor } from '../../kernel/domain/travel-ages.ts';
import { formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { once } from '../../kernel/once.ts';
import { problem } from '../../kernel/problems.ts';
import type { OnTrouble } from '../../store/libsql/index.ts';
import type { Offer, Passenger } from '../../wire/flights/index.ts';
import type { OrderBook } from './orders.ts';
import { scenarioOn, TICKETING_SLOW_BY } from './scenarios.ts';
import { type Air, bagsOf, openAir, rateLimited, readOffer, searchOffers } from './search.ts';

export { CABINS, conditionsOf, flightKey, spanOf } from './journey.ts';
export { airlineMigrations, recordLocator, tickets } from './orders.ts';
export { centsOf, decimalOf } from './prices.ts';
export { DEARER_BY, LATE_AT_LEAST_MS, LATE_BY, mishapOn, SCENARIO_ROUTES, scenarioRoute } from './scenarios.ts';
export { CLOCK_SKEW_MS, dayOf, openAir, searchOffers } from './search.ts';
export * from './world.ts';

export interface SandboxOptions {
  readonly seed: string;
  readonly clock: Clock;
  /** The failure on all routes but SCENARIO_ROUTES. */
  readonly scenario?: Scenario | undefined;
  /** Milliseconds from confirmation to ticket. */
  readonly ticketingMs: number;
  /** The airline's own database file, opened at the first order. */
  readonly orders: string;
  readonly onTrouble?: OnTrouble | undefined;
}

export interface SandboxProvider extends Provider {
  findOrder(reference: string): Promise<ProviderOrder | null>;
  close(): Promise<void>;
}

interface Airline extends SandboxOptions {
  readonly scenario: Scenario;
  readonly air: () => Air;
  readonly book: () => Promise<OrderBook>;
}

/**
 * A deterministic world of real airports and invented airlines: equal seeds give equal flights, and equal prices at the
 * same time. No search is stored.
 */
export function createSandboxProvider(options: SandboxOptions): SandboxProvider {
  const { clock, scenario = 'none' } = options;
  let opened: Air | undefined;
  /** Stored orders can be read without building the world. */
  const air = () => {
    opened ??= openAir(options.seed);
    return opened;
  };
  const book = once(
    async (): Promise<OrderBook> => (await import('./orders.ts')).openOrderBook(options.orders, options.onTrouble),
  );
  const airline: Airline = { ...options, scenario, air, book };
  return {
    name: 'sandbox',
    isSandbox: true,
    airport(iata) {
      const found = air().world.byCode(iata);
      return found ? { name: found.name, city: found.city, country: found.country, timeZone: found.timeZone } : null;
    },
    async search(query) {
      const [first] = query.slices;
      if (scenarioOn(scenario, first?.origin ?? '', first?.destination ?? '') === 'rate_limited') throw rateLimited();
      return searchOffers(air(), query, clock.now());
    },
    bagsOf: async (offers) => bagsOf(air(), offers),
    async offer(offerId, moment = 'quote') {
      const { scenario: _, ...live } = liveOffer(airline, offerId, moment);
      return { ...live, seatMaps: () => seatMaps(airline, offerId) };
    },
    createOrder: (order) => createOrder(airline, order),
    findOrder: async (reference) => (await book()).byReference(reference, clock.now()),
    order: async (providerOrderId) => (await book()).byId(providerOrderId, clock.now()),
    orders: async (sinceMs) => (await book()).since(sinceMs, clock.now()),
    cancelPassengers: async (providerOrderId, passengers) => {
      const flightsOf = async (offerId: string) => (await loadSeats()).flightsOf(air(), offerId);
      return (await book()).cancelPassengers(providerOrderId, { passengers, flightsOf }, clock.now());
    },
    cancel: async (providerOrderId) => (await book()).cancel(providerOrderId, clock.now()),
    async close() {
      await (await book.opened())?.close();
    },
  };
}

const NO_EXTRAS = { amount: 0n, bought: [], missing: [] } as const;

const loadSeats = () => import('./seats.ts');

/** @param reference of an order: its own seats do not count as taken */
async function seatMaps({ air, book }: Airline, offerId: string, reference = ''): Promise<SeatMap[]> {
  const { seatMapsOf } = await loadSeats();
  return seatMapsOf(air(), offerId, await (await book()).seatsTaken(reference));
}

const liveOffer = ({ air, scenario, clock }: Airline, offerId: string, moment: OfferMoment) =>
  readOffer(air(), scenario, offerId, moment, clock.now());

/** The offer's traveller for each passenger, by index; null if none of that age is left. */
function placesOf(passengers: readonly Passenger[], offer: Offer): readonly (number | null)[] {
  const ages = agesOf(offer);
  if (!ages) return passengers.map((_, at) => at);
  const given = passengers.map(({ born_on }) => ageOn(born_on, ages.on));
  return seatsFor(given, ages.seats);
}

/** The numbers of the infants, who have no seat and no bags. */
const onLaps = (passengers: readonly Passenger[], offer: Offer): number[] =>
  passengers.flatMap(({ born_on }, index) => {
    const ages = agesOf(offer);
    return ages && ageOn(born_on, ages.on) < CHILD_FROM ? [index + 1] : [];
  });

async function createOrder(airline: Airline, wanted: OrderRequest): Promise<ProviderOrder> {
  const { clock, ticketingMs } = airline;
  const { reference, offerId, expectedAmountDecimal, passengers } = wanted;
  const book = await airline.book();
  const nowMs = clock.now();
  const known = await book.byReference(reference, nowMs);
  if (known) return known;
  const { offer, scenario, passengerCount, bags = [] } = liveOffer(airline, offerId, 'booking');
  const places = placesOf(passengers, offer);
  if (passengers.length !== passengerCount || places.includes(null)) {
    throw new OrderRefused('form_rejected', false);
  }
  const extra = wanted.bags ? bagsToBuy(bags, offer.total_currency, wanted.bags) : NO_EXTRAS;
  if (!extra) throw problem('bags_unavailable');
  const seats = wanted.seats
    ? seatsToBuy(await seatMaps(airline, offerId, reference), offer.total_currency, wanted.seats)
    : NO_EXTRAS;
  if (seats.missing.length > 0) throw problem('seat_unavailable');
  const total = parseUsdc(offer.total_amount_decimal) + extra.amount + seats.amount;
  if (total !== parseUsdc(expectedAmountDecimal)) {
    throw problem('offer_repriced', {
      detail: { expected_ticket_amount: expectedAmountDecimal, current_ticket_amount: formatUsdc(total) },
    });
  }
  if (scenario === 'sold_out') throw problem('offer_unavailable');
  const settled_at_ms = nowMs + ticketingMs * (scenario === 'ticketing_slow' ? TICKETING_SLOW_BY : 1);
  const fate = scenario === 'ticketing_fails' ? 'failed' : 'ticketed';
  const placed = {
    reference,
    passenger_count: passengerCount,
    fate,
    settled_at_ms,
    total_amount_decimal: formatUsdc(total),
    lap_passengers: JSON.stringify(onLaps(passengers, offer)),
    bags: extra.bought.length === 0 ? null : JSON.stringify(countedBags(extra.bought)),
    seats: wanted.seats
      ? JSON.stringify(
          wanted.seats.map(({ passenger_index, segment_index, designator }) => ({
            passenger_index: places.indexOf(passenger_index),
            ...{ segment_index, designator },
          })),
        )
      : null,
  } as const;
  if (wanted.seats) {
    const { flightsOf } = await loadSeats();
    const flights = flightsOf(airline.air(), offerId);
    const wantedSeats = wanted.seats.map((seat) => `${flights[seat.segment_index]} ${seat.designator}`);
    if (!(await book.holdSeats(reference, wantedSeats))) throw problem('seat_unavailable');
  }
  const { order, made } = await book.add(placed, offer, nowMs);
  // Only the answer is lost: findOrder finds the order.
  if (made && scenario === 'outcome_unknown') throw problem('provider_failed');
  return order;
}
