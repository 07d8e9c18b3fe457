import * as z from 'zod';
import { OTHER_ELEMENTS } from '../../kernel/domain/seats.ts';
import { cabinClass, currency, decimal, duration, iata, instant } from './parts.ts';

/** The offer on the wire (spec/flight-service.md, Offer; CONTRACT, section 4). null means "undisclosed". */

export const localTime = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);

const flown = {
  origin_iata: iata,
  destination_iata: iata,
  departing_at: localTime,
  arriving_at: localTime,
  origin_time_zone: z.string(),
  destination_time_zone: z.string(),
  duration,
};

export const segment = z.strictObject({
  ...flown,
  carrier_name: z.string().describe('The operating carrier.'),
  operating_flight_number: z.string().nullable(),
  marketing_carrier_name: z.string(),
  flight_number: z.string().describe('The marketing flight number, such as ZA412.'),
  aircraft_name: z.string().nullable(),
  origin_terminal: z.string().nullable(),
  destination_terminal: z.string().nullable(),
  fare_basis_code: z.string().nullable(),
  technical_stops: z.int().min(0),
  technical_stop_airports: z.array(iata),
});

export const slice = z.strictObject({
  ...flown,
  stops: z.int().min(0),
  technical_stops: z.int().min(0),
  fare_brand_name: z.string().nullable(),
  segments: z.array(segment).min(1),
});

export const conditions = z.strictObject({
  change_allowed: z.boolean().nullable(),
  change_penalty_amount: decimal.nullable().describe('"0" is free, null undisclosed.'),
  change_penalty_currency: currency.nullable(),
  refund_allowed: z.boolean().nullable(),
  refund_penalty_amount: decimal.nullable(),
  refund_penalty_currency: currency.nullable(),
});

export const withBags = z
  .strictObject({
    way: z
      .enum(['included', 'fare', 'service', 'unknown'])
      .describe('`fare`: included here, and not in a cheaper fare of the itinerary. `service`: extra bags are bought.'),
    bags_amount_decimal: decimal.nullable().describe('Of all travellers, on top of the fare; null while unknown.'),
    total_amount: z.int().nullable().describe('The fare with the bags, atomic units.'),
    total_amount_decimal: decimal.nullable(),
  })
  .describe('With the bags of the request.');

export const fareOption = z.strictObject({
  offer_id: z.string(),
  owner_name: z.string(),
  fare_brand_name: z.string().nullable(),
  total_amount_decimal: decimal,
  total_currency: currency,
  refundable: z.boolean().nullable(),
  refund_penalty_amount: decimal.nullable(),
  refund_penalty_currency: currency.nullable(),
  changeable: z.boolean().nullable(),
  change_penalty_amount: decimal.nullable(),
  change_penalty_currency: currency.nullable(),
  checked_bags_included: z.int().min(0).nullable(),
  with_bags: withBags.optional(),
});

export const offerPassenger = z.strictObject({
  type: z.enum(['adult', 'youth', 'child', 'infant']),
  age: z.int().min(0).nullable().describe('When the last direction departs, as it was searched; null for an adult.'),
  total_amount_decimal: decimal.nullable().describe('Of this traveller; null where the seller tells only the sum.'),
});

export const offer = z.strictObject({
  offer_id: z.string(),
  comparison_key: z.string().describe('The same for every offer on the same physical itinerary.'),
  owner_name: z.string().describe('The seller.'),
  origin_iata: iata,
  destination_iata: iata,
  departing_at: localTime,
  arriving_at: localTime.describe('Arrival at the destination of the outbound direction.'),
  origin_time_zone: z.string(),
  destination_time_zone: z.string(),
  duration: duration.describe('Of the outbound direction.'),
  stops: z.int().min(0),
  technical_stops: z.int().min(0),
  slices: z.array(slice).min(1).max(4),
  fare_brand_name: z.string().nullable(),
  cabin_class: cabinClass,
  cabin_class_marketing_name: z.string().nullable(),
  checked_bags_included: z.int().min(0).nullable(),
  carry_on_bags_included: z.int().min(0).nullable(),
  conditions: conditions.nullable(),
  total_amount: z.int().describe('Atomic units of 6 decimals, all passengers.'),
  total_amount_decimal: decimal,
  total_currency: currency,
  passengers: z.array(offerPassenger).optional().describe('Of a search with children; absent: adults alone.'),
  base_amount_decimal: decimal.nullable(),
  tax_amount_decimal: decimal.nullable(),
  total_emissions_kg: z.number().nullable(),
  supported_loyalty_programmes: z.array(z.string()),
  identity_documents_required: z.boolean(),
  requires_instant_payment: z.boolean(),
  payment_required_by: instant
    .optional()
    .describe('Until when the airline would hold it unpaid, where it would; this service pays when it books.'),
  expires_at: instant,
  with_bags: withBags.optional(),
  fare_options_count: z.int().optional(),
  fare_options: z.array(fareOption).optional(),
});

export const availableService = z.strictObject({
  type: z.enum(['baggage']),
  baggage_type: z.enum(['checked', 'carry_on']).nullable(),
  maximum_weight_kg: z.number().nullable(),
  maximum_quantity: z.int(),
  total_amount_decimal: decimal.describe('Per unit.'),
  total_currency: currency,
});

const seat = z.strictObject({
  designator: z.string().describe('Such as 12A.'),
  name: z.string().optional(),
  disclosures: z.array(z.string()).optional().describe("The airline's terms of this seat, such as of an exit row."),
  prices: z
    .array(z.strictObject({ total_amount_decimal: decimal, passenger_indexes: z.array(z.int()).optional() }))
    .describe('In the currency of the offer, for these travellers, or for each with a seat. Empty: taken.'),
});

export const seatMap = z.strictObject({
  segment_index: z.int().describe('Among all flights of all slices, from 0.'),
  origin_iata: iata,
  destination_iata: iata,
  flight_number: z.string(),
  cabins: z.array(
    z.strictObject({
      deck: z.int(),
      cabin_class: cabinClass.nullable(),
      rows: z
        .array(z.array(z.array(z.union([seat, z.enum(OTHER_ELEMENTS)]))))
        .describe('From front to back: sections, between which aisles lie, of seats and other elements.'),
    }),
  ),
});

export type SeatMapSeat = z.infer<typeof seat>;
export type SeatMap = z.infer<typeof seatMap>;
export type CabinClass = z.infer<typeof cabinClass>;
export type Segment = z.infer<typeof segment>;
export type Slice = z.infer<typeof slice>;
export type Conditions = z.infer<typeof conditions>;
export type WithBags = z.infer<typeof withBags>;
export type FareOption = z.infer<typeof fareOption>;
export type Offer = z.infer<typeof offer>;
export type OfferPassenger = z.infer<typeof offerPassenger>;
export type AvailableService = z.infer<typeof availableService>;
