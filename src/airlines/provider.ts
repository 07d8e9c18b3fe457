import type { AirlineTold } from '../effects/index.ts';
import type { Bags, BagType, TravellerBags } from '../kernel/domain/bags.ts';
import type { PassengerIssue } from '../kernel/domain/passengers.ts';
import type { SeatMap, WantedSeat } from '../kernel/domain/seats.ts';
import { isProblem } from '../kernel/problems.ts';
import type { AvailableService, CabinClass, Offer, Passenger, Slice } from '../wire/flights/index.ts';

/** One direction of a query. */
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
  /** Of the travellers under 18, on the day of the last flight. */
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

/** null for a query with children, or with directions that are not there and back. */
export function roundTripOf(query: OfferQuery): RoundTrip | null {
  const { slices, adults, childAges, cabinClass } = query;
  const [there, back] = slices;
  if (!there || childAges.length > 0 || !isRoundTrip(query)) return null;
  return { ...there, ...(back && { returnDate: back.departDate }), adults, cabinClass };
}

export interface LiveOffer {
  /** The number of travellers that the offer is for. */
  readonly passengerCount: number;
  /** At the current price, with a fresh `expires_at`. */
  readonly offer: Offer;
  readonly availableServices: readonly AvailableService[];
  /** The bags of each traveller. Absent: it sells none beyond those included. */
  readonly bags?: readonly TravellerBags[];
  /** Reads the seats of its flights, of those that show any. Absent: seats are not sold with it. */
  seatMaps?(): Promise<readonly SeatMap[]>;
  /** The airline sells only one offer of a key, those of one search. Absent: it sells each. */
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
  /** Chosen seats, `passenger_index` in the order of its own travellers; absent: none. */
  readonly seats?: readonly WantedSeat[] | undefined;
  /** Travellers that were cancelled alone, from 1 in the order of the passengers; their documents are left out. */
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
  /** For each traveller: those that the fare lacks are bought with it. */
  readonly bags?: Bags | undefined;
  /** By the positions of the offer's travellers. */
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

/** An airline's refund for a cancellation now. null is unknown, never zero. */
export interface CancellationQuote {
  readonly quoteId: string;
  readonly refundAmountDecimal: string | null;
  readonly refundCurrency: string | null;
  /** The airline's word for the destination: `balance`, `voucher`, `airline_credits`, `original_form_of_payment`, ... */
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
 * `offer_not_found`, `offer_unavailable` (sold out), `offer_expired`, `offer_repriced`, `bags_unavailable`
 * and `seat_unavailable` (`createOrder` alone, the first with `detail.current_ticket_amount`). `detail.airline_code` and `detail.airline_request_id` are for the airline's support.
 */
export interface Provider {
  readonly name: string;
  /** Its flights are invented: it is never sold for real money. */
  readonly isSandbox: boolean;
  /** Its airlines change flights after the sale, so orders are watched until departure. */
  readonly changesSchedules?: boolean | undefined;
  /** Takes any airport code; `search` refuses unknown ones (`airport_unknown`). */
  readonly takesAnyAirport?: boolean | undefined;
  /** Searches by city code too, for any of its airports. */
  readonly takesCities?: boolean | undefined;
  /** The least age for its adult fares, if above ours. */
  readonly leastAge?: number | undefined;
  /** null for an unknown airport. */
  airport(iata: string): { name: string; city: string; country: string; timeZone: string } | null;
  search(query: OfferQuery): Promise<Offer[]>;
  /**
   * Bags sold with offers of a search, by offer id: for as many of the first ones as the airline tells within seconds.
   * Absent: a search shows only included bags.
   */
  bagsOf?(offers: readonly Offer[]): Promise<ReadonlyMap<string, readonly TravellerBags[]>>;
  /** The offer now. `booking` is the last check before money moves: some airlines confirm a quoted price only then. */
  offer(offerId: string, moment?: OfferMoment): Promise<LiveOffer>;
  /** @throws OrderRefused if certainly nothing was ordered */
  createOrder(request: OrderRequest): Promise<ProviderOrder>;
  /**
   * null: certainly no order was or is being made under this reference. `unknown`: none is visible, which proves nothing at
   * most airlines.
   * @param offerId finds an order in the airline's list without a record of ours
   */
  findOrder(reference: string, offerId: string): Promise<ProviderOrder | null | 'unknown'>;
  order(providerOrderId: string): Promise<ProviderOrder>;
  /** All orders of ours made since then, ended ones too. Absent: the airline lists none. */
  orders?(sinceMs: number): Promise<readonly ProviderOrder[]>;
  /** Takes this quote, or any refund. @throws Problem `plan_changed` for an invalid quote: nothing was cancelled */
  cancel(providerOrderId: string, quoteId?: string): Promise<ProviderOrder>;
  /** Cancels these travellers (from 1) alone; cancelled ones stay so. Absent: the airline cancels whole orders alone. */
  cancelPassengers?(providerOrderId: string, passengers: readonly number[]): Promise<ProviderOrder>;
  /** Changes nothing. null: it can't be cancelled. Absent: the airline gives no quotes. */
  cancellationQuote?(providerOrderId: string): Promise<CancellationQuote | null>;
  /** Refusals beyond our own rules for passengers, checked before payment. */
  passengerIssues?(passengers: readonly Passenger[], offer: Offer): readonly PassengerIssue[];
  /** The airline's reason for refusing all our calls, for an operator; null: none. Asked once a minute. */
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

/** Misbehaviours of the lowcost tier's sites. */
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
