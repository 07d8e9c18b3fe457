import type { Conditions, Offer, Passenger } from '../wire/flights/index.ts';
import type { LiveOffer, OfferQuery } from './provider.ts';

/** Every id of this tier begins so: `lowcost:<flight>` is an offer, `lowcost:<flight>##<n>` fare n of its menu. */
export const LOWCOST_PREFIX = 'lowcost:';

/** The content that identifies a fare, wherever it is in a menu. */
export interface FareContent {
  readonly brand: string | null;
  readonly checkedBags: number | null;
  readonly carryOnBags: number | null;
  readonly conditions: Conditions | null;
}

/** A fare as a menu shows it, for all passengers. */
export interface SoldFare extends FareContent {
  readonly totalAmountDecimal: string;
  readonly totalCurrency: string;
}

/** Offers in the order of their arrival: asked again, the same ones come first. */
export type QuoteOutcome =
  | { readonly kind: 'quoting'; readonly offers: readonly Offer[]; readonly nextAtMs: number }
  | { readonly kind: 'quoted'; readonly offers: readonly Offer[] };

export type MenuOutcome =
  /** The order of `fares` is this opening's, and means nothing. */
  | { readonly kind: 'opened'; readonly fares: readonly SoldFare[] }
  | { readonly kind: 'pending'; readonly pollAfterMs: number }
  | { readonly kind: 'offer_gone' }
  | { readonly kind: 'check_failed'; readonly why: string };

/** Nothing was bought, for certain. */
export type NothingBought =
  | { readonly kind: 'offer_gone' }
  | { readonly kind: 'price_differs'; readonly foundAmountDecimal: string }
  | { readonly kind: 'form_rejected'; readonly fields: readonly string[] }
  | { readonly kind: 'account_wall' }
  | { readonly kind: 'captcha' }
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
  /** Paid, and the confirmation is on its way: asked again later. */
  | { readonly kind: 'pending' }
  /** Paid or not: unknown. Never tried again; a person decides. */
  | { readonly kind: 'payment_pressed_no_confirmation' };

export interface Purchase {
  /** Ours. The same reference never presses a second time: it gives the outcome of the first. */
  readonly reference: string;
  readonly offerId: string;
  readonly fare: FareContent;
  /** The only price that may be paid, all passengers. */
  readonly amountDecimal: string;
  readonly passengers: readonly Passenger[];
}

/**
 * The lowcost tier: carriers whose fares a browser reads and buys on their own websites. Each call ends in one of a closed
 * set of outcomes, or throws `provider_failed` where there was no usable answer.
 */
export interface Fulfiller {
  readonly name: string;
  /** Its flights are invented: it is never sold for real money. */
  readonly isSandbox: boolean;
  /** True when a carrier may serve the query. Costs nothing and waits for nothing. */
  serves(query: OfferQuery): boolean;
  /** What the quoting since `startedAtMs` has found by now. */
  quote(query: OfferQuery, startedAtMs: number): Promise<QuoteOutcome>;
  /** The offer as it was quoted; null when there never was one. `expires_at` may have passed. */
  offer(offerId: string): Promise<LiveOffer | null>;
  /** The fare menu whose opening began at `openedAtMs`. */
  menu(offerId: string, openedAtMs: number): Promise<MenuOutcome>;
  book(purchase: Purchase): Promise<BookOutcome>;
  /** What became of a purchase; null when the pay button was never pressed under this reference. */
  find(reference: string): Promise<BookOutcome | null>;
  /** Ends the cards of purchases that were called off. Safe to repeat. */
  endCards?(): Promise<void>;
  /** Gives a booking back where the carrier allows it. @returns the outcome as it is then */
  cancel(reference: string): Promise<BookOutcome | null>;
}

export const boughtNothing = (outcome: BookOutcome): outcome is NothingBought =>
  outcome.kind !== 'booked' && outcome.kind !== 'pending' && outcome.kind !== 'payment_pressed_no_confirmation';

/** The same text for the same fare, in every opening of the menu. */
export const fareKey = ({ brand, checkedBags, carryOnBags, conditions }: FareContent): string =>
  JSON.stringify([
    brand,
    checkedBags,
    carryOnBags,
    conditions && Object.entries(conditions).sort(([a], [b]) => (a < b ? -1 : 1)),
  ]);
