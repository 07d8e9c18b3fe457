import type { FareContent } from '../../airlines/index.ts';
import type { Offer } from '../../wire/flights/index.ts';
import { type IntentRow, lockedOffer } from '../base/index.ts';

/** Prefix of the ids of lowcost offers and of their airline orders. */
const PREFIX = 'lowcost:';

export const isLowcost = (id: string): boolean => id.startsWith(PREFIX);

/** Returns `lowcost:<flight>` for `lowcost:<flight>##<n>`. */
export const flightOf = (offerId: string): string => offerId.split('##', 1)[0] ?? offerId;

/** Airline order id of a purchase, made from our intent id, which is its reference at the fulfiller. */
export const orderIdOf = (reference: string): string => PREFIX + reference;
export const referenceOf = (orderId: string): string => orderId.slice(PREFIX.length);

/** How an airline can identify an order: a carrier's web site got only our reference. */
export const knownAs = (orderId: string): string =>
  isLowcost(orderId) ? `our reference ${referenceOf(orderId)}` : `its order ${orderId}`;

export const fareOf = (offer: Offer): FareContent => ({
  brand: offer.fare_brand_name,
  checkedBags: offer.checked_bags_included,
  carryOnBags: offer.carry_on_bags_included,
  conditions: offer.conditions,
});

export const contentOf = (intent: Pick<IntentRow, 'offer'>): FareContent => fareOf(lockedOffer(intent));
