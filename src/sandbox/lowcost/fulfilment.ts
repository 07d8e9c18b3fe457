import type { Fulfiller, SoldFare } from '../../flights/providers/fulfiller.ts';
import { once } from '../../kernel/once.ts';
import { problem } from '../../kernel/problems.ts';
import { decimalOf } from '../airline/prices.ts';
import { TOPIC } from '../airline/random.ts';
import type { World } from '../airline/world.ts';
import { goToTill } from './driver.ts';
import type { PageFare } from './fares.ts';
import { offerOf, SALES_CLOSE_MS, THROW, type Trip, tripsFor } from './flights.ts';
import type { SandboxLowcostOptions } from './index.ts';
import { readOfferId, writeOfferId } from './offer-id.ts';
import type { Sales } from './sales.ts';
import { LATE_AT_LEAST_MS, LATE_BY, mishapOn } from './scenarios.ts';
import { visit } from './site.ts';

export type Fulfilment = Omit<Fulfiller, 'name' | 'serves'> & { close(): Promise<void> };

const CLOCK_SKEW_MS = 120_000;

/** Everything that the sandbox's lowcost carriers answer, once somebody asks. */
export function createFulfilment(world: World, options: SandboxLowcostOptions): Fulfilment {
  const { clock, quotingMs, ticketingMs } = options;
  const sales = once(
    async (): Promise<Sales> => (await import('./sales.ts')).openSales(options.orders, options.onTrouble),
  );

  /** A trip that was quoted once. An id from the future never was: it would outlive its lifetime. */
  const tripOf = (offerId: string): Trip | null => {
    const trip = readOfferId(world, offerId);
    return trip && trip.quotedMinute * 60_000 <= clock.now() + CLOCK_SKEW_MS ? trip : null;
  };

  const mishapOf = ({ legs: [leg] }: Trip) =>
    mishapOn(options.scenario ?? 'none', leg?.from.iata ?? '', leg?.to.iata ?? '');

  const isOnSale = ({ legs: [leg] }: Trip) =>
    leg !== undefined && leg.departureMs >= clock.now() + SALES_CLOSE_MS / 2;

  const visitNumber = () => clock.now() >>> 0;

  return {
    async quote(query, startedAtMs) {
      const nowMs = clock.now();
      const landing = tripsFor(world, query, startedAtMs)
        .map((trip) => {
          const offer = offerOf(world, writeOfferId(world, trip), trip);
          const [leg] = trip.legs;
          const luck = world.dice.unit(
            THROW.landing,
            leg?.carrier.index,
            trip.legs.reduce((sum, one) => sum * 7 + one.number, 0),
          );
          return { offer, atMs: startedAtMs + Math.round(quotingMs * (0.3 + 0.7 * luck)) };
        })
        .sort((a, b) => a.atMs - b.atMs || (a.offer.offer_id < b.offer.offer_id ? -1 : 1));
      const offers = landing.filter(({ atMs }) => atMs <= nowMs).map(({ offer }) => offer);
      const next = landing.find(({ atMs }) => atMs > nowMs);
      return next ? { kind: 'quoting', offers, nextAtMs: next.atMs } : { kind: 'quoted', offers };
    },

    async offer(offerId) {
      const trip = tripOf(offerId);
      if (!trip || !isOnSale(trip)) return null;
      const bagCents = 2800 + 200 * world.dice.pick(8, TOPIC.services, trip.legs[0]?.carrier.index);
      return {
        passengerCount: trip.adults,
        offer: offerOf(world, offerId, trip),
        availableServices: [
          {
            type: 'baggage',
            baggage_type: 'checked',
            maximum_weight_kg: 20,
            maximum_quantity: 2 * trip.adults,
            total_amount_decimal: decimalOf(bagCents * trip.legs.length),
            total_currency: 'USD',
          },
        ],
      };
    },

    async menu(offerId, openedAtMs) {
      const trip = tripOf(offerId);
      if (!trip || !isOnSale(trip)) return { kind: 'offer_gone' };
      const leftMs = openedAtMs + Math.round(quotingMs / 2) - clock.now();
      if (leftMs > 0) return { kind: 'pending', pollAfterMs: leftMs };
      const mishap = mishapOf(trip);
      if (mishap === 'fare_check_failed') return { kind: 'check_failed', why: 'the page showed no fares' };
      // At this moment the seat that will be gone at the till is still shown.
      const shown = mishap === 'sold_out' ? 'none' : mishap;
      return { kind: 'opened', fares: visit(world, trip, shown, visitNumber()).fares.map(soldFare) };
    },

    async book({ reference, offerId, fare, amountDecimal, passengers }) {
      const trip = tripOf(offerId);
      if (!trip) throw problem('offer_not_found');
      const book = await sales();
      const run = await book.begin({
        reference,
        offerId,
        passengerCount: passengers.length,
        nowMs: clock.now(),
      });
      if (run !== null) {
        const mishap = isOnSale(trip) ? mishapOf(trip) : 'sold_out';
        const page = visit(world, trip, mishap, visitNumber());
        const till = goToTill(page, { fare, amountDecimal, passengers });
        if (till.kind !== 'ready_to_pay') {
          await book.end(reference, run, till, clock.now());
        } else {
          const waitMs =
            mishap === 'late_confirmation' ? Math.max(LATE_AT_LEAST_MS, ticketingMs * LATE_BY) : ticketingMs;
          const confirms = mishap === 'pay_pressed_no_confirmation' ? null : clock.now() + waitMs;
          await book.press(reference, run, till.totalDecimal, confirms);
        }
      }
      // Another visit took this one over on its way: what becomes of it is not known here.
      const outcome = await book.find(reference, clock.now());
      if (!outcome) throw problem('provider_failed');
      return outcome;
    },

    async find(reference) {
      return (await sales()).find(reference, clock.now());
    },

    async cancel(reference) {
      const book = await sales();
      await book.cancel(reference, clock.now());
      return book.find(reference, clock.now());
    },

    async close() {
      await (await sales.opened())?.close();
    },
  };
}

const soldFare = ({ totalCents, ...content }: PageFare): SoldFare => ({
  ...content,
  totalAmountDecimal: decimalOf(totalCents),
  totalCurrency: 'USD',
});
