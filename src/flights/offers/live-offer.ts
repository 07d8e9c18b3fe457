import type { LiveOffer, Provider } from '../../airlines/index.ts';
import { wantsBags } from '../../kernel/domain/bags.ts';
import { formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { isProblem, type Problem, problem } from '../../kernel/problems.ts';
import type { PaidCall } from '../../payments/index.ts';
import type {
  CreateIntentRequest,
  Offer,
  OfferDetailsRequest,
  OfferDetailsResponse,
} from '../../wire/flights/index.ts';
import type { Asked, FlightsPorts, IntentRow, Store, Tiers } from '../base/index.ts';
import { lockedBags, lockedSeats, toTreasury } from '../base/index.ts';
import type { OfferToLock } from './bags.ts';
import { isLowcost } from './lowcost.ts';

/** @throws Problem `provider_not_configured` */
export function configured<P>(provider: P | null): P {
  if (!provider) throw problem('provider_not_configured');
  return provider;
}

/** POST /air/offer-details: the current price of an offer, and its extras. */
export async function offerDetailsCall(ports: FlightsPorts, asked: Asked<OfferDetailsRequest>): Promise<PaidCall> {
  const { body: request, url, client } = asked;
  if (isLowcost(request.offer_id)) return (await import('./lowcost-offers.ts')).lowcostDetails(ports, asked);
  return {
    resource: 'POST /air/offer-details',
    url,
    request,
    settle: 'after',
    async check({ payer }) {
      configured(ports.provider);
      // Refuses a missing seat map before the caller pays.
      if (request.seats && payer === null) {
        await ports.checks.look({ client, payer }, async ({ provider }) =>
          (await loadSeats()).shownSeats(await configured(provider).offer(request.offer_id)),
        );
      }
      return toTreasury(ports, ports.options.offerDetailsPrice, 'Fresh price and extras of one offer');
    },
    async perform() {
      const live = await configured(ports.provider).offer(request.offer_id);
      await checkUnsold(ports.store, live.saleKey);
      const offer = wantsBags(request.bags) ? (await loadBags()).carried(live, request.bags) : live.offer;
      const seats = request.seats ? { seat_maps: await (await loadSeats()).shownSeats(live) } : {};
      const body: OfferDetailsResponse = { offer, available_services: [...live.availableServices], ...seats };
      return { status: 200, body };
    },
  };
}

export const loadBags = () => import('./bags.ts');
const loadSeats = () => import('./seats.ts');

/** Finds the offer to lock. @throws `offer_not_found` (lowcost) or `offer_unavailable` if unknown (spec, Errors) */
export async function offerToLock(
  ports: Pick<FlightsPorts, 'store' | 'clock' | 'options'> & Tiers,
  { offer_id: offerId, bags, seats }: Pick<CreateIntentRequest, 'offer_id' | 'bags' | 'seats'>,
): Promise<OfferToLock> {
  const bare = isLowcost(offerId)
    ? await (await import('./lowcost-offers.ts')).lowcostToLock(ports, offerId)
    : await fastOffer(ports.provider, offerId, ports.clock.now());
  await checkUnsold(ports.store, bare.saleKey);
  const none = { ...bare, lockedBags: null, lockedSeats: null };
  const carrying = wantsBags(bags) ? (await loadBags()).withLockedBags(bare, bags) : none;
  const live = seats && seats.length > 0 ? await (await loadSeats()).withLockedSeats(carrying, seats) : carrying;
  if (live.isUnpayable) {
    throw problem('offer_unsupported', {
      message: 'This service cannot lock that offer: its airline asks for a document that this service does not send.',
    });
  }
  const { leastTicket, mostTicket } = ports.options;
  const total = ticketTotal(live.offer);
  if (total === null || total < leastTicket || total > mostTicket) {
    throw problem('offer_unsupported', {
      message: `This service cannot lock that offer: it costs ${live.offer.total_amount_decimal} ${live.offer.total_currency}.`,
    });
  }
  return live;
}

async function fastOffer(provider: Tiers['provider'], offerId: string, nowMs: number): Promise<LiveOffer> {
  if (!provider) throw problem('provider_failed', { message: 'No flight provider is configured.' });
  const live = await provider.offer(offerId).catch((error: unknown) => {
    throw isProblem(error, 'offer_not_found') ? problem('offer_unavailable', { cause: error }) : error;
  });
  if (Date.parse(live.offer.expires_at) <= nowMs) throw problem('offer_expired');
  return live;
}

/** Price for all passengers in atomic USDC (1 USD = 1 USDC), or null if the offer is not sold in USD. */
export const ticketTotal = (offer: Offer): bigint | null =>
  offer.total_currency === 'USD' ? parseUsdc(offer.total_amount_decimal) : null;

/**
 * Compares the live offer, its bags and its seats with the escrowed price.
 * @throws Problem `offer_expired`, `offer_repriced`, `bags_unavailable`, `seat_unavailable`, …
 */
export async function checkPriceHolds(
  provider: Pick<Provider, 'offer'>,
  intent: Pick<IntentRow, 'offer_id' | 'amount' | 'bags' | 'seats'>,
  nowMs: number,
): Promise<void> {
  const expected = BigInt(intent.amount);
  const bags = lockedBags(intent);
  const bare = await provider.offer(intent.offer_id, 'booking').catch((error: unknown) => {
    throw isProblem(error, 'offer_not_found') ? problem('offer_expired', { cause: error }) : error;
  });
  if (Date.parse(bare.offer.expires_at) <= nowMs) throw problem('offer_expired');
  const none = { ...bare, lockedBags: null, lockedSeats: null };
  const carrying = bags ? (await loadBags()).withLockedBags(bare, bags) : none;
  const seats = lockedSeats(intent);
  const live = seats ? await (await loadSeats()).withLockedSeats(carrying, seats.chosen) : carrying;
  if (ticketTotal(live.offer) !== expected) throw repriced(expected, live.offer.total_amount_decimal);
}

const repriced = (expected: bigint, current: string): Problem =>
  problem('offer_repriced', {
    detail: { expected_ticket_amount: formatUsdc(expected), current_ticket_amount: formatUsdc(parseUsdc(current)) },
  });

/** States of bookings that have ended, or are ending, without an order. */
const FREES = ['refunding', 'refunded'] as const;

/** Refuses an offer if its airline sells one per search and another intent has it. @throws `offer_unavailable` */
export async function checkUnsold(on: Store, saleKey: string | null | undefined, intentId = ''): Promise<void> {
  if (saleKey == null) return;
  const sold = await on
    .selectFrom('intents')
    .innerJoin('bookings', 'bookings.intent_id', 'intents.intent_id')
    .select('intents.intent_id')
    .where('intents.sale_key', '=', saleKey)
    .where('intents.intent_id', '<>', intentId)
    .where('bookings.state', 'not in', FREES)
    .limit(1)
    .executeTakeFirst();
  if (sold) throw problem('offer_unavailable');
}
