import { isoDuration } from '../../domain/offer-order.ts';
import { HOUR_MS } from '../../kernel/clock.ts';
import type { Offer, Slice } from '../../wire/flights/index.ts';
import { decimalOf } from '../airline/prices.ts';
import type { World } from '../airline/world.ts';
import { fareMenu } from './fares.ts';
import type { Leg, Trip } from './flights.ts';

/** An offer of this tier can be looked up for this long after it was quoted. */
const OFFER_LIFE_MS = HOUR_MS;

/** The trip's lead-in fare as an offer: the cheapest of its menu. */
export function offerOf(world: World, id: string, trip: Trip): Offer {
  const [fare] = fareMenu(world, trip);
  const slices = trip.legs.map(sliceOf);
  const [first] = slices;
  const [leg] = trip.legs;
  if (!fare || !first || !leg) throw new RangeError('a trip without flights');
  return {
    offer_id: id,
    comparison_key: trip.legs.map(keyOf).join('~'),
    owner_name: leg.carrier.name,
    origin_iata: first.origin_iata,
    destination_iata: first.destination_iata,
    departing_at: first.departing_at,
    arriving_at: first.arriving_at,
    origin_time_zone: first.origin_time_zone,
    destination_time_zone: first.destination_time_zone,
    duration: first.duration,
    stops: 0,
    technical_stops: 0,
    slices: slices.map((slice) => ({ ...slice, fare_brand_name: fare.brand })),
    fare_brand_name: fare.brand,
    cabin_class: 'economy',
    cabin_class_marketing_name: null,
    checked_bags_included: fare.checkedBags,
    carry_on_bags_included: fare.carryOnBags,
    conditions: fare.conditions,
    total_amount: fare.totalCents * 10_000,
    total_amount_decimal: decimalOf(fare.totalCents),
    total_currency: 'USD',
    // A lowcost website shows one number.
    base_amount_decimal: null,
    tax_amount_decimal: null,
    total_emissions_kg: null,
    supported_loyalty_programmes: [],
    identity_documents_required: true,
    requires_instant_payment: true,
    expires_at: new Date(trip.quotedMinute * 60_000 + OFFER_LIFE_MS).toISOString(),
  };
}

const local = (ms: number): string => new Date(ms).toISOString().slice(0, 19);

const keyOf = (leg: Leg): string =>
  `${leg.carrier.code}${leg.number}-${leg.from.iata}-${leg.to.iata}-${local(leg.departureLocalMs).slice(0, 10).replaceAll('-', '')}`;

function sliceOf(leg: Leg): Slice {
  const journey = {
    origin_iata: leg.from.iata,
    destination_iata: leg.to.iata,
    departing_at: local(leg.departureLocalMs),
    arriving_at: local(leg.arrivalLocalMs),
    origin_time_zone: leg.from.timeZone,
    destination_time_zone: leg.to.timeZone,
    duration: isoDuration(leg.blockMinutes),
  };
  return {
    ...journey,
    stops: 0,
    technical_stops: 0,
    fare_brand_name: null,
    segments: [
      {
        ...journey,
        carrier_name: leg.carrier.name,
        operating_flight_number: `${leg.carrier.code}${leg.number}`,
        marketing_carrier_name: leg.carrier.name,
        flight_number: `${leg.carrier.code}${leg.number}`,
        aircraft_name: null,
        origin_terminal: null,
        destination_terminal: null,
        fare_basis_code: null,
        technical_stops: 0,
        technical_stop_airports: [],
      },
    ],
  };
}
