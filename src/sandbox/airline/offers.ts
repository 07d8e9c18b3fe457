import { instant } from '../../kernel/clock.ts';
import type { CabinClass, Offer, OfferPassenger, Segment, Slice } from '../../wire/flights/index.ts';
import type { Itinerary } from './itineraries.ts';
import {
  cabinOn,
  comparisonKey,
  conditionsOf,
  type Journey,
  lengthKm,
  marketingAirline,
  marketingNumber,
  operatingNumber,
  spanOf,
} from './journey.ts';
import {
  type BaseFare,
  DIRECT,
  decimalOf,
  EUR_PER_USD,
  priceOf,
  SELLERS,
  type Selection,
  type Seller,
  seatsOf,
} from './prices.ts';
import type { Flight } from './timetable.ts';
import { type Airline, type Airport, TOPIC, type World } from './world.ts';

/**
 * CO2 by ICAO's Carbon Emissions Calculator Methodology: fuel over the great circle with ICAO's correction (50, 100 or
 * 125 km), times the passengers' share, per occupied economy-equivalent seat, times the cabin factor (2 above economy
 * over 3000 km), times 3.16 kg per kg of fuel. Fuel grows linearly with distance, by aircraft type (fleet.json).
 */
const CO2_PER_FUEL = 3.16;

const PASSENGER_SHARE = { turboprop: 0.98, regional_jet: 0.97, narrow: 0.95, wide: 0.82 } as const;
const LONG_HAUL_KM = 3000;

/** Offers last 20 to 45 minutes. */
export const expiresAtMs = (world: World, { issuedMinute, tier, sellerIndex }: Selection, base: BaseFare): number =>
  (issuedMinute + 21 + world.dice.pick(24, TOPIC.lifetime, base.bits, tier, sellerIndex)) * 60_000;

type Frame = ReturnType<typeof frameOf>;

/** The part shared by all offers on a journey. */
export const frameOf = (world: World, journey: Journey, plating: Airline, cabin: CabinClass) => ({
  comparisonKey: comparisonKey(journey),
  lengthKm: Math.max(...journey.map(lengthKm)),
  emissionsKgPerAdult: emissionsKg(world, journey, cabin),
  programmes: programmes(journey, plating),
  /** The slices without the fare's brand and basis. */
  slices: journey.map((itinerary) => sliceOf(world, itinerary, plating)),
});

/** Equal selections give equal offers on every machine. */
export function composeOffer(world: World, id: string, selection: Selection, base: BaseFare, frame: Frame): Offer {
  const { journey, plating, tier, cabin, sellerIndex } = selection;
  const seller = SELLERS[sellerIndex];
  if (!seller) throw new RangeError('not a selection of this world');
  const price = priceOf(world, base, selection, seller);
  const terms = fareTerms(world, selection, seller, frame.lengthKm, price.totalCents);
  const brand = seller.silent.includes('brand') && base.bits % 6 === 0 ? null : brandName(plating, cabin, tier);
  const basisOf = (flight: Flight): string | null =>
    seller.silent.includes('fare_basis') ? null : fareBasis(selection, cabinOn(flight, cabin), flight.departureLocalMs);
  const slices = frame.slices.map((slice, direction) => ({
    ...slice,
    fare_brand_name: brand,
    segments: slice.segments.map((segment, i) => {
      const flight = journey[direction]?.[i];
      return { ...segment, fare_basis_code: flight ? basisOf(flight) : null };
    }),
  }));
  const [first] = slices;
  if (!first) throw new RangeError('a journey without directions');
  const { fare_brand_name: _, segments: __, ...span } = first;
  const showsTax = !seller.silent.includes('tax');
  const emissions = frame.emissionsKgPerAdult;
  return {
    offer_id: id,
    comparison_key: frame.comparisonKey,
    owner_name: seller.name ?? plating.name,
    ...span,
    slices,
    fare_brand_name: brand,
    cabin_class: cabin,
    cabin_class_marketing_name: brand === null ? null : CABIN_NAME[cabin],
    checked_bags_included: terms.checkedBags,
    carry_on_bags_included: terms.carryOnBags,
    conditions: terms.conditions,
    total_amount: price.totalCents * 10_000,
    total_amount_decimal: decimalOf(price.totalCents),
    total_currency: seller.currency,
    ...(price.each && { passengers: price.each.map((one) => passengerOf(one, seller)) }),
    base_amount_decimal: showsTax ? decimalOf(price.baseCents) : null,
    tax_amount_decimal: showsTax ? decimalOf(price.taxCents) : null,
    total_emissions_kg: emissions === null ? null : Math.round(emissions * seatsOf(selection)),
    supported_loyalty_programmes: sellerIndex === DIRECT || base.bits % 3 === 0 ? [...frame.programmes] : [],
    // Documents are checked at the airport, and a booking is paid at once.
    identity_documents_required: false,
    requires_instant_payment: true,
    expires_at: instant(expiresAtMs(world, selection, base)),
  };
}

/** Has no price if the agency does not disclose taxes. */
const passengerOf = (
  { type, age, baseCents, taxCents }: NonNullable<ReturnType<typeof priceOf>['each']>[number],
  { silent }: Seller,
): OfferPassenger => ({
  type,
  age,
  total_amount_decimal: silent.includes('tax') ? null : decimalOf(baseCents + taxCents),
});

function sliceOf(world: World, itinerary: Itinerary, plating: Airline): Slice {
  const first = itinerary[0];
  const last = itinerary.at(-1);
  if (!first || !last) throw new RangeError('a direction without flights');
  const segments = itinerary.map((flight) => segmentOf(world, flight, plating));
  const minutes = (last.arrivalMs - first.departureMs) / 60_000;
  return {
    ...spanOf(first.from, last.to, first.departureLocalMs, last.arrivalLocalMs, minutes),
    stops: itinerary.length - 1,
    technical_stops: segments.reduce((sum, segment) => sum + segment.technical_stops, 0),
    fare_brand_name: null,
    segments,
  };
}

function segmentOf(world: World, flight: Flight, plating: Airline): Segment {
  const { from, to, slot, airline } = flight;
  return {
    ...spanOf(from, to, flight.departureLocalMs, flight.arrivalLocalMs, slot.blockMinutes),
    carrier_name: airline.name,
    operating_flight_number: operatingNumber(flight),
    marketing_carrier_name: marketingAirline(flight, plating).name,
    flight_number: marketingNumber(world, flight, plating),
    aircraft_name: disclosesAircraft(world, flight) ? slot.aircraft.name : null,
    origin_terminal: terminal(world, from, airline),
    destination_terminal: terminal(world, to, airline),
    fare_basis_code: null,
    technical_stops: slot.stop ? 1 : 0,
    technical_stop_airports: slot.stop ? [slot.stop.iata] : [],
  };
}

/** The airline's fixed terminal at an airport; small airports and some airlines name none. */
function terminal(world: World, airport: Airport, airline: Airline): string | null {
  if (airport.size <= 2 || world.dice.unit(TOPIC.terminal, airline.index) < 0.1) return null;
  const number = world.dice.pick(airport.size - 1, TOPIC.terminal, airport.index, airline.index);
  return world.dice.unit(TOPIC.terminal, airport.index, 7, 7) < 0.25 ? 'ABCD'.charAt(number) : String(number + 1);
}

function programmes(journey: Journey, plating: Airline): string[] {
  const found = new Set<string>();
  if (plating.programme) found.add(plating.programme);
  for (const { airline } of journey.flat()) if (airline.programme) found.add(airline.programme);
  return [...found];
}

/** Kilograms for one adult; null if an airline does not disclose its aircraft or emissions. */
function emissionsKg(world: World, journey: Journey, cabin: CabinClass): number | null {
  let perAdult = 0;
  for (const flight of journey.flat()) {
    if (!disclosesAircraft(world, flight) || world.dice.unit(TOPIC.emissions, flight.airline.index) < 0.1) {
      return null;
    }
    perAdult += flightKg(flight, cabinOn(flight, cabin));
  }
  return perAdult;
}

function flightKg(flight: Flight, cabin: CabinClass): number {
  const { aircraft, service } = flight.slot;
  const km = service.distanceKm;
  const flownKm = km + (km < 550 ? 50 : km <= 5500 ? 100 : 125);
  const landings = flight.slot.stop ? 2 : 1;
  const fuelKg = aircraft.fuelFixedKg * landings + aircraft.fuelPerKm * flownKm;
  const premium = km > LONG_HAUL_KM ? 2 : 1;
  const { economy, premium_economy, business, first } = aircraft.seats;
  const equivalentSeats = economy + premium * (premium_economy + business + first);
  const loadFactor = flight.airline.kind === 'leisure' ? 0.88 : 0.81;
  const factor = cabin === 'economy' ? 1 : premium;
  return ((CO2_PER_FUEL * fuelKg * PASSENGER_SHARE[aircraft.body]) / (equivalentSeats * loadFactor)) * factor;
}

const disclosesAircraft = (world: World, { airline, slot }: Flight): boolean =>
  world.dice.unit(TOPIC.disclosure, airline.index, 1) >= 0.06 &&
  world.dice.unit(TOPIC.disclosure, airline.index, 2, slot.flightNumber) >= 0.03;

const CABIN_NAME: Record<CabinClass, string> = {
  economy: 'Economy',
  premium_economy: 'Premium Economy',
  business: 'Business',
  first: 'First',
};

const brandName = (airline: Airline, cabin: CabinClass, tier: number): string => {
  const brand = airline.brands[tier] ?? '';
  return cabin === 'economy' ? brand : `${CABIN_NAME[cabin]} ${brand}`;
};

const CLASSES: Record<CabinClass, string> = {
  economy: 'OLHY',
  premium_economy: 'NREW',
  business: 'ZIDJ',
  first: 'APFF',
};

/** Composes `OLX1RZA`: booking class, season, weekday or weekend, brand, one way or return, airline. */
function fareBasis({ plating, tier, journey }: Selection, cabin: CabinClass, departureLocalMs: number): string {
  const date = new Date(departureLocalMs);
  const high = [5, 6, 7, 11].includes(date.getUTCMonth());
  const weekend = [0, 5, 6].includes(date.getUTCDay());
  return `${CLASSES[cabin][tier] ?? 'Y'}${high ? 'H' : 'L'}${weekend ? 'W' : 'X'}${tier + 1}${journey.length > 1 ? 'R' : 'O'}${plating.code}`;
}

/**
 * The bags and conditions of a brand; tier 0 is the strictest. Penalties are for the whole booking in the seller's
 * currency; `"0"` is free, null undisclosed (CONTRACT, section 4).
 */
function fareTerms(world: World, selection: Selection, seller: Seller, journeyKm: number, totalCents: number) {
  const { plating: airline, cabin, tier } = selection;
  const { dice } = world;
  const top = airline.brands.length - 1;
  const premium = cabin === 'business' || cabin === 'first';
  const long = journeyKm > 4000;
  const hides = (what: number, share: number) => dice.unit(TOPIC.disclosure, airline.index, what) < share;

  const bagsInEconomy = () => {
    if (tier === 0) return airline.kind === 'full_service' && long && hides(10, 0.5) ? 1 : 0;
    return tier === top && long ? 2 : 1;
  };
  const checked = premium ? (tier === 0 && airline.kind === 'leisure' ? 1 : 2) : bagsInEconomy();
  const carryOn = premium ? 2 : airline.kind === 'leisure' && tier === 0 ? 0 : 1;

  const penalty = (share: number, what: number): string => {
    const usual = (long ? 120 : 45) + 15 * dice.pick(6, TOPIC.conditions, airline.index, what);
    const rate = seller.currency === 'EUR' ? EUR_PER_USD : 1;
    const cents = Math.round(usual * share * (premium ? 1.5 : 1) * rate) * 100 * seatsOf(selection);
    return decimalOf(Math.min(cents, Math.floor((totalCents * 0.6) / 100) * 100));
  };
  const generous = tier + (premium ? 1 : 0);
  const changeAllowed = generous > 0 || dice.unit(TOPIC.conditions, airline.index, 20) > 0.45;
  const refundAllowed = generous >= 2 || (generous === 1 && dice.unit(TOPIC.conditions, airline.index, 21) > 0.5);
  const changeFree = tier >= Math.max(2, top - 1) || generous > top;
  const refundFree = generous >= top && (tier === 3 || dice.unit(TOPIC.conditions, airline.index, 22) > 0.4);
  const changePenalty = !changeAllowed ? null : changeFree ? '0' : hides(11, 0.12) ? null : penalty(1, 23);
  const refundPenalty = !refundAllowed ? null : refundFree ? '0' : hides(12, 0.15) ? null : penalty(1.6, 24);
  const keepsRefund = seller.silent.includes('refund');
  const refund = keepsRefund ? ([null, null] as const) : ([refundAllowed, refundPenalty] as const);
  const conditions = conditionsOf([changeAllowed, changePenalty], refund, seller.currency);
  return {
    checkedBags: seller.silent.includes('bags') && hides(13, 0.5) ? null : checked,
    carryOnBags: hides(14, 0.15) ? null : carryOn,
    conditions: seller.silent.includes('conditions') && hides(15, 0.6) ? null : conditions,
  };
}
