import { DAY_MS } from '../../kernel/clock.ts';
import type { Conditions, Segment, Slice } from '../../wire/flights/index.ts';
import { centsOf, decimalOf } from '../airline/index.ts';
import type { OfferRequestRecord, WorldOffer } from './books.ts';
import { diceOf, offerIdOf, passengerIds, segmentIds, traitOf } from './ids.ts';
import { carrierOf, placeOf } from './places.ts';
import type { Sandbox } from './sandbox.ts';
import { servicesOf } from './services.ts';

/** Agencies' offers last half as long. */
const LIFETIME_MS = 30 * 60_000;

export const expiresAtMs = ({ request, ownerCode }: WorldOffer): number =>
  request.createdAtMs + (ownerCode === null ? LIFETIME_MS / 2 : LIFETIME_MS);

/** Microseconds, as in the API. */
export const microInstant = (ms: number): string =>
  `${new Date(ms).toISOString().slice(0, -1)}${String((Math.floor(ms) * 7) % 1000).padStart(3, '0')}Z`;

/** The price may have risen since the search. */
export const currentCents = (sandbox: Sandbox, offer: WorldOffer): number =>
  offer.totalCents + raisedCents(sandbox, offer);

const raisedCents = ({ books, ids }: Sandbox, offer: WorldOffer): number =>
  books.offers.get(offerIdOf(ids, offer))?.raisedCents ?? 0;

/**
 * Shows an offer with the difficulties of the API: nulls, missing keys, numbers as text, later fields.
 * @param read makes the ids of services; null for a list, which shows no services
 */
export function dressedOffer(sandbox: Sandbox, offer: WorldOffer, read: number | null = null) {
  const { ids } = sandbox;
  const { request, offer: native } = offer;
  const raised = raisedCents(sandbox, offer);
  const total = offer.totalCents + raised;
  const isInstant = needsInstantPayment(offer);
  const odd = diceOf(native.offer_id, 'odd');
  return {
    id: offerIdOf(ids, offer),
    live_mode: false,
    created_at: microInstant(request.createdAtMs),
    updated_at: microInstant(request.createdAtMs),
    expires_at: microInstant(expiresAtMs(offer)),
    total_amount: decimalOf(total),
    total_currency: native.total_currency,
    base_amount: decimalOf(offer.baseCents === null ? total : offer.baseCents + raised),
    base_currency: native.total_currency,
    tax_amount: offer.taxCents === null ? null : decimalOf(offer.taxCents),
    tax_currency: offer.taxCents === null ? null : native.total_currency,
    total_emissions_kg: native.total_emissions_kg === null ? null : String(native.total_emissions_kg),
    owner: carrierOf(ids, offer.ownerName, offer.ownerCode),
    slices: native.slices.map((slice, at) => dressedSlice(sandbox, offer, slice, at)),
    passengers: passengerIds(ids, request).map((passengerId, position) => ({
      id: passengerId,
      ...typedAge(request.ages[position]),
      given_name: null,
      family_name: null,
      loyalty_programme_accounts: [],
      fare_type: null,
    })),
    payment_requirements: {
      requires_instant_payment: isInstant,
      payment_required_by: isInstant ? null : microInstant(heldUntilMs(request)),
      // Some held orders have no price guarantee.
      price_guarantee_expires_at: isInstant || odd % 2 === 0 ? null : microInstant(request.createdAtMs + 2 * DAY_MS),
    },
    passenger_identity_documents_required: native.identity_documents_required || needsDocuments(offer),
    supported_passenger_identity_document_types: takesDocuments(offer) ? ['passport'] : [],
    supported_loyalty_programmes: native.supported_loyalty_programmes.length > 0 ? carrierCodes(native.slices) : [],
    conditions: dressedConditions(native.conditions, native.total_currency, odd),
    available_services: read === null ? null : servicesOf(sandbox, offer, read),
    partial: false,
    private_fares: [],
    // Fields of a later version of the API.
    intended_payment_methods: [],
    intended_services: [],
    sandbox_extra: { nested: [null, 1, 'two'] },
  };
}

/** The type or age of a traveller: adults have a type, others an age, infants both. */
const typedAge = (age: number | null | undefined) =>
  age == null ? { type: 'adult' } : { age, type: age < 2 ? 'infant_without_seat' : null };

export const needsInstantPayment = ({ request, offer }: WorldOffer): boolean =>
  traitOf(request) !== 'holdable' && offer.requires_instant_payment;

export const heldUntilMs = ({ createdAtMs }: OfferRequestRecord): number => createdAtMs + 3 * DAY_MS;

const carrierCodes = (slices: readonly Slice[]): string[] => [
  ...new Set(slices.flatMap(({ segments }) => segments.map(({ flight_number }) => flight_number.slice(0, 2)))),
];

/** One carrier in six requires passports; agencies never do. */
export const needsDocuments = ({ ownerCode }: WorldOffer): boolean =>
  ownerCode !== null && ownerCode !== 'ZZ' && diceOf(ownerCode, 'documents') % 6 === 0;
export const takesDocuments = ({ ownerCode }: WorldOffer): boolean => ownerCode !== null;

function dressedConditions(conditions: Conditions | null, currency: string, odd: number): object {
  if (conditions === null) return { refund_before_departure: null, change_before_departure: null };
  const condition = (of: 'change' | 'refund', penalty_currency: string) => {
    const allowed = conditions[`${of}_allowed`];
    const penalty = centsOf(conditions[`${of}_penalty_amount`]);
    if (allowed === null) return null;
    const penalty_amount = penalty === null ? null : decimalOf(penalty);
    const isPriced = penalty !== null && conditions[`${of}_penalty_currency`] !== null;
    return { allowed, penalty_amount, penalty_currency: isPriced ? penalty_currency : null };
  };
  const change = condition('change', currency);
  // A few penalties are in another currency.
  const refund = condition('refund', odd % 11 === 0 ? 'EUR' : currency);
  // Undisclosed: the key is missing or null.
  if (refund === null && odd % 2 === 0) return { change_before_departure: change };
  return { refund_before_departure: refund, change_before_departure: change };
}

function dressedSlice(sandbox: Sandbox, offer: WorldOffer, slice: Slice, at: number) {
  const { ids, world } = sandbox;
  const segmentsIds = segmentIds(ids, offer)[at];
  const place = (iata: string) => placeOf(world.airports.get(iata), iata);
  const flights = slice.segments.map((one) => `${one.operating_flight_number}${one.departing_at}`).join('.');
  const odd = diceOf(flights, 'slice');
  return {
    id: ids.hashed('sli', offer.request.number, offer.index, at),
    origin_type: 'airport',
    origin: place(slice.origin_iata),
    destination_type: 'airport',
    destination: place(slice.destination_iata),
    duration: odd % 9 === 0 ? null : duration(slice.duration, odd),
    fare_brand_name: slice.fare_brand_name,
    comparison_key: ids.hashed('cmp', flights).slice(4),
    ngs_shelf: 1 + (odd % 3),
    // Conditions of this slice alone.
    conditions: {
      change_before_departure:
        odd % 4 === 0 ? null : { allowed: true, penalty_amount: '15.00', penalty_currency: offer.offer.total_currency },
      advance_seat_selection: null,
      priority_boarding: null,
      priority_check_in: null,
    },
    segments: slice.segments.map((segment, flight) =>
      dressedSegment(sandbox, offer, segment, segmentsIds?.[flight] ?? '', flight),
    ),
  };
}

function dressedSegment(sandbox: Sandbox, offer: WorldOffer, segment: Segment, id: string, position: number) {
  const { ids, world } = sandbox;
  const { request } = offer;
  const place = (iata: string) => placeOf(world.airports.get(iata), iata);
  const odd = diceOf(`${segment.flight_number}${segment.departing_at}`, 'segment');
  const operating = segment.operating_flight_number;
  const stops = stopsOf(request, segment, place);
  return {
    id,
    origin: place(segment.origin_iata),
    destination: place(segment.destination_iata),
    origin_terminal: odd % 20 < 9 ? null : segment.origin_terminal,
    destination_terminal: segment.destination_terminal,
    departing_at: segment.departing_at,
    arriving_at: segment.arriving_at,
    duration: odd % 13 === 0 ? null : duration(segment.duration, odd),
    distance: odd % 3 === 0 ? null : `${(odd % 9000) + 100}.5`,
    marketing_carrier: carrierOf(ids, segment.marketing_carrier_name, segment.flight_number.slice(0, 2)),
    marketing_carrier_flight_number: segment.flight_number.slice(2).padStart(odd % 2 === 0 ? 4 : 1, '0'),
    operating_carrier: carrierOf(ids, segment.carrier_name, operating?.slice(0, 2) ?? null),
    operating_carrier_flight_number: odd % 6 === 0 ? null : (operating?.slice(2) ?? null),
    aircraft:
      segment.aircraft_name === null
        ? null
        : { id: ids.hashed('arc', segment.aircraft_name), name: segment.aircraft_name, iata_code: '32N' },
    // Without stops, the list is empty or its key is missing.
    ...(stops.length > 0 || odd % 2 === 0 ? { stops } : {}),
    media: [],
    passengers: passengerIds(ids, request).map((passengerId, traveller) => ({
      passenger_id: passengerId,
      ...cabinOn(offer, position),
      fare_basis_code: segment.fare_basis_code,
      // An infant on a lap has no bags.
      baggages: (request.ages[traveller] ?? 2) < 2 ? [] : bagsOn(offer, position, odd),
    })),
  };
}

/** The first of several flights may have a lower cabin. */
function cabinOn({ offer }: WorldOffer, position: number): object {
  const isMixed =
    offer.cabin_class !== 'economy' &&
    position === 0 &&
    (offer.slices[0]?.segments.length ?? 0) > 1 &&
    diceOf(offer.offer_id, 'cabin') % 3 === 0;
  const cabin = isMixed ? 'economy' : offer.cabin_class;
  return {
    cabin_class: cabin,
    cabin_class_marketing_name: isMixed ? 'Economy' : (offer.cabin_class_marketing_name ?? 'Economy'),
    cabin: { name: cabin, marketing_name: cabin.toUpperCase(), amenities: null },
  };
}

/** Bags on one flight; a later flight may allow fewer. */
function bagsOn({ request, offer }: WorldOffer, position: number, odd: number): object[] {
  if (traitOf(request) === 'no_bags') return [];
  const checked = Math.max(0, (offer.checked_bags_included ?? 0) - (position > 0 && odd % 4 === 0 ? 1 : 0));
  const carryOn = offer.carry_on_bags_included ?? 0;
  const bag = (type: 'checked' | 'carry_on', quantity: number) =>
    quantity > 0 || odd % 2 === 0 ? [{ type, quantity }] : [];
  return [...bag('checked', checked), ...bag('carry_on', carryOn)];
}

function stopsOf(
  request: OfferRequestRecord,
  { origin_iata, technical_stop_airports, departing_at }: Segment,
  place: (iata: string) => object,
): object[] {
  const isTested = traitOf(request) === 'technical_stop' && origin_iata === 'DXB';
  const at = technical_stop_airports.length === 0 && isTested ? ['VIE'] : technical_stop_airports;
  return at.map((iata) => ({
    id: `stp_${iata.toLowerCase()}`,
    airport: place(iata),
    arriving_at: departing_at,
    departing_at,
    duration: 'PT1H0M',
  }));
}

/** Writes some as `PT02H26M` for `PT2H26M`, as some airlines do. */
const duration = (text: string, odd: number): string =>
  odd % 5 === 0 ? text.replace(/T(\d)H/, 'T0$1H').replace(/H(\d)M/, 'H0$1M') : text;
