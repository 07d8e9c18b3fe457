import type { AvailableService, CabinClass, Offer, Passenger, Slice } from '../wire.ts';

/** What is asked of a provider: one or two directions on fixed dates. Filters and sorting are the service's own. */
export interface OfferQuery {
  readonly origin: string;
  readonly destination: string;
  /** YYYY-MM-DD, local to the origin. */
  readonly departDate: string;
  readonly returnDate?: string | undefined;
  readonly adults: number;
  readonly cabinClass: CabinClass;
}

export interface LiveOffer {
  /** How many travellers the offer was quoted for: what an intent on it is made for. */
  readonly passengerCount: number;
  /** With the price of this moment, and a fresh `expires_at`. */
  readonly offer: Offer;
  readonly availableServices: readonly AvailableService[];
}

type ProviderOrderStatus = 'pending' | 'confirmed' | 'ticketed' | 'cancelled' | 'failed';

export interface ProviderOrder {
  readonly providerOrderId: string;
  /** Ours, as given to `createOrder`. */
  readonly reference: string;
  readonly status: ProviderOrderStatus;
  /** The record locator (PNR), six characters; null until the airline has confirmed. */
  readonly bookingReference: string | null;
  /** Electronic ticket numbers once ticketed. */
  readonly documents: readonly { type: string; number: string }[];
  readonly totalAmountDecimal: string;
  readonly totalCurrency: string;
  readonly slices: readonly Slice[];
  /** Why it failed, for a `failed` order. */
  readonly failure: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface OrderRequest {
  /** Our client reference: the same reference never makes a second order. */
  readonly reference: string;
  readonly offerId: string;
  /** The price that was escrowed; the airline refuses when its own differs. */
  readonly expectedAmountDecimal: string;
  readonly passengers: readonly Passenger[];
}

/** Why a live offer is read: to show or lock it, or to confirm it as the last step before it is paid. */
export type OfferMoment = 'quote' | 'booking';

/**
 * The airline side. Only `providers/` knows one.
 *
 * Problems raised: `upstream_rate_limited` (with retryAfter), `provider_failed` (no usable answer: for
 * `createOrder` the outcome is then unknown and `findOrder` tells), `offer_not_found`, `offer_unavailable` (sold
 * out), `offer_expired`, `offer_repriced` (createOrder alone; `detail.current_ticket_amount`).
 */
export interface Provider {
  readonly name: string;
  /** Its flights are invented: it is never sold for real money. */
  readonly isSandbox: boolean;
  /** True when the airport is known: its name, city, and zone, else null. */
  airport(iata: string): { name: string; city: string; country: string; timeZone: string } | null;
  search(query: OfferQuery): Promise<Offer[]>;
  /**
   * The offer as it stands now. Pass `booking` for the last check before money moves (POST /air/book and the
   * worker's recheck): airlines confirm a price then that they only quoted before.
   */
  offer(offerId: string, moment?: OfferMoment): Promise<LiveOffer>;
  createOrder(request: OrderRequest): Promise<ProviderOrder>;
  /** null: no order was ever made under this reference, and none is being made. */
  findOrder(reference: string): Promise<ProviderOrder | null>;
  order(providerOrderId: string): Promise<ProviderOrder>;
  cancel(providerOrderId: string): Promise<ProviderOrder>;
}

/** Named misbehaviour of the sandbox, by route or by configuration (CONTRACT, section 16). */
const FAST_SCENARIOS = [
  'none',
  'repriced',
  'offer_expired',
  'ticketing_fails',
  'ticketing_slow',
  'outcome_unknown',
  'rate_limited',
  'sold_out',
] as const;

/** The same for the lowcost tier: what its carriers' websites do. */
export const LOWCOST_SCENARIOS = [
  'fare_check_failed',
  'price_differs_at_till',
  'form_rejected',
  'captcha',
  'account_wall',
  'pay_pressed_no_confirmation',
  'late_confirmation',
] as const;
export type LowcostScenario = (typeof LOWCOST_SCENARIOS)[number];
export type FastScenario = (typeof FAST_SCENARIOS)[number];
export type Scenario = FastScenario | LowcostScenario;
