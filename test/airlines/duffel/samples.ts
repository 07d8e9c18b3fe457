/** Answers in the form of Duffel's documentation, of invented flights. Every call gives a copy of its own. */

export type Loose = Record<string, unknown>;

const ZONES: Record<string, string> = {
  LIS: 'Europe/Lisbon',
  BER: 'Europe/Berlin',
  MAD: 'Europe/Madrid',
  JFK: 'America/New_York',
};

const place = (iata: string): Loose => ({
  type: 'airport',
  id: `arp_${iata.toLowerCase()}`,
  iata_code: iata,
  iata_city_code: iata,
  name: `${iata} Airport`,
  city_name: iata,
  time_zone: ZONES[iata],
  latitude: 40.1,
  longitude: -3.5,
});

export const airline = (code: string | null, name: string): Loose => ({
  id: `arl_${name.replace(/\W/g, '')}`,
  iata_code: code,
  name,
  logo_symbol_url: null,
  conditions_of_carriage_url: null,
});

const BAGS = [
  { type: 'checked', quantity: 1 },
  { type: 'carry_on', quantity: 1 },
];

interface Flight {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly departing: string;
  readonly arriving: string;
  readonly duration: string | null;
}

export const segment = ({ id, from, to, departing, arriving, duration }: Flight, adults = 1): Loose => ({
  id,
  origin: place(from),
  destination: place(to),
  departing_at: departing,
  arriving_at: arriving,
  duration,
  distance: '2313.5',
  aircraft: { id: 'arc_1', name: 'Airbus A320', iata_code: '320' },
  operating_carrier: airline('ZZ', 'Duffel Airways'),
  operating_carrier_flight_number: '0412',
  marketing_carrier: airline('ZZ', 'Duffel Airways'),
  marketing_carrier_flight_number: '0412',
  origin_terminal: '1',
  destination_terminal: null,
  stops: [],
  passengers: Array.from({ length: adults }, (_, index) => ({
    passenger_id: `pas_${index}`,
    cabin_class: 'economy',
    cabin_class_marketing_name: 'Economy',
    fare_basis_code: 'OXZ0RO',
    baggages: structuredClone(BAGS),
  })),
});

const OUT: Flight = {
  id: 'seg_out',
  from: 'LIS',
  to: 'BER',
  departing: '2026-12-20T07:25:00',
  arriving: '2026-12-20T12:05:00',
  duration: 'PT03H40M',
};
export const BACK: Flight = {
  id: 'seg_back',
  from: 'BER',
  to: 'LIS',
  departing: '2026-12-27T09:00:00',
  arriving: '2026-12-27T11:50:00',
  duration: 'PT3H50M',
};

export const slice = (flights: readonly Loose[], duration: string | null): Loose => ({
  id: 'sli_1',
  origin: flights[0]?.origin,
  destination: flights.at(-1)?.destination,
  origin_type: 'airport',
  destination_type: 'airport',
  duration,
  fare_brand_name: 'Basic',
  comparison_key: 'BRuasQ==',
  conditions: { change_before_departure: { allowed: true, penalty_amount: '10.00', penalty_currency: 'USD' } },
  segments: flights,
});

/** A return journey of one adult for 151.20 USD. */
export const goodOffer = (id = 'off_1', adults = 1): Loose => ({
  id,
  live_mode: false,
  partial: false,
  owner: airline('ZZ', 'Duffel Airways'),
  total_amount: '151.20',
  total_currency: 'USD',
  base_amount: '120.00',
  base_currency: 'USD',
  tax_amount: '31.20',
  tax_currency: 'USD',
  total_emissions_kg: '460',
  created_at: '2026-11-21T09:00:00.123456Z',
  updated_at: '2026-11-21T09:00:00.123456Z',
  expires_at: '2026-11-21T09:30:00.247340Z',
  conditions: {
    change_before_departure: { allowed: true, penalty_amount: '50.00', penalty_currency: 'USD' },
    refund_before_departure: { allowed: false, penalty_amount: null, penalty_currency: null },
  },
  payment_requirements: { requires_instant_payment: true, price_guarantee_expires_at: null, payment_required_by: null },
  passenger_identity_documents_required: false,
  supported_passenger_identity_document_types: ['passport'],
  supported_loyalty_programmes: ['ZZ'],
  available_services: null,
  private_fares: [],
  slices: [slice([segment(OUT, adults)], 'PT3H40M'), slice([segment(BACK, adults)], 'PT3H50M')],
  passengers: Array.from({ length: adults }, (_, index) => ({
    id: `pas_${index}`,
    type: 'adult',
    age: null,
    given_name: null,
    family_name: null,
  })),
});

/** The order of such an offer, ticketed. */
export const goodOrder = (reference: string, change: Loose = {}): Loose => ({
  id: 'ord_1',
  offer_id: 'off_1',
  live_mode: false,
  booking_reference: 'RZPNX8',
  owner: airline('ZZ', 'Duffel Airways'),
  total_amount: '151.20',
  total_currency: 'USD',
  created_at: '2026-11-21T09:00:10.000000Z',
  cancelled_at: null,
  payment_status: { awaiting_payment: false, paid_at: '2026-11-21T09:00:10.000000Z' },
  documents: [{ type: 'electronic_ticket', unique_identifier: '1', passenger_ids: ['pas_0'] }],
  available_actions: ['cancel', 'update'],
  metadata: { reference },
  passengers: [{ id: 'pas_0', given_name: 'Ada', family_name: 'Lovelace', born_on: '1990-12-10' }],
  slices: goodOffer().slices,
  ...change,
});

export const refusal = (type: string, code: string | number, status = 422) => ({
  status,
  body: {
    errors: [{ type, code, title: 'No', message: 'About Ada Lovelace, passport X1234567.' }],
    meta: { status, request_id: 'req-of-the-body' },
  },
});

export const TRAVELLER = {
  given_name: 'Ada',
  family_name: 'Lovelace',
  born_on: '1990-12-10',
  title: 'ms',
  gender: 'f',
  email: 'ada@example.com',
  phone_number: '+351912345678',
  nationality: 'PRT',
  passport_number: 'X1234567',
  passport_expiry: '2031-05-01',
};
