import { instant } from '../../kernel/clock.ts';
import type { SoldBag, TravellerBags } from '../../kernel/domain/bags.ts';
import { travellerType } from '../../kernel/domain/travel-ages.ts';
import { formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import type {
  AvailableService,
  CabinClass,
  Conditions,
  Offer,
  OfferPassenger,
  Slice,
} from '../../wire/flights/index.ts';
import type { LiveOffer } from '../provider.ts';
import { type Reading, readSlice } from './itinerary.ts';
import { documentRule } from './order-form.ts';
import {
  amount,
  count,
  currency,
  type Fields,
  flag,
  instantMs,
  list,
  object,
  objects,
  offerId,
  quantity,
  seatOf,
  shared,
  text,
  texts,
} from './read.ts';
import { type DuffelPorts, dataOf, failed, goneProblem, isOk } from './transport.ts';

/** Reads an offer into the wire's form, with null for undisclosed fields; null if a required field is missing. */
export function readOffer(value: unknown, reading: Reading): Offer | null {
  const { missing } = reading;
  const raw = object(value);
  const id = offerId(raw?.id);
  if (!raw || id === null) return missing('id');
  // Partial offers of a multi-step search can't be ordered.
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
  const requiredByMs = instantMs(object(raw.payment_requirements)?.payment_required_by);
  const expiresAtMs = instantMs(raw.expires_at);
  if (expiresAtMs === null) return missing('expires_at');
  const travellers = travellersOf(raw);
  if (!travellers) return missing('passengers.age');
  const { slices } = journey;
  const { segments: _segments, fare_brand_name: _brand, ...outbound } = journey.outbound;
  return {
    offer_id: id,
    comparison_key: journey.comparisonKey,
    owner_name: owner,
    ...outbound,
    slices,
    fare_brand_name: brandOf(slices),
    cabin_class: fare.cabin,
    cabin_class_marketing_name: fare.cabinName,
    checked_bags_included: fare.checkedBags,
    carry_on_bags_included: fare.carryOnBags,
    conditions: conditionsOf(raw.conditions),
    ...price,
    ...(travellers.some(({ type }) => type !== 'adult') && { passengers: travellers }),
    total_emissions_kg: quantity(raw.total_emissions_kg),
    supported_loyalty_programmes: texts(raw.supported_loyalty_programmes),
    identity_documents_required: documents,
    requires_instant_payment: instantPayment,
    ...(!instantPayment && requiredByMs !== null && { payment_required_by: instant(requiredByMs) }),
    expires_at: instant(expiresAtMs),
  };
}

function priceOf(raw: Fields) {
  const total = amount(raw.total_amount);
  const totalCurrency = currency(raw.total_currency);
  if (total === null || totalCurrency === null) return null;
  const atomic = Number(parseUsdc(total));
  if (!Number.isSafeInteger(atomic)) return null;
  // Base and tax are shown only in the total's currency.
  const part = (value: unknown, of: unknown) => (of === totalCurrency ? amount(value) : null);
  return {
    total_amount: atomic,
    total_amount_decimal: total,
    total_currency: totalCurrency,
    base_amount_decimal: part(raw.base_amount, raw.base_currency),
    tax_amount_decimal: part(raw.tax_amount, raw.tax_currency),
  };
}

/** The travellers of a search, whom Duffel prices together; null for a child of an unknown age. */
function travellersOf(raw: Fields): OfferPassenger[] | null {
  const isUnknown = (one: Fields) => one.type !== 'adult' && one.type !== undefined && count(one.age) === null;
  const given = objects(raw.passengers);
  if (given.some(isUnknown)) return null;
  return given.map((one) => {
    const age = seatOf(one);
    return { type: travellerType(age), age, total_amount_decimal: null };
  });
}

const MOST_SLICES = 4;

function journeyOf(raw: Fields, reading: Reading) {
  const given = list(raw.slices) ?? [];
  if (given.length < 1 || given.length > MOST_SLICES) return reading.missing('slices');
  const read = given.map((one) => readSlice(one, reading));
  const known = read.flatMap((one) => one ?? []);
  const outbound = known[0]?.slice;
  if (known.length !== given.length || !outbound) return null;
  return {
    outbound,
    slices: known.map(({ slice }) => slice),
    // Duffel's keys identify a slice within one search only.
    comparisonKey: known.map(({ flights }) => flights).join('~'),
  };
}

function brandOf(slices: readonly Slice[]): string | null {
  const brands = slices.map((slice) => slice.fare_brand_name);
  return brands.includes(null) ? null : [...new Set(brands)].join(' / ');
}

/** Lowest first. */
const CABINS: readonly CabinClass[] = ['economy', 'premium_economy', 'business', 'first'];

/** The lowest cabin and fewest bags of any passenger with a seat on any flight; null where one is unknown. */
function fareOf(raw: Fields) {
  const infants = objects(raw.passengers).flatMap((one) => (travellerType(seatOf(one)) === 'infant' ? [one.id] : []));
  const segments = objects(raw.slices).flatMap((slice) => list(slice.segments) ?? []);
  const seats = segments.flatMap((segment) => {
    const passengers = list(object(segment)?.passengers) ?? [];
    // Everything is unknown about a flight without passengers.
    const seated = passengers.map(object).filter((one) => !infants.includes(one?.passenger_id));
    return seated.length === 0 ? [null] : seated;
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

/** Reads the conditions of the whole offer, not those of a slice. */
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

/** A penalty of `"0.00"` is free of charge; null is unknown, as is a fee without its currency. */
function conditionOf(value: unknown) {
  const raw = object(value);
  const allowed = flag(raw?.allowed);
  const [penalty, of] = [amount(raw?.penalty_amount), currency(raw?.penalty_currency)];
  return allowed !== true || penalty === null || of === null
    ? { allowed, penalty: null, currency: null }
    : { allowed, penalty, currency: of };
}

/**
 * Reads an offer at its current price, which promises no seats.
 * @throws Problem `offer_not_found`, `offer_unavailable`, `offer_expired`, `upstream_rate_limited`, `provider_failed`
 */
export async function freshOffer({ transport, zones }: DuffelPorts, id: string, mostMs?: number) {
  if (offerId(id) === null) throw problem('offer_not_found');
  const path = `/air/offers/${id}?return_available_services=true`;
  const answer = await transport.ask({ operation: 'offer', path, isRefusable: true, ...(mostMs && { mostMs }) });
  if (!isOk(answer)) throw goneProblem(answer) ?? failed(answer);
  const raw = dataOf(answer);
  const gaps: string[] = [];
  const offer = readOffer(raw, {
    zones,
    missing(field) {
      gaps.push(field);
      return null;
    },
  });
  const passengerCount = list(raw.passengers)?.length ?? 0;
  if (offer?.offer_id !== id || passengerCount === 0) {
    throw failed(answer, `The airline's offer can't be read: ${gaps[0] ?? 'passengers'}.`);
  }
  return {
    offer,
    passengerCount,
    availableServices: readServices(raw),
    bags: readTravellers(raw),
    saleKey: saleKeyOf(raw),
    raw,
  };
}

/** Number of a search's offers that are reread for their bags, which it does not show. */
const MOST_BAG_READS = 4;
/** The search's payment lives 60 seconds, of which the search itself may take 45. */
const BAG_READ_MS = 8_000;

/** Reads the bags of the first offers; leaves out those that can't be read now. */
export async function bagsOf(ports: DuffelPorts, offers: readonly Offer[]): Promise<Map<string, DuffelTraveller[]>> {
  const read = await Promise.all(
    offers.slice(0, MOST_BAG_READS).map(async ({ offer_id: id, total_currency }) => {
      try {
        const { bags, offer } = await freshOffer(ports, id, BAG_READ_MS);
        return offer.total_currency === total_currency ? [[id, bags] as const] : [];
      } catch (error) {
        if (!isProblem(error)) throw error;
        return [];
      }
    }),
  );
  return new Map(read.flat());
}

/** The first traveller's id, which all offers of a search and their order share. */
export const saleKeyOf = (raw: Fields): string => text(object(list(raw.passengers)?.[0])?.id) ?? String(raw.id);

/**
 * Reads an offer whose search has no order.
 * @throws Problem `offer_unavailable` if an order was, or may have been, made from that search; those of `freshOffer`
 */
export async function unsoldOffer(ports: DuffelPorts, id: string): Promise<LiveOffer> {
  const { raw, ...live } = await freshOffer(ports, id);
  const attempts = await ports.attempts.bySearch(live.saleKey);
  if (attempts.some(({ verdict }) => verdict !== 'none')) throw problem('offer_unavailable');
  const { required, supported } = documentRule(raw);
  const seatMaps = async () => (await import('./seats.ts')).seatMapsOf(ports, raw);
  return { ...live, seatMaps, isUnpayable: required && !supported };
}

interface Bag extends SoldBag {
  /** Services that together cover the whole journey, valid for this read of the offer. */
  readonly ids: readonly string[];
  readonly passenger: string;
  readonly segments: ReadonlySet<string>;
  readonly weightKg: number | null;
}

export type DuffelTraveller = TravellerBags<Bag>;

/**
 * Reads the bags sold with an offer. Duffel sells a bag to one passenger for named segments; ours is for the whole
 * journey. Directions sold separately are added up; a bag for part of the way is left out, as its price would mislead.
 */
export function readServices(offer: Fields): AvailableService[] {
  const bags = readBags(offer);
  return groups(bags, (bag) => keyOf(bag.type, bag.weightKg, String(bag.amount), bag.currency)).flatMap((same) => {
    const [bag] = same;
    if (!bag) return [];
    const service: AvailableService = {
      type: 'baggage',
      baggage_type: bag.type,
      maximum_weight_kg: bag.weightKg,
      maximum_quantity: same.reduce((sum, { most }) => sum + most, 0),
      total_amount_decimal: formatUsdc(bag.amount),
      total_currency: bag.currency,
    };
    return [service];
  });
}

/** Reads each seated passenger's bags: those included on every flight, and those for sale. */
function readTravellers(offer: Fields): DuffelTraveller[] {
  const segments = segmentsOf(offer);
  const bags = readBags(offer);
  const seated = objects(offer.passengers).filter((one) => travellerType(seatOf(one)) !== 'infant');
  return texts(seated.map(({ id }) => id)).map((passenger) => {
    const seats = segments.map(
      (segment) => objects(segment.passengers).find(({ passenger_id }) => passenger_id === passenger) ?? null,
    );
    return {
      included: { checked: leastBags(seats, 'checked'), carry_on: leastBags(seats, 'carry_on') },
      sold: bags.filter((bag) => bag.passenger === passenger),
    };
  });
}

const segmentsOf = (offer: Fields): Fields[] => objects(offer.slices).flatMap((slice) => objects(slice.segments));

function readBags(offer: Fields): Bag[] {
  const whole = new Set(texts(segmentsOf(offer).map(({ id }) => id)));
  const bags = objects(offer.available_services).flatMap((one) => readBag(one) ?? []);
  return groups(bags, (bag) => keyOf(bag.passenger, bag.type, bag.weightKg, bag.currency)).flatMap((alike) =>
    wholeWay(alike, whole),
  );
}

/** Combines one passenger's bags of a kind into bags for the whole journey. */
function wholeWay(alike: readonly Bag[], whole: ReadonlySet<string>): Bag[] {
  const covering = alike.filter(({ segments }) => covers(segments, whole));
  const partial = alike.filter(({ segments }) => !covers(segments, whole));
  const parts = partial.flatMap(({ segments }) => [...segments]);
  const [first] = partial;
  // Sums need each flight exactly once.
  if (!first || parts.length !== whole.size || !covers(new Set(parts), whole)) return covering;
  const amount = partial.reduce((total, bag) => total + bag.amount, 0n);
  const most = Math.min(...partial.map((bag) => bag.most));
  return [...covering, { ...first, ids: partial.flatMap(({ ids }) => ids), segments: whole, most, amount }];
}

const covers = (segments: ReadonlySet<string>, whole: ReadonlySet<string>): boolean =>
  whole.size > 0 && [...whole].every((segment) => segments.has(segment));

function readBag(raw: Fields): Bag | null {
  const id = text(raw.id);
  if (raw.type !== 'baggage' || id === null) return null;
  const [passenger, ...others] = texts(raw.passenger_ids);
  const segments = texts(raw.segment_ids);
  const [price, of, most] = [amount(raw.total_amount), currency(raw.total_currency), count(raw.maximum_quantity)];
  if (passenger === undefined || others.length > 0 || segments.length === 0) return null;
  if (price === null || of === null || most === null || most === 0) return null;
  const about = object(raw.metadata);
  const type = about?.type === 'checked' || about?.type === 'carry_on' ? about.type : null;
  const weightKg = quantity(about?.maximum_weight_kg);
  return {
    ...{ ids: [id], passenger, segments: new Set(segments) },
    ...{ type, weightKg, most, amount: parseUsdc(price), currency: of },
  };
}

const keyOf = (...parts: readonly (string | number | null)[]): string => JSON.stringify(parts);

function groups<T>(all: readonly T[], keyOfOne: (one: T) => string): T[][] {
  const found = new Map<string, T[]>();
  for (const one of all) found.set(keyOfOne(one), [...(found.get(keyOfOne(one)) ?? []), one]);
  return [...found.values()];
}
