import type { AirlineTold } from '../effects/index.ts';
import type { Bags, BagType, TravellerBags } from '../kernel/domain/bags.ts';
import type { PassengerIssue } from '../kernel/domain/passengers.ts';
import type { SeatMap, WantedSeat } from '../kernel/domain/seats.ts';
import { isProblem } from '../kernel/problems.ts';
import type { AvailableService, CabinClass, Offer, Passenger, Slice } from '../wire/flights/index.ts';

export interface QuerySlice {
  readonly origin: string;
  readonly destination: string;
  /** YYYY-MM-DD, local to the origin. */
  readonly departDate: string;
}

/** One to four directions on fixed dates; the service filters and sorts. */
export interface OfferQuery {
  readonly slices: readonly QuerySlice[];
  readonly adults: number;
  /** Of the travellers under 18 when the last direction departs. */
  readonly childAges: readonly number[];
  readonly cabinClass: CabinClass;
}

/** A query in the form of carriers' own sites: there and perhaps back, for adults. */
export interface RoundTrip extends QuerySlice {
  readonly returnDate?: string | undefined;
  readonly adults: number;
  readonly cabinClass: CabinClass;
}

/** True for one direction, or there and back. */
export function isRoundTrip({ slices: [there, back, ...more] }: Pick<OfferQuery, 'slices'>): boolean {
  return more.length === 0 && (!back || (back.origin === there?.destination && back.destination === there.origin));
}

/** Reads a query as a round trip; null if it has children, or directions that are not there and back. */
export function roundTripOf(query: OfferQuery): RoundTrip | null {
  const { slices, adults, childAges, cabinClass } = query;
  const [there, back] = slices;
  if (!there || childAges.length > 0 || !isRoundTrip(query)) return null;
  return { ...there, ...(back && { returnDate: back.departDate }), adults, cabinClass };
}

export interface LiveOffer {
  readonly passengerCount: number;
  /** At the current price, with a fresh `expires_at`. */
  readonly offer: Offer;
  readonly availableServices: readonly AvailableService[];
  /** The bags of each traveller. Absent: only included bags. */
  readonly bags?: readonly TravellerBags[];
  /** Reads the seats of those of its flights that show any. Absent: seats are not sold with it. */
  seatMaps?(): Promise<readonly SeatMap[]>;
  /** A key that the offers of one search share; the airline sells one of them. Absent: it sells each. */
  readonly saleKey?: string;
  /** Only shown: its seller takes no payment or travel document of this service. */
  readonly isUnpayable?: boolean;
}

export interface ProviderOrder {
  readonly providerOrderId: string;
  readonly reference: string;
  readonly status: 'pending' | 'confirmed' | 'ticketed' | 'cancelled' | 'failed';
  /** The record locator (PNR), 5 to 13 letters and digits; null until confirmed. */
  readonly bookingReference: string | null;
  /** Electronic tickets once issued; none from ticketless carriers. */
  readonly documents: readonly { type: string; number: string }[];
  readonly totalAmountDecimal: string;
  readonly totalCurrency: string;
  readonly slices: readonly Slice[];
  /** Extra bags of all travellers; absent: none. */
  readonly bags?: readonly OrderedBags[] | undefined;
  /** Chosen seats; `passenger_index` counts this order's travellers. Absent: none. */
  readonly seats?: readonly WantedSeat[] | undefined;
  /** Travellers that were cancelled alone, by number from 1; their documents are left out. */
  readonly cancelledPassengers?: readonly number[] | undefined;
  readonly failure: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface OrderedBags {
  readonly type: BagType;
  readonly quantity: number;
}

export interface OrderRequest {
  /** Our client reference, which never makes a second order. */
  readonly reference: string;
  readonly offerId: string;
  /** The escrowed price with its bags and seats; any other is refused. */
  readonly expectedAmountDecimal: string;
  /** Each traveller's bags; those that the fare lacks are bought with it. */
  readonly bags?: Bags | undefined;
  /** `passenger_index` counts the offer's travellers. */
  readonly seats?: readonly WantedSeat[] | undefined;
  readonly passengers: readonly Passenger[];
}

/** The purpose of reading a live offer: to show or lock it, or for the last check before payment. */
export type OfferMoment = 'quote' | 'booking';

/** Money held with the airline that pays tickets. */
export interface ProviderBalance {
  readonly amountDecimal: string;
  readonly currency: string;
}

/** An airline's refund for a cancellation now. Null means unknown, never zero. */
export interface CancellationQuote {
  readonly quoteId: string;
  readonly refundAmountDecimal: string | null;
  readonly refundCurrency: string | null;
  /** The airline's word for where it goes: `balance`, `voucher`, `original_form_of_payment`, ... */
  readonly refundTo: string | null;
  readonly expiresAtMs: number | null;
}

/** A message from the airline: raw body, header names in lower case. */
export interface AirlineMessage {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/**
 * The port to an airline. Problems: `upstream_rate_limited` (with retryAfter; from `createOrder` only if nothing was
 * ordered), `provider_failed` (no usable answer; for `createOrder` an unknown outcome, which `findOrder` resolves),
 * `offer_not_found`, `offer_unavailable` (sold out), `offer_expired`, and from `createOrder` alone `offer_repriced`
 * (with `detail.current_ticket_amount`), `bags_unavailable` and `seat_unavailable`. `detail.airline_code` and
 * `detail.airline_request_id` are for the airline's support.
 */
export interface Provider {
  readonly name: string;
  /** True if its flights are invented, and so never sold for real money. */
  readonly isSandbox: boolean;
  /** True if its airlines change flights after the sale, so that orders are watched until departure. */
  readonly changesSchedules?: boolean | undefined;
  /** Takes any airport code; `search` refuses unknown ones (`airport_unknown`). */
  readonly takesAnyAirport?: boolean | undefined;
  /** Searches by city code too, for any of its airports. */
  readonly takesCities?: boolean | undefined;
  /** The least age for its adult fares, if above ours. */
  readonly leastAge?: number | undefined;
  /** Null for an unknown airport. */
  airport(iata: string): { name: string; city: string; country: string; timeZone: string } | null;
  search(query: OfferQuery): Promise<Offer[]>;
  /**
   * Bags sold with a search's first offers, by offer id: as many as the airline answers for within seconds. Absent: a
   * search shows only included bags.
   */
  bagsOf?(offers: readonly Offer[]): Promise<ReadonlyMap<string, readonly TravellerBags[]>>;
  /** The offer now. `booking` is the last check before money moves: some airlines confirm a quoted price only then. */
  offer(offerId: string, moment?: OfferMoment): Promise<LiveOffer>;
  /** @throws OrderRefused if certainly nothing was ordered */
  createOrder(request: OrderRequest): Promise<ProviderOrder>;
  /**
   * Finds an order by our reference.
   * @param offerId finds it in the airline's list, without a record of ours
   * @returns null if certainly no order was or is being made; `unknown` if none is visible, which proves nothing at
   *   most airlines
   */
  findOrder(reference: string, offerId: string): Promise<ProviderOrder | null | 'unknown'>;
  order(providerOrderId: string): Promise<ProviderOrder>;
  /** All orders of ours made since then, ended ones too. Absent: the airline lists none. */
  orders?(sinceMs: number): Promise<readonly ProviderOrder[]>;
  /**
   * Cancels by this quote, or without one for any refund.
   * @throws Problem `plan_changed` for an invalid quote: nothing was cancelled
   */
  cancel(providerOrderId: string, quoteId?: string): Promise<ProviderOrder>;
  /** Cancels these travellers (from 1) alone; cancelled ones stay so. Absent: the airline cancels only whole orders. */
  cancelPassengers?(providerOrderId: string, passengers: readonly number[]): Promise<ProviderOrder>;
  /** Quotes a cancellation; null if the order can't be cancelled. Absent: the airline gives no quotes. */
  cancellationQuote?(providerOrderId: string): Promise<CancellationQuote | null>;
  /** Refusals beyond our own rules for passengers, checked before payment. */
  passengerIssues?(passengers: readonly Passenger[], offer: Offer): readonly PassengerIssue[];
  /** The airline's reason for refusing all our calls, for an operator; null if it refuses none. Asked once a minute. */
  trouble?(): Promise<string | null>;
  /** Absent: nothing needs refilling. */
  balance?(): Promise<ProviderBalance>;
  /**
   * Takes in an airline's message, which may come twice, late and out of order.
   * @returns references of the orders to look at now
   * @throws Problem `unauthorized` for a wrong signature or age
   */
  receive?(message: AirlineMessage): Promise<readonly string[]>;
}

/** The sandbox's named misbehaviours, by route or configuration (CONTRACT, section 16). */
export type FastScenario =
  | ('none' | 'repriced' | 'offer_expired' | 'ticketing_fails' | 'ticketing_slow')
  | ('outcome_unknown' | 'rate_limited' | 'sold_out');

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

/** Certainly nothing was ordered: this attempt is over. */
export class OrderRefused extends Error {
  override readonly name = 'OrderRefused';

  /**
   * @param reason becomes the `refund_reason` of the intent: `form_rejected`, `provider_balance_low`, `provider_failed`
   * @param mayPass the reason may pass, so a new attempt is allowed
   * @param cause a Problem with the airline's `airline_code` and `airline_request_id`
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
