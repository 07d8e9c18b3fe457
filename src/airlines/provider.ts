import type { AirlineTold } from '../effects/index.ts';
import type { PassengerIssue } from '../kernel/domain/passengers.ts';
import { isProblem } from '../kernel/problems.ts';
import type { AvailableService, CabinClass, Offer, Passenger, Slice } from '../wire/flights/index.ts';

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
  /** Of offers with the same key the airline sells one: those of one search. Absent: it sells each by itself. */
  readonly saleKey?: string;
  /** It can be looked at alone: its seller takes no payment, or no travel document, that this service has. */
  readonly isUnpayable?: boolean;
}

type ProviderOrderStatus = 'pending' | 'confirmed' | 'ticketed' | 'cancelled' | 'failed';

export interface ProviderOrder {
  readonly providerOrderId: string;
  /** Ours, as given to `createOrder`. */
  readonly reference: string;
  readonly status: ProviderOrderStatus;
  /** The record locator (PNR), 5 to 13 letters and digits; null until the airline has confirmed. */
  readonly bookingReference: string | null;
  /** Electronic ticket numbers once ticketed; none where the carrier issues no tickets. */
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

/** What an airline would give back for a booking that is cancelled now. null is "not told": never zero. */
export interface CancellationQuote {
  /** Names the quote when it is taken (`cancel`). */
  readonly quoteId: string;
  readonly refundAmountDecimal: string | null;
  readonly refundCurrency: string | null;
  /** To where it goes, in the airline's word: `balance`, `voucher`, `airline_credits`, `original_form_of_payment`, ... */
  readonly refundTo: string | null;
  /** After it the quote can't be taken any more. */
  readonly expiresAtMs: number | null;
}

/** What the seller holds with the airline, to pay tickets from. */
export interface ProviderBalance {
  readonly amountDecimal: string;
  readonly currency: string;
}

/** A message from the airline, as it came in: the body byte for byte, names of headers in lower case. */
export interface AirlineMessage {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/**
 * The airline side. Only `airlines/` knows one.
 *
 * Problems raised: `upstream_rate_limited` (with retryAfter; from `createOrder` only where nothing was ordered),
 * `provider_failed` (no usable answer: for `createOrder` the outcome is then unknown and `findOrder` tells),
 * `offer_not_found`, `offer_unavailable` (sold out), `offer_expired`, `offer_repriced` (createOrder alone;
 * `detail.current_ticket_amount`). `createOrder` throws OrderRefused, too. `detail.airline_code` and
 * `detail.airline_request_id` are the airline's own: a person who asks its support needs them.
 */
export interface Provider {
  readonly name: string;
  /** Its flights are invented: it is never sold for real money. */
  readonly isSandbox: boolean;
  /** Its airlines change flights after they sold them: booked orders are looked at again until they depart. */
  readonly changesSchedules?: boolean | undefined;
  /** Any code may be an airport: the provider itself says of which there are none (`airport_unknown` of `search`). */
  readonly takesAnyAirport?: boolean | undefined;
  /** The codes of cities may be searched for, too: any of their airports. */
  readonly takesCities?: boolean | undefined;
  /** The age from which its fares for adults may be booked, where it is more than ours. */
  readonly leastAge?: number | undefined;
  /** An airport as it is known here: its name, city, and zone. null: it is not. */
  airport(iata: string): { name: string; city: string; country: string; timeZone: string } | null;
  search(query: OfferQuery): Promise<Offer[]>;
  /**
   * The offer as it stands now. Pass `booking` for the last check before money moves (POST /air/book and the
   * worker's recheck): airlines confirm a price then that they only quoted before.
   */
  offer(offerId: string, moment?: OfferMoment): Promise<LiveOffer>;
  /** @throws OrderRefused where it is certain that nothing was ordered */
  createOrder(request: OrderRequest): Promise<ProviderOrder>;
  /**
   * null: no order was ever made under this reference, and none is being made. `unknown`: none is seen, and one may be
   * there: most airlines can't prove that there is none.
   * @param offerId what it was ordered from: an airline with a list of orders is asked by it where no record of ours is left
   */
  findOrder(reference: string, offerId: string): Promise<ProviderOrder | null | 'unknown'>;
  order(providerOrderId: string): Promise<ProviderOrder>;
  /**
   * Takes the quote that is named; without one, whatever the airline gives back.
   * @throws Problem `plan_changed` where that quote does not stand any more: nothing was cancelled
   */
  cancel(providerOrderId: string, quoteId?: string): Promise<ProviderOrder>;
  /** Changes nothing. null: it can't be cancelled there. Absent: the airline gives no quotes. */
  cancellationQuote?(providerOrderId: string): Promise<CancellationQuote | null>;
  /** What this airline doesn't take of passengers that satisfy our own rules, said before anything is paid. */
  passengerIssues?(passengers: readonly Passenger[], offer: Offer): readonly PassengerIssue[];
  /** Why the airline refuses every call of ours, in words for an operator; null while it does not. Asked once a minute. */
  trouble?(): Promise<string | null>;
  /** What tickets are paid from. Absent: nothing has to be filled up. */
  balance?(): Promise<ProviderBalance>;
  /**
   * Takes in a message that the airline sent by itself; answers with the references of the orders that it is about, to
   * be looked at now. The same message may come twice, late and out of order: nothing in it is believed but that.
   * @throws Problem `unauthorized` where its signature or its age is wrong
   */
  receive?(message: AirlineMessage): Promise<readonly string[]>;
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

/** The airline ordered nothing, for certain: this attempt is over. */
export class OrderRefused extends Error {
  override readonly name = 'OrderRefused';

  /**
   * @param reason becomes the `refund_reason` of the intent: `form_rejected`, `provider_balance_low`, `provider_failed`
   * @param cause the airline's answer, as a Problem with `airline_code` and `airline_request_id` in its detail
   * @param mayPass the same order may be asked for once more, as a new attempt: what refused it passes by itself
   */
  constructor(
    readonly reason: string,
    readonly mayPass: boolean,
    cause?: unknown,
  ) {
    super(reason, cause === undefined ? undefined : { cause });
  }
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** What an airline said with an error, as the port carries it; null where it said nothing of its own. */
export function toldBy(error: unknown): AirlineTold | null {
  // A refusal has the airline's answer as its cause.
  const said = error instanceof Error && !isProblem(error) ? error.cause : error;
  if (!isProblem(said)) return null;
  const told = { code: text(said.detail?.airline_code), request_id: text(said.detail?.airline_request_id) };
  return told.code === null && told.request_id === null ? null : told;
}
