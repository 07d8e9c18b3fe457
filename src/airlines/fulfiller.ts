import type { Bags, TravellerBags } from '../kernel/domain/bags.ts';
import type { Conditions, Offer, Passenger } from '../wire/flights/index.ts';
import type { LiveOffer, RoundTrip } from './provider.ts';

/** Begins every id of this tier: `lowcost:<flight>` is an offer, `lowcost:<flight>##<n>` fare n of its menu. */
export const LOWCOST_PREFIX = 'lowcost:';

/** Identifies a fare, wherever a menu lists it. */
export interface FareContent {
  readonly brand: string | null;
  readonly checkedBags: number | null;
  readonly carryOnBags: number | null;
  readonly conditions: Conditions | null;
}

/** A menu's fare for all passengers. */
export interface SoldFare extends FareContent {
  readonly totalAmountDecimal: string;
  readonly totalCurrency: string;
}

/** Offers in order of arrival: a later answer begins with the same offers. */
export type QuoteOutcome =
  | { readonly kind: 'quoting'; readonly offers: readonly Offer[]; readonly nextAtMs: number }
  | { readonly kind: 'quoted'; readonly offers: readonly Offer[] };

export type MenuOutcome =
  /** The order of `fares` is arbitrary. */
  | { readonly kind: 'opened'; readonly fares: readonly SoldFare[] }
  | { readonly kind: 'pending'; readonly pollAfterMs: number }
  | { readonly kind: 'offer_gone' }
  | { readonly kind: 'check_failed'; readonly why: string };

/** Certainly nothing was bought. */
export type NothingBought =
  | { readonly kind: 'offer_gone' }
  | { readonly kind: 'price_differs'; readonly foundAmountDecimal: string }
  | { readonly kind: 'form_rejected'; readonly fields: readonly string[] }
  | { readonly kind: 'account_wall' }
  | { readonly kind: 'captcha' }
  /** The site's own words, before anything was paid. */
  | { readonly kind: 'declined' | 'sold_out' | 'price_changed' }
  /** The site differs from its recipe, visit after visit. */
  | { readonly kind: 'site_changed' };

export type BookOutcome =
  | NothingBought
  | {
      readonly kind: 'booked';
      readonly bookingReference: string;
      readonly documents: readonly { type: string; number: string }[];
      readonly paidAmountDecimal: string;
      readonly confirmedAtMs: number;
      readonly cancelledAtMs: number | null;
    }
  /** Paid, awaiting confirmation: asked again later. */
  | { readonly kind: 'pending' }
  /** Perhaps paid: never retried, a person decides. */
  | { readonly kind: 'payment_pressed_no_confirmation' };

export interface Purchase {
  /** Our reference. A repeated one never presses again, but gets the first outcome. */
  readonly reference: string;
  readonly offerId: string;
  readonly fare: FareContent;
  /** The only price that may be paid: for all passengers, with their bags. */
  readonly amountDecimal: string;
  /** Each traveller's bags; those that the fare lacks are bought with it. */
  readonly bags?: Bags | undefined;
  readonly passengers: readonly Passenger[];
}

/**
 * The lowcost tier: carriers whose fares a browser reads and buys on their sites. Unusable answers throw
 * `provider_failed`.
 */
export interface Fulfiller {
  readonly name: string;
  /** True if its flights are invented, and so never sold for real money. */
  readonly isSandbox: boolean;
  /** True if a carrier may serve the query; answers at once. */
  serves(query: RoundTrip): boolean;
  /** Offers found since `startedAtMs`. */
  quote(query: RoundTrip, startedAtMs: number): Promise<QuoteOutcome>;
  /** Bags sold with these offers, by offer id. Absent: a quote shows only included bags. */
  bagsOf?(offers: readonly Offer[]): Promise<ReadonlyMap<string, readonly TravellerBags[]>>;
  /** The quoted offer, perhaps expired; null for an unknown id. */
  offer(offerId: string): Promise<LiveOffer | null>;
  /** The fare menu whose opening began at `openedAtMs`. */
  menu(offerId: string, openedAtMs: number): Promise<MenuOutcome>;
  book(purchase: Purchase): Promise<BookOutcome>;
  /** The outcome of a purchase; null if the pay button was never pressed under this reference. */
  find(reference: string): Promise<BookOutcome | null>;
  /** Ends the cards of purchases that bought nothing; repeatable. */
  endCards?(): Promise<void>;
  /** Cancels a booking if the carrier allows it. @returns the outcome afterwards */
  cancel(reference: string): Promise<BookOutcome | null>;
}

export const boughtNothing = (outcome: BookOutcome): outcome is NothingBought =>
  outcome.kind !== 'booked' && outcome.kind !== 'pending' && outcome.kind !== 'payment_pressed_no_confirmation';

/** Makes a key that equal fares share, in every opening of a menu. */
export const fareKey = ({ brand, checkedBags, carryOnBags, conditions }: FareContent): string =>
  JSON.stringify([
    brand,
    checkedBags,
    carryOnBags,
    conditions && Object.entries(conditions).sort(([a], [b]) => (a < b ? -1 : 1)),
  ]);
