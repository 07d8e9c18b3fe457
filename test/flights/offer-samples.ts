import fc from 'fast-check';
import { isoDuration } from '../../src/kernel/domain/offers.ts';
import { decimalOf } from '../../src/sandbox/airline/prices.ts';
import type { Conditions, Offer, Slice } from '../../src/wire/flights/index.ts';

export interface Sample {
  readonly id?: string;
  readonly key?: string;
  readonly cents?: number;
  readonly currency?: string;
  readonly stops?: readonly number[];
  readonly technicalStops?: number;
  readonly departingAt?: string;
  readonly returningAt?: string;
  readonly minutes?: number;
  readonly minutesBack?: number;
  readonly emissions?: number | null;
  readonly conditions?: Conditions | null;
  readonly bags?: number | null;
}

const FREE_CHANGE: Conditions = {
  change_allowed: true,
  change_penalty_amount: '0',
  change_penalty_currency: 'USD',
  refund_allowed: false,
  refund_penalty_amount: null,
  refund_penalty_currency: null,
};

/** An offer of which only what a test names matters. */
export function anOffer(sample: Sample = {}): Offer {
  const departing = sample.departingAt ?? '2026-12-20T10:00:00';
  const slice = (stops: number, minutes: number, departing_at: string): Slice => {
    const journey = {
      origin_iata: 'LIS',
      destination_iata: 'BER',
      departing_at,
      arriving_at: departing_at,
      origin_time_zone: 'Europe/Lisbon',
      destination_time_zone: 'Europe/Berlin',
      duration: isoDuration(minutes),
      technical_stops: sample.technicalStops ?? 0,
    };
    const segment = {
      ...journey,
      carrier_name: 'Lusavia',
      operating_flight_number: 'E0100',
      marketing_carrier_name: 'Lusavia',
      flight_number: 'E0100',
      aircraft_name: null,
      origin_terminal: null,
      destination_terminal: null,
      fare_basis_code: null,
      technical_stop_airports: [],
    };
    return { ...journey, stops, fare_brand_name: null, segments: [segment] };
  };
  const [stops = 0, stopsBack] = sample.stops ?? [0];
  const out = slice(stops, sample.minutes ?? 195, departing);
  const back =
    stopsBack === undefined
      ? []
      : [slice(stopsBack, sample.minutesBack ?? 200, sample.returningAt ?? '2026-12-27T12:00:00')];
  const { segments: _segments, ...journey } = out;
  const cents = sample.cents ?? 12_345;
  return {
    ...journey,
    offer_id: sample.id ?? 'off_1',
    comparison_key: sample.key ?? 'K',
    owner_name: 'Lusavia',
    slices: [out, ...back],
    cabin_class: 'economy',
    cabin_class_marketing_name: null,
    checked_bags_included: sample.bags === undefined ? 1 : sample.bags,
    carry_on_bags_included: null,
    conditions: sample.conditions === undefined ? FREE_CHANGE : sample.conditions,
    total_amount: cents * 10_000,
    total_amount_decimal: decimalOf(cents),
    total_currency: sample.currency ?? 'USD',
    base_amount_decimal: null,
    tax_amount_decimal: null,
    total_emissions_kg: sample.emissions === undefined ? 120 : sample.emissions,
    supported_loyalty_programmes: [],
    identity_documents_required: false,
    requires_instant_payment: true,
    expires_at: '2026-11-21T09:30:00.000Z',
  };
}

/** Lists of offers with ids of their own, few itineraries, many ties and much that is unknown. */
export const offers: fc.Arbitrary<Offer[]> = fc
  .array(
    fc.record({
      key: fc.constantFrom('A', 'B', 'C', 'D'),
      cents: fc.constantFrom(4999, 5000, 12_050, 12_051, 40_000),
      currency: fc.constantFrom('USD', 'USD', 'USD', 'EUR'),
      stops: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 2 }),
      departingAt: fc.constantFrom('06:00', '09:00', '12:30', '18:45', '23:55').map((at) => `2026-12-20T${at}:00`),
      minutes: fc.constantFrom(60, 195, 195, 1600),
      emissions: fc.constantFrom(null, 80, 120, 120.5),
      conditions: fc.constantFrom(null, FREE_CHANGE),
      bags: fc.constantFrom(null, 0, 1),
    }),
    { maxLength: 30 },
  )
  .map((samples) => samples.map((sample, i) => anOffer({ ...sample, id: `off_${(i * 7919) % 1000}_${i}` })));

export const sorts = fc.constantFrom('price', 'duration', 'departure', 'emissions');
