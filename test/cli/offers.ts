import type { FareOption, Intent, Offer, SearchResponse, Segment, Slice } from '../../src/wire/flights/index.ts';

/** Offers for the views, as the wire has them. */

export const segment = (changed: Partial<Segment> = {}): Segment => ({
  origin_iata: 'LIS',
  destination_iata: 'BER',
  departing_at: '2026-12-20T06:35:00',
  arriving_at: '2026-12-20T11:05:00',
  origin_time_zone: 'Europe/Lisbon',
  destination_time_zone: 'Europe/Berlin',
  duration: 'PT3H30M',
  carrier_name: 'Zephyr Atlantic',
  operating_flight_number: 'ZA412',
  marketing_carrier_name: 'Zephyr Atlantic',
  flight_number: 'ZA412',
  aircraft_name: 'Airbus A320neo',
  origin_terminal: '1',
  destination_terminal: null,
  fare_basis_code: 'YLITE',
  technical_stops: 0,
  technical_stop_airports: [],
  ...changed,
});

export const slice = (segments: Segment[] = [segment()], duration = 'PT3H30M'): Slice => ({
  origin_iata: segments[0]?.origin_iata ?? '',
  destination_iata: segments.at(-1)?.destination_iata ?? '',
  departing_at: segments[0]?.departing_at ?? '',
  arriving_at: segments.at(-1)?.arriving_at ?? '',
  origin_time_zone: 'Europe/Lisbon',
  destination_time_zone: 'Europe/Berlin',
  duration,
  stops: segments.length - 1,
  technical_stops: 0,
  fare_brand_name: null,
  segments,
});

export const viaMadrid = slice(
  [
    segment({
      destination_iata: 'MAD',
      departing_at: '2026-12-20T21:10:00',
      arriving_at: '2026-12-20T23:35:00',
      duration: 'PT1H25M',
    }),
    segment({
      origin_iata: 'MAD',
      departing_at: '2026-12-21T06:00:00',
      arriving_at: '2026-12-21T09:00:00',
      duration: 'PT3H',
      flight_number: 'NV88',
    }),
  ],
  'PT10H50M',
);

export const option = (changed: Partial<FareOption> = {}): FareOption => ({
  offer_id: 'off_light',
  owner_name: 'Zephyr Atlantic',
  fare_brand_name: 'Light',
  total_amount_decimal: '151.20',
  total_currency: 'USD',
  refundable: false,
  refund_penalty_amount: null,
  refund_penalty_currency: null,
  changeable: null,
  change_penalty_amount: null,
  change_penalty_currency: null,
  checked_bags_included: 0,
  ...changed,
});

export function offerWith(slices: Slice[], options: FareOption[] = [option()]): Offer {
  const [first] = options;
  const [outbound] = slices;
  if (!first || !outbound) throw new Error('an offer has a slice and a fare');
  return {
    offer_id: first.offer_id,
    comparison_key: 'LIS-BER',
    owner_name: first.owner_name,
    origin_iata: outbound.origin_iata,
    destination_iata: outbound.destination_iata,
    departing_at: outbound.departing_at,
    arriving_at: outbound.arriving_at,
    origin_time_zone: outbound.origin_time_zone,
    destination_time_zone: outbound.destination_time_zone,
    duration: outbound.duration,
    stops: outbound.stops,
    technical_stops: 0,
    slices,
    fare_brand_name: first.fare_brand_name,
    cabin_class: 'economy',
    cabin_class_marketing_name: 'Economy',
    checked_bags_included: first.checked_bags_included,
    carry_on_bags_included: 1,
    conditions: {
      change_allowed: first.changeable,
      change_penalty_amount: null,
      change_penalty_currency: null,
      refund_allowed: first.refundable,
      refund_penalty_amount: null,
      refund_penalty_currency: null,
    },
    total_amount: Math.round(Number(first.total_amount_decimal) * 1e6),
    total_amount_decimal: first.total_amount_decimal,
    total_currency: first.total_currency,
    base_amount_decimal: '120.00',
    tax_amount_decimal: '31.20',
    total_emissions_kg: 141,
    supported_loyalty_programmes: [],
    identity_documents_required: false,
    requires_instant_payment: false,
    expires_at: '2026-11-21T09:30:00.000Z',
    fare_options_count: options.length,
    fare_options: options,
  };
}

export const response = (offers: Offer[]): SearchResponse => ({
  request_id: 'req_1',
  status: 'complete',
  offers,
  total_offers: offers.length,
});

export const intent = (changed: Partial<Intent> = {}): Intent => ({
  intent_id: 'int_01example',
  status: 'active',
  offer_id: 'off_light',
  passenger_count: 1,
  funding_wallet: 'So11111111111111111111111111111111111111112',
  refund_wallet: 'So11111111111111111111111111111111111111112',
  escrow: {
    address: 'Esc1111111111111111111111111111111111111111',
    vault_address: 'Vau1111111111111111111111111111111111111111',
    mint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
    amount: 151_200_000,
    program_id: 'FLKFgRHGErf3EwbLdxVUrACXZDrAhmgJmjawBzvQGq7B',
    refund_after: '2026-11-22T09:30:00.000Z',
    observed_amount: null,
  },
  expected_ticket_amount: 151_200_000,
  expected_ticket_amount_decimal: '151.20',
  expected_ticket_currency: 'USD',
  fee_amount: 1_512_000,
  order_id: null,
  booking_requested_at: null,
  ticketed_at: null,
  captured_at: null,
  capture_tx_hash: null,
  refund_reason: null,
  refunded_at: null,
  refund_tx_hash: null,
  refund_request: null,
  operator_review_since: null,
  booking_held_up_by: null,
  expires_at: '2026-11-21T09:30:00.000Z',
  created_at: '2026-11-21T09:00:00.000Z',
  updated_at: '2026-11-21T09:00:00.000Z',
  ...changed,
});
