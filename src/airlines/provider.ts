import type { AirlineTold } from '../effects/index.ts';
import type { PassengerIssue } from '../kernel/domain/passengers.ts';
import { isProblem } from '../kernel/problems.ts';
import type { AvailableService, CabinClass, Offer, Passenger, Slice } from '../wire/flights/index.ts';

/** One or two directions on fixed dates. Filters and sorting are the service's own. */
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
  /** The travellers that the offer was quoted for, and an intent on it is made for. */
  readonly passengerCount: number;
  /** With the price of this moment, and a fresh `expires_at`. */
  readonly offer: Offer;
  readonly availableServices: readonly AvailableService[];
  /** The airline sells one of the offers with the same key, those of one search. Absent: it sells each by itself. */
  readonly saleKey?: string;
  /** It can only be shown: its seller takes no payment, or no travel document, that this service has. */
  readonly isUnpayable?: boolean;
}

export interface ProviderOrder {
  readonly providerOrderId: string;
  readonly reference: string;
  readonly status: 'pending' | 'confirmed' | 'ticketed' | 'cancelled' | 'failed';
  /** The record locator (PNR), 5 to 13 letters and digits; null until the airline has confirmed. */
  readonly bookingReference: string | null;
  /** Electronic ticket numbers once ticketed; none where the carrier issues no tickets. */
  readonly documents: readonly { type: string; number: string }[];
  readonly totalAmountDecimal: string;
  readonly totalCurrency: string;
  readonly slices: readonly Slice[];
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

/** The money that tickets are paid from, held with the airline. */
export interface ProviderBalance {
  readonly amountDecimal: string;
  readonly currency: string;
}

/** What an airline would give back for a booking that is cancelled now. null is unknown, never zero. */
export interface CancellationQuote {
  /** Given to `cancel` to take the quote. */
  readonly quoteId: string;
  readonly refundAmountDecimal: string | null;
  readonly refundCurrency: string | null;
  /** The destination, in the airline's word: `balance`, `voucher`, `airline_credits`, `original_form_of_payment`, ... */
  readonly refundTo: string | null;
  readonly expiresAtMs: number | null;
}

/** A message from the airline: the body byte for byte, names of headers in lower case. */
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
  /** Its airlines change flights after the sale: booked orders are watched until they depart. */
  readonly changesSchedules?: boolean | undefined;
  /** Any code may be an airport: its `search` refuses unknown ones (`airport_unknown`). */
  readonly takesAnyAirport?: boolean | undefined;
  /** Codes of cities may be searched for, too: any of their airports. */
  readonly takesCities?: boolean | undefined;
  /** The age from which its fares for adults may be booked, where it is more than ours. */
  readonly leastAge?: number | undefined;
  /** null: the airport is not known here. */
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
   * null: no order was ever made under this reference, and none is being made. `unknown`: none is seen, but there may be
   * one: most airlines can't prove the opposite.
   * @param offerId finds an order in an airline's list where no record of ours is left
   */
  findOrder(reference: string, offerId: string): Promise<ProviderOrder | null | 'unknown'>;
  order(providerOrderId: string): Promise<ProviderOrder>;
  /**
   * Takes this quote; without one, any refund.
   * @throws Problem `plan_changed` where that quote is no longer valid: nothing was cancelled
   */
  cancel(providerOrderId: string, quoteId?: string): Promise<ProviderOrder>;
  /** Changes nothing. null: it can't be cancelled there. Absent: the airline gives no quotes. */
  cancellationQuote?(providerOrderId: string): Promise<CancellationQuote | null>;
  /** What this airline refuses of passengers that satisfy our own rules; asked before anything is paid. */
  passengerIssues?(passengers: readonly Passenger[], offer: Offer): readonly PassengerIssue[];
  /** Why the airline refuses all our calls, in words for an operator; null while it does not. Asked once a minute. */
  trouble?(): Promise<string | null>;
  /** Absent: nothing has to be filled up. */
  balance?(): Promise<ProviderBalance>;
  /**
   * Takes in a message of the airline's. It may come twice, late and out of order, so nothing else in it is believed.
   * @returns the references of the orders to look at now
   * @throws Problem `unauthorized` where its signature or its age is wrong
   */
  receive?(message: AirlineMessage): Promise<readonly string[]>;
}

/** Named misbehaviour of the sandbox, by route or by configuration (CONTRACT, section 16). */
export type FastScenario =
  | ('none' | 'repriced' | 'offer_expired' | 'ticketing_fails' | 'ticketing_slow')
  | ('outcome_unknown' | 'rate_limited' | 'sold_out');

/** Misbehaviour of the lowcost tier's web sites. */
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
export type Scenario = FastScenario | LowcostScenario;

/** The airline ordered nothing, for certain: this attempt is over. */
export class OrderRefused extends Error {
  override readonly name = 'OrderRefused';

  /**
   * @param reason becomes the `refund_reason` of the intent: `form_rejected`, `provider_balance_low`, `provider_failed`
   * @param mayPass the reason passes by itself, so a new attempt may be made
   * @param cause the airline's answer, as a Problem with `airline_code` and `airline_request_id` in its detail
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

/** The airline's own code and request id in an error; null where it has neither. */
export function toldBy(error: unknown): AirlineTold | null {
  // A refusal has the airline's answer as its cause.
  const said = error instanceof Error && !isProblem(error) ? error.cause : error;
  if (!isProblem(said)) return null;
  const told = { code: text(said.detail?.airline_code), request_id: text(said.detail?.airline_request_id) };
  return told.code === null && told.request_id === null ? null : told;
}
