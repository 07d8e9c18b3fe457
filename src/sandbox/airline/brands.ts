import type { CabinClass, Conditions } from '../../wire/flights/index.ts';
import type { Airline } from './airlines.ts';
import { decimalOf } from './prices.ts';
import { TOPIC } from './random.ts';
import { EUR_PER_USD, type Seller } from './sellers.ts';
import type { World } from './world.ts';

/** The contents of a fare brand. Tier 0 is the most restricted. */
interface FareTerms {
  readonly checkedBags: number | null;
  readonly carryOnBags: number | null;
  readonly conditions: Conditions | null;
}

const CABIN_NAME: Record<CabinClass, string> = {
  economy: 'Economy',
  premium_economy: 'Premium Economy',
  business: 'Business',
  first: 'First',
};

export const cabinName = (cabin: CabinClass): string => CABIN_NAME[cabin];

export const brandName = (airline: Airline, cabin: CabinClass, tier: number): string => {
  const brand = airline.brands[tier] ?? '';
  return cabin === 'economy' ? brand : `${CABIN_NAME[cabin]} ${brand}`;
};

const CLASSES: Record<CabinClass, string> = {
  economy: 'OLHY',
  premium_economy: 'NREW',
  business: 'ZIDJ',
  first: 'APFF',
};

/** Such as `OLX1RZA`: booking class, season, weekday or weekend, brand, one way or return, airline. */
export function fareBasis(
  airline: Airline,
  cabin: CabinClass,
  tier: number,
  departureLocalMs: number,
  isReturn: boolean,
): string {
  const date = new Date(departureLocalMs);
  const high = [5, 6, 7, 11].includes(date.getUTCMonth());
  const weekend = [0, 5, 6].includes(date.getUTCDay());
  return `${CLASSES[cabin][tier] ?? 'Y'}${high ? 'H' : 'L'}${weekend ? 'W' : 'X'}${tier + 1}${isReturn ? 'R' : 'O'}${airline.code}`;
}

/**
 * Bags and conditions of a brand. Penalties are for the whole booking, in the seller's currency; `"0"` is free, null
 * is undisclosed (CONTRACT, section 4).
 */
export function fareTerms(
  world: World,
  airline: Airline,
  cabin: CabinClass,
  tier: number,
  seller: Seller,
  journeyKm: number,
  adults: number,
  totalCents: number,
): FareTerms {
  const { dice } = world;
  const top = airline.brands.length - 1;
  const premium = cabin === 'business' || cabin === 'first';
  const long = journeyKm > 4000;
  const hides = (what: number, share: number) => dice.unit(TOPIC.disclosure, airline.index, what) < share;

  const checked = premium ? (tier === 0 && airline.kind === 'leisure' ? 1 : 2) : bagsInEconomy();
  function bagsInEconomy(): number {
    if (tier === 0) return airline.kind === 'full_service' && long && hides(10, 0.5) ? 1 : 0;
    return tier === top && long ? 2 : 1;
  }
  const carryOn = premium ? 2 : airline.kind === 'leisure' && tier === 0 ? 0 : 1;

  const penalty = (share: number, what: number): string => {
    const usual = (long ? 120 : 45) + 15 * dice.pick(6, TOPIC.conditions, airline.index, what);
    const rate = seller.currency === 'EUR' ? EUR_PER_USD : 1;
    const cents = Math.round(usual * share * (premium ? 1.5 : 1) * rate) * 100 * adults;
    return decimalOf(Math.min(cents, Math.floor((totalCents * 0.6) / 100) * 100));
  };
  const generous = tier + (premium ? 1 : 0);
  const changeAllowed = generous > 0 || dice.unit(TOPIC.conditions, airline.index, 20) > 0.45;
  const refundAllowed =
    generous >= 2 || (generous === 1 && dice.unit(TOPIC.conditions, airline.index, 21) > 0.5);
  const changeFree = tier >= Math.max(2, top - 1) || generous > top;
  const refundFree = generous >= top && (tier === 3 || dice.unit(TOPIC.conditions, airline.index, 22) > 0.4);
  const changePenalty = !changeAllowed ? null : changeFree ? '0' : hides(11, 0.12) ? null : penalty(1, 23);
  const refundPenalty = !refundAllowed ? null : refundFree ? '0' : hides(12, 0.15) ? null : penalty(1.6, 24);
  const keepsRefund = seller.silent.includes('refund');
  const conditions: Conditions = {
    change_allowed: changeAllowed,
    change_penalty_amount: changePenalty,
    change_penalty_currency: changePenalty === null ? null : seller.currency,
    refund_allowed: keepsRefund ? null : refundAllowed,
    refund_penalty_amount: keepsRefund ? null : refundPenalty,
    refund_penalty_currency: keepsRefund || refundPenalty === null ? null : seller.currency,
  };
  return {
    checkedBags: seller.silent.includes('bags') && hides(13, 0.5) ? null : checked,
    carryOnBags: hides(14, 0.15) ? null : carryOn,
    conditions: seller.silent.includes('conditions') && hides(15, 0.6) ? null : conditions,
  };
}
