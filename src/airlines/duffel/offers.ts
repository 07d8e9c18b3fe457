import { instant } from '../../kernel/clock.ts';
import { parseUsdc } from '../../kernel/money.ts';
import type { CabinClass, Conditions, Offer, Slice } from '../../wire/flights/index.ts';
import { type Reading, readSlice } from './itinerary.ts';
import {
  amount,
  count,
  currency,
  type Fields,
  flag,
  instantMs,
  list,
  object,
  offerId,
  quantity,
  shared,
  text,
} from './read.ts';

/**
 * An offer of Duffel's as the wire shows it. Each field is mapped, or null where Duffel does not say; an offer that lacks
 * what can't be null is none (`reading.missing` is told what).
 */
export function readOffer(value: unknown, reading: Reading): Offer | null {
  const { missing } = reading;
  const raw = object(value);
  const id = offerId(raw?.id);
  if (!raw || id === null) return missing('id');
  // Of a multi-step search: it can't be ordered.
  if (raw.partial === true) return missing('whole offer');
  const price = priceOf(raw);
  if (!price) return missing('total_amount');
  const owner = text(object(raw.owner)?.name);
  if (owner === null) return missing('owner.name');
  const journey = journeyOf(raw, reading);
  if (!journey) return null;
  const fare = fareOf(raw);
  if (fare.cabin === null) return missing('cabin_class');
  const documents = flag(raw.passenger_identity_documents_required);
  if (documents === null) return missing('passenger_identity_documents_required');
  const instantPayment = flag(object(raw.payment_requirements)?.requires_instant_payment);
  if (instantPayment === null) return missing('requires_instant_payment');
  const expiresAtMs = instantMs(raw.expires_at);
  if (expiresAtMs === null) return missing('expires_at');
  const { outbound, slices } = journey;
  return {
    offer_id: id,
    comparison_key: journey.comparisonKey,
    owner_name: owner,
    origin_iata: outbound.origin_iata,
    destination_iata: outbound.destination_iata,
    departing_at: outbound.departing_at,
    arriving_at: outbound.arriving_at,
    origin_time_zone: outbound.origin_time_zone,
    destination_time_zone: outbound.destination_time_zone,
    duration: outbound.duration,
    stops: outbound.stops,
    technical_stops: outbound.technical_stops,
    slices,
    fare_brand_name: brandOf(slices),
    cabin_class: fare.cabin,
    cabin_class_marketing_name: fare.cabinName,
    checked_bags_included: fare.checkedBags,
    carry_on_bags_included: fare.carryOnBags,
    conditions: conditionsOf(raw.conditions),
    ...price,
    total_emissions_kg: quantity(raw.total_emissions_kg),
    supported_loyalty_programmes: (list(raw.supported_loyalty_programmes) ?? []).flatMap((one) => text(one) ?? []),
    identity_documents_required: documents,
    requires_instant_payment: instantPayment,
    expires_at: instant(expiresAtMs),
  };
}

type Price = Pick<
  Offer,
  'total_amount' | 'total_amount_decimal' | 'total_currency' | 'base_amount_decimal' | 'tax_amount_decimal'
>;

function priceOf(raw: Fields): Price | null {
  const total = amount(raw.total_amount);
  const totalCurrency = currency(raw.total_currency);
  if (total === null || totalCurrency === null) return null;
  const atomic = Number(parseUsdc(total));
  if (!Number.isSafeInteger(atomic)) return null;
  // Our parts are in the currency of the total; in another one they would be misread.
  const part = (value: unknown, of: unknown) => (of === totalCurrency ? amount(value) : null);
  return {
    total_amount: atomic,
    total_amount_decimal: total,
    total_currency: totalCurrency,
    base_amount_decimal: part(raw.base_amount, raw.base_currency),
    tax_amount_decimal: part(raw.tax_amount, raw.tax_currency),
  };
}

function journeyOf(raw: Fields, reading: Reading) {
  const given = list(raw.slices) ?? [];
  if (given.length < 1 || given.length > 2) return reading.missing('slices');
  const read = given.map((one) => readSlice(one, reading));
  const known = read.flatMap((one) => one ?? []);
  const outbound = known[0]?.slice;
  if (known.length !== given.length || !outbound) return null;
  return {
    outbound,
    slices: known.map(({ slice }) => slice),
    // Duffel's own keys are of each slice, and say nothing across searches.
    comparisonKey: known.map(({ flights }) => flights).join('~'),
  };
}

/** Both directions may have a brand of their own. */
function brandOf(slices: readonly Slice[]): string | null {
  const brands = slices.map((slice) => slice.fare_brand_name);
  return brands.includes(null) ? null : [...new Set(brands)].join(' / ');
}

/** Lowest first. */
const CABINS: readonly CabinClass[] = ['economy', 'premium_economy', 'business', 'first'];

interface ReadFare {
  readonly cabin: CabinClass | null;
  readonly cabinName: string | null;
  readonly checkedBags: number | null;
  readonly carryOnBags: number | null;
}

/** What everybody has on every flight: the lowest cabin and the fewest bags. null where one is not told. */
function fareOf(raw: Fields): ReadFare {
  const segments = (list(raw.slices) ?? []).flatMap((slice) => list(object(slice)?.segments) ?? []);
  const seats = segments.flatMap((segment) => {
    const passengers = list(object(segment)?.passengers) ?? [];
    // A flight that says nothing about anybody: everything about it is unknown.
    return passengers.length === 0 ? [null] : passengers.map(object);
  });
  const known: readonly unknown[] = CABINS;
  const cabins = seats.map((seat) => known.indexOf(seat?.cabin_class));
  return {
    cabin: CABINS[Math.min(...cabins)] ?? null,
    cabinName: shared(seats.map((seat) => text(seat?.cabin_class_marketing_name))),
    checkedBags: leastBags(seats, 'checked'),
    carryOnBags: leastBags(seats, 'carry_on'),
  };
}

function leastBags(seats: readonly (Fields | null)[], type: string): number | null {
  let least: number | null = null;
  for (const seat of seats) {
    const baggages = list(seat?.baggages);
    if (!baggages) return null;
    let sum = 0;
    for (const one of baggages) {
      const bag = object(one);
      if (text(bag?.type) === null) return null;
      if (bag?.type !== type) continue;
      const bags = count(bag.quantity);
      if (bags === null) return null;
      sum += bags;
    }
    least = Math.min(least ?? sum, sum);
  }
  return least;
}

/** Those of the whole offer: a slice's own are about that slice alone. */
function conditionsOf(value: unknown): Conditions | null {
  const raw = object(value);
  const change = conditionOf(raw?.change_before_departure);
  const refund = conditionOf(raw?.refund_before_departure);
  if (change.allowed === null && refund.allowed === null) return null;
  return {
    change_allowed: change.allowed,
    change_penalty_amount: change.penalty,
    change_penalty_currency: change.currency,
    refund_allowed: refund.allowed,
    refund_penalty_amount: refund.penalty,
    refund_penalty_currency: refund.currency,
  };
}

/** `"0.00"` is free of charge; null is a fee that nobody tells, and so is one without its currency. */
function conditionOf(value: unknown) {
  const raw = object(value);
  const allowed = flag(raw?.allowed);
  const [penalty, of] = [amount(raw?.penalty_amount), currency(raw?.penalty_currency)];
  return allowed !== true || penalty === null || of === null
    ? { allowed, penalty: null, currency: null }
    : { allowed, penalty, currency: of };
}
