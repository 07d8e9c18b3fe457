import type { LiveOffer, OfferMoment, Scenario } from '../../airlines/index.ts';
import { problem } from '../../kernel/problems.ts';
import type { AvailableService } from '../../wire/flights/index.ts';
import { lengthKm } from './journey.ts';
import type { OfferIds } from './offer-id.ts';
import { composeOffer, expiresAtMs, frameOf, type Selection } from './offers.ts';
import { baseFare, decimalOf, EUR_PER_USD, SELLERS } from './prices.ts';
import { RATE_LIMIT_RETRY_SECONDS, REPRICED_BY, scenarioOn } from './scenarios.ts';
import { SALES_CLOSE_MS } from './search.ts';
import { TOPIC, type World } from './world.ts';

/** A live offer with what made it and the scenario of its route. */
export interface ReadOffer extends LiveOffer {
  readonly scenario: Scenario;
}

/**
 * Prices an offer id again. Within its lifetime an offer is honoured at the price it was issued at.
 * @throws Problem `offer_not_found`, `offer_expired`, `offer_unavailable` (sales have closed), `upstream_rate_limited`.
 */
export function readOffer(
  world: World,
  ids: OfferIds,
  configured: Scenario,
  offerId: string,
  moment: OfferMoment,
  nowMs: number,
): ReadOffer {
  const selection = ids.read(offerId);
  // An id from the future was never issued: it would outlive its lifetime.
  if (!selection || selection.issuedMinute * 60_000 > nowMs + CLOCK_SKEW_MS) throw problem('offer_not_found');
  const outbound = selection.journey[0] ?? [];
  const scenario = scenarioOn(configured, outbound[0]?.from.iata ?? '', outbound.at(-1)?.to.iata ?? '');
  if (scenario === 'rate_limited') {
    throw problem('upstream_rate_limited', { retryAfter: RATE_LIMIT_RETRY_SECONDS });
  }
  const base = baseFare(world, selection.journey, selection.plating, selection.cabin, selection.issuedMinute);
  const expiresMs = expiresAtMs(world, selection, base);
  if (nowMs >= expiresMs || (scenario === 'offer_expired' && moment === 'booking')) {
    throw problem('offer_expired', { detail: { expired_at: new Date(Math.min(expiresMs, nowMs)).toISOString() } });
  }
  if ((outbound[0]?.departureMs ?? 0) < nowMs + SALES_CLOSE_MS / 2) throw problem('offer_unavailable');
  const raised =
    scenario === 'repriced' && moment === 'booking'
      ? { ...base, fareCents: Math.round(base.fareCents * REPRICED_BY) }
      : base;
  const frame = frameOf(world, selection.journey, selection.plating, selection.cabin);
  return {
    offer: composeOffer(world, offerId, selection, raised, frame),
    passengerCount: selection.adults,
    availableServices: servicesFor(world, selection),
    scenario,
  };
}

const CLOCK_SKEW_MS = 120_000;

/** Extra bags: a second and third checked bag, and with leisure airlines the cabin bag that the ticket leaves out. */
function servicesFor(world: World, { journey, plating, sellerIndex, adults }: Selection): AvailableService[] {
  const seller = SELLERS[sellerIndex];
  if (!seller) return [];
  const km = Math.max(...journey.map(lengthKm));
  const rate = seller.currency === 'EUR' ? EUR_PER_USD : 1;
  const price = (usd: number) => decimalOf(Math.round(usd * rate * journey.length) * 100);
  const usual = (km > 4000 ? 70 : km > 1500 ? 45 : 30) + 5 * world.dice.pick(6, TOPIC.services, plating.index);
  const light = plating.kind === 'leisure' ? 20 : 23;
  const weighed = world.dice.unit(TOPIC.services, plating.index, 1) >= 0.2;
  const bag = (weight: number, usd: number): AvailableService => ({
    type: 'baggage',
    baggage_type: 'checked',
    maximum_weight_kg: weighed ? weight : null,
    maximum_quantity: 2 * adults,
    total_amount_decimal: price(usd),
    total_currency: seller.currency,
  });
  const services = [bag(light, usual)];
  if (plating.kind === 'full_service') services.push(bag(32, usual * 1.6));
  if (plating.kind === 'leisure') {
    services.push({ ...bag(10, usual * 0.6), baggage_type: 'carry_on', maximum_quantity: adults });
  }
  return services;
}
