import { DAY_MS } from '../../kernel/clock.ts';
import type { Conditions, Segment, Slice } from '../../wire/flights/index.ts';
import type { OfferRequestRecord, OfferState } from './books.ts';
import { type DuffelIds, diceOf } from './ids.ts';
import { amountOf, centsOf } from './money.ts';
import { offerIdOf, passengerIds, segmentId, traitOf } from './names.ts';
import { carrierOf, placeOf } from './places.ts';
import { servicesOf } from './services.ts';
import type { DuffelWorld, WorldOffer } from './world.ts';

/** Lifetime of an offer; agencies keep theirs for half of it. */
const LIFETIME_MS = 30 * 60_000;

/** What an offer is shown with. */
export interface Wardrobe {
  readonly world: DuffelWorld;
  readonly ids: DuffelIds;
}

export const expiresAtMs = ({ createdAtMs }: OfferRequestRecord, { ownerCode }: WorldOffer): number =>
  createdAtMs + (ownerCode === null ? LIFETIME_MS / 2 : LIFETIME_MS);

/** An instant with microseconds, as the API writes them. */
export const microInstant = (ms: number): string =>
  `${new Date(ms).toISOString().slice(0, -1)}${String((Math.floor(ms) * 7) % 1000).padStart(3, '0')}Z`;

/** The price now: it may have risen since the search. */
export const currentCents = (offer: WorldOffer, state: OfferState | undefined): number =>
  offer.totalCents + (state?.raisedCents ?? 0);

/**
 * An offer in the API's own shape, with everything that makes it hard to read: what is null, what is left out, what is
 * a text of digits, and fields that nobody has heard of.
 * @param services of this read; null in lists, where there are none
 */
export function dressedOffer(
  wardrobe: Wardrobe,
  request: OfferRequestRecord,
  offer: WorldOffer,
  state: OfferState | undefined,
  services: { readonly read: number } | null,
): object {
  const { ids } = wardrobe;
  const { offer: native } = offer;
  const id = offerIdOf(ids, offer);
  const total = currentCents(offer, state);
  const raised = state?.raisedCents ?? 0;
  const isInstant = needsInstantPayment(request, offer);
  const odd = diceOf(native.offer_id, 'odd');
  return {
    id,
    live_mode: false,
    created_at: microInstant(request.createdAtMs),
    updated_at: microInstant(request.createdAtMs),
    expires_at: microInstant(expiresAtMs(request, offer)),
    total_amount: amountOf(total),
    total_currency: native.total_currency,
    base_amount: amountOf(offer.baseCents === null ? total : offer.baseCents + raised),
    base_currency: native.total_currency,
    tax_amount: offer.taxCents === null ? null : amountOf(offer.taxCents),
    tax_currency: offer.taxCents === null ? null : native.total_currency,
    total_emissions_kg: native.total_emissions_kg === null ? null : String(native.total_emissions_kg),
    owner: carrierOf(ids, offer.ownerName, offer.ownerCode),
    slices: native.slices.map((slice, at) => dressedSlice(wardrobe, request, offer, slice, at)),
    passengers: passengerIds(ids, request).map((passengerId, position) => ({
      id: passengerId,
      ...(request.ages[position] == null ? { type: 'adult' } : { age: request.ages[position], type: null }),
      given_name: null,
      family_name: null,
      loyalty_programme_accounts: [],
      fare_type: null,
    })),
    payment_requirements: {
      requires_instant_payment: isInstant,
      payment_required_by: isInstant ? null : microInstant(heldUntilMs(request)),
      // Holdable, and still without a guarantee of the price.
      price_guarantee_expires_at: isInstant || odd % 2 === 0 ? null : microInstant(request.createdAtMs + 2 * DAY_MS),
    },
    passenger_identity_documents_required: native.identity_documents_required || needsDocuments(offer),
    supported_passenger_identity_document_types: takesDocuments(offer) ? ['passport'] : [],
    supported_loyalty_programmes: native.supported_loyalty_programmes.length > 0 ? carrierCodes(native.slices) : [],
    conditions: dressedConditions(native.conditions, native.total_currency, odd),
    available_services: services === null ? null : servicesOf(ids, request, offer, services.read),
    partial: false,
    private_fares: [],
    // Fields of a later version that no client knows yet.
    intended_payment_methods: [],
    intended_services: [],
    sandbox_extra: { nested: [null, 1, 'two'] },
  };
}

export const needsInstantPayment = (request: OfferRequestRecord, { offer }: WorldOffer): boolean =>
  traitOf(request) === 'holdable' ? false : offer.requires_instant_payment;

/** Until when an order that is not paid at once is held. */
export const heldUntilMs = ({ createdAtMs }: OfferRequestRecord): number => createdAtMs + 3 * DAY_MS;

const carrierCodes = (slices: readonly Slice[]): string[] => [
  ...new Set(slices.flatMap(({ segments }) => segments.map(({ flight_number }) => flight_number.slice(0, 2)))),
];

/** One carrier in six wants passports; agencies take none at all. */
export const needsDocuments = ({ ownerCode }: WorldOffer): boolean =>
  ownerCode !== null && ownerCode !== 'ZZ' && diceOf(ownerCode, 'documents') % 6 === 0;
export const takesDocuments = ({ ownerCode }: WorldOffer): boolean => ownerCode !== null;

function dressedConditions(conditions: Conditions | null, currency: string, odd: number): object {
  if (conditions === null) return { refund_before_departure: null, change_before_departure: null };
  const change = condition(
    conditions.change_allowed,
    conditions.change_penalty_amount,
    conditions.change_penalty_currency,
    currency,
  );
  const refund = condition(
    conditions.refund_allowed,
    conditions.refund_penalty_amount,
    conditions.refund_penalty_currency,
    // A penalty may be in another currency than the price.
    odd % 11 === 0 ? 'EUR' : currency,
  );
  // A key that is missing says as little as one that is null.
  if (refund === null && odd % 2 === 0) return { change_before_departure: change };
  return { refund_before_departure: refund, change_before_departure: change };
}

function condition(
  allowed: boolean | null,
  penalty: string | null,
  penaltyCurrency: string | null,
  currency: string,
): object | null {
  if (allowed === null) return null;
  const amount = penalty === null ? null : amountOf(centsOf(penalty) ?? 0);
  return {
    allowed,
    penalty_amount: amount,
    penalty_currency: amount === null || penaltyCurrency === null ? null : currency,
  };
}

function dressedSlice(
  wardrobe: Wardrobe,
  request: OfferRequestRecord,
  offer: WorldOffer,
  slice: Slice,
  at: number,
): object {
  const { ids, world } = wardrobe;
  const place = (iata: string) => placeOf(world.airports.get(iata), iata);
  const flights = slice.segments.map((one) => `${one.operating_flight_number}${one.departing_at}`).join('.');
  const odd = diceOf(flights, 'slice');
  return {
    id: ids.hashed('sli', offer.requestNumber, offer.index, at),
    origin_type: 'airport',
    origin: place(slice.origin_iata),
    destination_type: 'airport',
    destination: place(slice.destination_iata),
    duration: odd % 9 === 0 ? null : duration(slice.duration, odd),
    fare_brand_name: slice.fare_brand_name,
    comparison_key: ids.hashed('cmp', flights).slice(4),
    ngs_shelf: 1 + (odd % 3),
    // Of this slice alone: not the fee of the whole offer.
    conditions: {
      change_before_departure:
        odd % 4 === 0 ? null : { allowed: true, penalty_amount: '15.00', penalty_currency: offer.offer.total_currency },
      advance_seat_selection: null,
      priority_boarding: null,
      priority_check_in: null,
    },
    segments: slice.segments.map((segment, flight) =>
      dressedSegment(wardrobe, request, offer, segment, `${at}.${flight}`, flight),
    ),
  };
}

function dressedSegment(
  { ids, world }: Wardrobe,
  request: OfferRequestRecord,
  offer: WorldOffer,
  segment: Segment,
  where: string,
  position: number,
): object {
  const place = (iata: string) => placeOf(world.airports.get(iata), iata);
  const odd = diceOf(`${segment.flight_number}${segment.departing_at}`, 'segment');
  const operating = segment.operating_flight_number;
  const stops = stopsOf(request, segment, place);
  return {
    id: segmentId(ids, offer, where),
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
    // The key is left out where there is nothing to say, and empty where there is not.
    ...(stops.length > 0 || odd % 2 === 0 ? { stops } : {}),
    media: [],
    passengers: passengerIds(ids, request).map((passengerId) => ({
      passenger_id: passengerId,
      ...cabinOn(offer, position),
      fare_basis_code: segment.fare_basis_code,
      baggages: bagsOn(request, offer, position, odd),
    })),
  };
}

/** The flights before the long one may be in a cabin below: a mixed cabin. */
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

/** Of each passenger on this flight; a later flight may allow less. */
function bagsOn(request: OfferRequestRecord, { offer }: WorldOffer, position: number, odd: number): object[] {
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

/** `PT2H26M` as some airlines write it: `PT02H26M`. */
const duration = (text: string, odd: number): string =>
  odd % 5 === 0 ? text.replace(/T(\d)H/, 'T0$1H').replace(/H(\d)M/, 'H0$1M') : text;
