import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createZones } from '../../../src/airlines/duffel/itinerary.ts';
import { readOffer, readServices } from '../../../src/airlines/duffel/offers.ts';
import { type Fields, object } from '../../../src/airlines/duffel/read.ts';
import { availableService, offer as offerSchema } from '../../../src/wire/flights/offers.ts';
import { rounds, seedOr } from '../../rounds.ts';
import { airline, goodOffer, type Loose, segment, slice } from './samples.ts';

const zones = createZones();
function read(raw: unknown) {
  const missing: string[] = [];
  const offer = readOffer(raw, {
    zones,
    missing(field) {
      missing.push(field);
      return null;
    },
  });
  if (offer) offerSchema.parse(offer);
  return { offer, missing };
}

/** The offer with one field changed, by its path. */
function changed(path: string, value: unknown, raw: Loose = goodOffer()): Loose {
  const keys = path.split('.');
  let at: Loose = raw;
  for (const key of keys.slice(0, -1)) at = at[key] as Loose;
  const last = keys.at(-1) ?? '';
  if (value === undefined) delete at[last];
  else at[last] = value;
  return raw;
}

const FLIGHT = 'slices.0.segments.0';

test('every field of an offer is mapped', () => {
  const { offer } = read(goodOffer());
  expect(offer).toMatchObject({
    offer_id: 'off_1',
    comparison_key: 'ZZ412-LIS-BER-20261220~ZZ412-BER-LIS-20261227',
    owner_name: 'Duffel Airways',
    origin_iata: 'LIS',
    destination_iata: 'BER',
    departing_at: '2026-12-20T07:25:00',
    arriving_at: '2026-12-20T12:05:00',
    origin_time_zone: 'Europe/Lisbon',
    duration: 'PT3H40M',
    stops: 0,
    fare_brand_name: 'Basic',
    cabin_class: 'economy',
    cabin_class_marketing_name: 'Economy',
    checked_bags_included: 1,
    carry_on_bags_included: 1,
    conditions: {
      change_allowed: true,
      change_penalty_amount: '50.00',
      change_penalty_currency: 'USD',
      refund_allowed: false,
      refund_penalty_amount: null,
      refund_penalty_currency: null,
    },
    total_amount: 151_200_000,
    total_amount_decimal: '151.20',
    total_currency: 'USD',
    base_amount_decimal: '120.00',
    tax_amount_decimal: '31.20',
    total_emissions_kg: 460,
    supported_loyalty_programmes: ['ZZ'],
    identity_documents_required: false,
    requires_instant_payment: true,
    expires_at: '2026-11-21T09:30:00.247Z',
  });
  expect(offer?.slices[0]?.segments[0]).toMatchObject({
    carrier_name: 'Duffel Airways',
    operating_flight_number: 'ZZ412',
    flight_number: 'ZZ412',
    aircraft_name: 'Airbus A320',
    origin_terminal: '1',
    destination_terminal: null,
    fare_basis_code: 'OXZ0RO',
    technical_stops: 0,
  });
});

test.each<[string, string, unknown, Fields]>([
  ['no conditions are unknown', 'conditions', null, { conditions: null }],
  [
    'a fee that nobody tells is unknown, not free',
    'conditions.refund_before_departure',
    { allowed: true, penalty_amount: null, penalty_currency: null },
    { conditions: expect.objectContaining({ refund_allowed: true, refund_penalty_amount: null }) },
  ],
  [
    'a fee without its currency is unknown',
    'conditions.refund_before_departure',
    { allowed: true, penalty_amount: '20.00', penalty_currency: null },
    { conditions: expect.objectContaining({ refund_penalty_amount: null, refund_penalty_currency: null }) },
  ],
  [
    'a fee of 0.00 is free of charge',
    'conditions.refund_before_departure',
    { allowed: true, penalty_amount: '0.00', penalty_currency: 'GBP' },
    { conditions: expect.objectContaining({ refund_penalty_amount: '0.00', refund_penalty_currency: 'GBP' }) },
  ],
  ['no tax is unknown', 'tax_amount', null, { tax_amount_decimal: null, total_amount_decimal: '151.20' }],
  ['a tax in another currency is left out', 'tax_currency', 'GBP', { tax_amount_decimal: null }],
  ['another currency is shown', 'total_currency', 'GBP', { total_currency: 'GBP', base_amount_decimal: null }],
  ['no emissions are unknown', 'total_emissions_kg', null, { total_emissions_kg: null }],
  ['no programmes are none', 'supported_loyalty_programmes', undefined, { supported_loyalty_programmes: [] }],
  [
    'documents that are asked for',
    'passenger_identity_documents_required',
    true,
    { identity_documents_required: true },
  ],
  [
    'a fare that may be held',
    'payment_requirements.requires_instant_payment',
    false,
    { requires_instant_payment: false },
  ],
  ['a direction without a brand', 'slices.1.fare_brand_name', null, { fare_brand_name: null }],
  ['a brand for each direction', 'slices.1.fare_brand_name', 'Flex', { fare_brand_name: 'Basic / Flex' }],
  [
    `a mixed cabin is sold as its lowest`,
    'slices.1.segments.0.passengers.0.cabin_class',
    'business',
    { cabin_class: 'economy' },
  ],
  [
    'no bags on one flight are no bags',
    `${FLIGHT}.passengers.0.baggages`,
    [],
    { checked_bags_included: 0, carry_on_bags_included: 0 },
  ],
  [
    'bags that one flight does not tell are unknown',
    `${FLIGHT}.passengers.0.baggages`,
    null,
    { checked_bags_included: null, carry_on_bags_included: null },
  ],
  [
    'the fewest bags count',
    `${FLIGHT}.passengers.0.baggages`,
    [
      { type: 'checked', quantity: 0 },
      { type: 'carry_on', quantity: 2 },
    ],
    { checked_bags_included: 0, carry_on_bags_included: 1 },
  ],
  ['a slice without a duration', 'slices.0.duration', null, { duration: 'PT3H40M' }],
])('%s', (_, path, value, expected) => {
  expect(read(changed(path, value)).offer).toMatchObject(expected);
});

test.each<[string, string, unknown, Fields]>([
  [
    'an airline without a code',
    'marketing_carrier',
    airline(null, 'Skyhop'),
    { flight_number: '412', marketing_carrier_name: 'Skyhop' },
  ],
  [
    'a flight that does not say its operating number',
    'operating_carrier_flight_number',
    null,
    { operating_flight_number: null },
  ],
  [
    'a codeshare',
    'operating_carrier',
    airline('YY', 'Other Air'),
    { carrier_name: 'Other Air', operating_flight_number: 'YY412', flight_number: 'ZZ412' },
  ],
  ['no aircraft', 'aircraft', null, { aircraft_name: null }],
  ['no terminal', 'origin_terminal', null, { origin_terminal: null }],
  ['no fare basis', 'passengers.0.fare_basis_code', null, { fare_basis_code: null }],
  ['stops that are not listed', 'stops', undefined, { technical_stops: 0, technical_stop_airports: [] }],
  [
    'a technical stop',
    'stops',
    [{ id: 'sto_1', airport: { iata_code: 'MAD' } }],
    { technical_stops: 1, technical_stop_airports: ['MAD'] },
  ],
  ['a duration in another form', 'duration', 'PT02H26M', { duration: 'PT2H26M' }],
  ['a duration of days alone', 'duration', 'P1DT', { duration: 'P1D' }],
  ['no duration: local times and zones say it', 'duration', null, { duration: 'PT3H40M' }],
])('of a segment: %s', (_, path, value, expected) => {
  const { offer } = read(changed(`${FLIGHT}.${path}`, value));
  expect(offer?.slices[0]?.segments[0]).toMatchObject(expected);
});

test.each([
  ...['id', 'total_amount', 'total_currency', 'owner', 'slices', 'expires_at', 'payment_requirements'],
  'passenger_identity_documents_required',
  ...['origin', 'destination', 'departing_at', 'arriving_at'].map((field) => `${FLIGHT}.${field}`),
  ...['operating_carrier', 'marketing_carrier', 'marketing_carrier_flight_number', 'passengers'].map(
    (field) => `${FLIGHT}.${field}`,
  ),
  `${FLIGHT}.passengers.0.cabin_class`,
])('an offer without %s is dropped, whether the field is missing, null or of the wrong kind', (path) => {
  for (const value of [undefined, null, 7, '', [], {}]) {
    const { offer, missing } = read(changed(path, value));
    expect({ value, offer }).toEqual({ value, offer: null });
    expect(missing).toHaveLength(1);
  }
});

test.each(['151.2O', '-1.00', '1e3', '1,000.00', 151.2, '0x10', '1234567890123.00', ' 151.20', '1.1234567'])(
  'a total of %s is no price: the offer is dropped',
  (total) => {
    expect(read(changed('total_amount', total)).offer).toBeNull();
  },
);

test('the longest prices that fit in the wire come through, longer ones are dropped', () => {
  expect(read(changed('total_amount', '9007199254.740991')).offer?.total_amount).toBe(9_007_199_254_740_991);
  expect(read(changed('total_amount', '9007199254.740992')).offer).toBeNull();
});

test('an hour that a clock repeats leaves a missing duration open, and the offer is dropped', () => {
  const night = { ...goodOffer() };
  const flight = segment({
    id: 'seg_1',
    from: 'LIS',
    to: 'BER',
    departing: '2026-10-25T01:30:00',
    arriving: '2026-10-25T08:00:00',
    duration: null,
  });
  expect(read({ ...night, slices: [slice([flight], null)] }).missing).toEqual(['segment.duration']);
});

test('connections, and days that pass on the way', () => {
  const flights = [
    segment({
      id: 'a',
      from: 'LIS',
      to: 'MAD',
      departing: '2026-12-20T20:00:00',
      arriving: '2026-12-20T22:20:00',
      duration: 'PT1H20M',
    }),
    segment({
      id: 'b',
      from: 'MAD',
      to: 'JFK',
      departing: '2026-12-21T11:00:00',
      arriving: '2026-12-21T13:30:00',
      duration: 'PT8H30M',
    }),
  ];
  const { offer } = read({ ...goodOffer(), slices: [slice(flights, null)] });
  expect(offer).toMatchObject({
    destination_iata: 'JFK',
    stops: 1,
    duration: 'PT22H30M',
    arriving_at: '2026-12-21T13:30:00',
  });
});

describe('extra bags', () => {
  const bag = (change: Loose = {}): Loose => ({
    id: 'ase_1',
    type: 'baggage',
    passenger_ids: ['pas_0'],
    segment_ids: ['seg_out', 'seg_back'],
    maximum_quantity: 3,
    total_amount: '53.98',
    total_currency: 'USD',
    metadata: { type: 'checked', maximum_weight_kg: 15 },
    ...change,
  });
  const services = (available: unknown, adults = 1) => {
    const found = readServices(object({ ...goodOffer('off_1', adults), available_services: available }) ?? {});
    for (const one of found) availableService.parse(one);
    return found;
  };
  const unit = {
    type: 'baggage',
    baggage_type: 'checked',
    maximum_weight_kg: 15,
    maximum_quantity: 3,
    total_amount_decimal: '53.98',
    total_currency: 'USD',
  };

  test('a bag for all flights has the price of one unit', () => {
    expect(services([bag()])).toEqual([unit]);
  });

  test('the same bag for each passenger is one service with room for all', () => {
    expect(services([bag(), bag({ passenger_ids: ['pas_1'] })], 2)).toEqual([{ ...unit, maximum_quantity: 6 }]);
  });

  test('bags of single directions are added up, and half a journey is not sold as a whole one', () => {
    const out = bag({ segment_ids: ['seg_out'], total_amount: '20.00', maximum_quantity: 2 });
    const back = bag({ segment_ids: ['seg_back'], total_amount: '25.50' });
    expect(services([out, back])).toEqual([{ ...unit, maximum_quantity: 2, total_amount_decimal: '45.50' }]);
    expect(services([out])).toEqual([]);
    expect(services([out, back, bag({ segment_ids: ['seg_back'], total_amount: '30.00' })])).toEqual([]);
  });

  test('an unknown weight is null; other services and unreadable ones are left out', () => {
    expect(services([bag({ metadata: { type: 'carry_on', maximum_weight_kg: null } })])).toEqual([
      { ...unit, baggage_type: 'carry_on', maximum_weight_kg: null },
    ]);
    expect(services([bag({ type: 'cancel_for_any_reason' }), bag({ total_amount: null }), null, 7])).toEqual([]);
    expect(services(null)).toEqual([]);
  });
});

/** Every path of an answer, to its leaves. */
function pathsOf(value: unknown, at: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [[...at]];
  const inner = Object.entries(value).flatMap(([key, one]) => pathsOf(one, [...at, key]));
  return at.length === 0 ? inner : [[...at], ...inner];
}

const PATHS = pathsOf(goodOffer('off_1', 2)).map((path) => path.join('.'));

test('fields that are missing, null, empty, new or of the wrong type: never a crash, never a wrong price', () => {
  const wrong = fc.oneof(
    fc.constantFrom(undefined, null, '', [], {}, 0, -1, 1e21, Number.NaN, true, 'nonsense', '2026-13-40T99:00:00'),
    fc.jsonValue({ maxDepth: 2 }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...PATHS), wrong), { minLength: 1, maxLength: 4 }), (changes) => {
      const raw = goodOffer('off_1', 2);
      for (const [path, value] of changes) {
        try {
          changed(path, value, raw);
        } catch (error) {
          // Its parent was replaced by an earlier change.
          if (!(error instanceof TypeError)) throw error;
        }
      }
      const { offer } = read({ ...raw, a_new_field: { of: 'theirs' } });
      readServices(object(raw) ?? {});
      if (!offer) return;
      expect(offer.total_amount_decimal).toBe(raw.total_amount);
      expect(offer.total_currency).toBe(raw.total_currency);
      for (const [ours, theirs] of [
        [offer.conditions?.refund_penalty_amount, 'refund_before_departure'],
        [offer.conditions?.change_penalty_amount, 'change_before_departure'],
      ] as const) {
        if (ours == null) continue;
        expect(ours).toBe(object(object(raw.conditions)?.[theirs])?.penalty_amount);
      }
    }),
    { numRuns: rounds(1_000, 60_000), seed: seedOr(15) },
  );
});
