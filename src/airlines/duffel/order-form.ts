import { alpha2Of } from '../../kernel/domain/countries.ts';
import type { PassengerIssue } from '../../kernel/domain/passengers.ts';
import { ADULT_FROM, ageOn, type Seat, seatsFor, travellerType } from '../../kernel/domain/travel-ages.ts';
import type { Offer, Passenger } from '../../wire/flights/index.ts';
import { OrderRefused } from '../provider.ts';
import { type Fields, flag, list, objects, seatOf, texts } from './read.ts';

/**
 * Makes the body of POST /air/orders, which pays exactly the total, extras included, at once from the seller's balance.
 * @throws OrderRefused `form_rejected` for passengers that Duffel would refuse
 */
export function orderForm(
  raw: Fields,
  offer: Offer,
  reference: string,
  passengers: readonly Passenger[],
  extra: Extras,
) {
  const offered = objects(raw.passengers);
  const ids = texts(offered.map(({ id }) => id));
  const places = placesOf(offered, offer, passengers);
  if (ids.length !== passengers.length || new Set(ids).size !== ids.length || places.includes(null)) {
    throw new OrderRefused('form_rejected', false);
  }
  const seats = places.map((place) => seatOf(offered[place ?? 0] ?? {}));
  const infants = places.filter((_, index) => travellerType(seats[index] ?? null) === 'infant');
  const documents = documentRule(raw);
  return {
    type: 'instant',
    selected_offers: [raw.id],
    passengers: passengers.map((passenger, index) => ({
      id: ids[places[index] ?? 0],
      // Each infant sits on the lap of an adult of its own.
      ...(seats[index] === null && infants.length > 0 && { infant_passenger_id: ids[infants.shift() ?? 0] }),
      title: passenger.title,
      gender: passenger.gender,
      given_name: airlineName(passenger.given_name),
      family_name: airlineName(passenger.family_name),
      born_on: passenger.born_on,
      email: passenger.email,
      phone_number: passenger.phone_number,
      ...identityDocuments(passenger, documents),
    })),
    ...(extra.services.length > 0 && { services: extra.services }),
    payments: [{ type: 'balance', amount: extra.totalDecimal, currency: raw.total_currency }],
    metadata: { reference },
  };
}

/** Finds each traveller's place among the offer's passengers by age; null if none has that age. */
function placesOf(offered: readonly Fields[], offer: Offer, passengers: readonly Passenger[]): (number | null)[] {
  const seats = offered.map(seatOf);
  const day = lastDayOf(offer);
  const ages = passengers.map(({ born_on }) => ageOn(born_on, day));
  return seatsFor(ages, seats).map((place, index) => {
    const seat = place === null ? null : seats[place];
    return seat === null || seat === ages[index] ? place : null;
  });
}

const lastDayOf = (offer: Offer): string => (offer.slices.at(-1) ?? offer).departing_at.slice(0, 10);

/** Services from the last reads of offer and seats, and the total with them. */
export interface Extras {
  readonly services: readonly { readonly id: string; readonly quantity: number }[];
  readonly totalDecimal: unknown;
}

/** Composes letters and uses the plain apostrophe, as Duffel refuses other spellings. */
const airlineName = (name: string): string => name.normalize('NFC').replaceAll('’', "'");

/** An empty list of supported documents means none may be sent. */
export function documentRule(raw: Fields): { required: boolean; supported: boolean } {
  const required = flag(raw.passenger_identity_documents_required) === true;
  const types = list(raw.supported_passenger_identity_document_types);
  return { required, supported: types ? types.includes('passport') : required };
}

function identityDocuments(passenger: Passenger, rule: { required: boolean; supported: boolean }) {
  const { nationality, passport_number: number, passport_expiry: expiry } = passenger;
  const country = nationality === undefined ? null : alpha2Of(nationality);
  if (!number || !expiry || country === null || !rule.supported) {
    if (rule.required) throw new OrderRefused('form_rejected', false);
    return {};
  }
  const document = { type: 'passport', unique_identifier: number, issuing_country_code: country, expires_on: expiry };
  return { identity_documents: [document] };
}

const MOST_NAME = 20;

/** ASCII, Latin-1 and Latin Extended-A, without the letters that airlines' systems lack (NO_LETTERS). */
const NAME = /^[A-Za-zÀ-ſ '-]+$/u;
const NO_LETTERS = /[ÆæĲĳŒœÞð×÷]/u;

/**
 * Finds, before payment, what Duffel refuses although it satisfies our own rules (domain/passengers.ts): names over 20
 * characters or with other letters, equal names, ages that the fare is not for, missing documents.
 */
export function duffelIssues(passengers: readonly Passenger[], offer: Offer): PassengerIssue[] {
  const seen = new Map<string, number>();
  const lastDay = lastDayOf(offer);
  const seats = offer.passengers?.map(({ age }) => age) ?? passengers.map(() => null);
  const places = seatsFor(
    passengers.map(({ born_on }) => ageOn(born_on, lastDay)),
    seats,
  );
  return passengers.flatMap((passenger, index) => {
    const path = `passengers.${index}`;
    const name = [passenger.given_name, passenger.family_name].map((one) => airlineName(one).toLowerCase());
    const twin = seen.get(name.join('|'));
    seen.set(name.join('|'), twin ?? index);
    return [
      ...nameIssues(passenger, path),
      ...(twin === undefined ? [] : [{ path, message: twinMessage(twin), code: 'duplicate_passenger' as const }]),
      ...ageIssues(ageOn(passenger.born_on, lastDay), seats[places[index] ?? -1], `${path}.born_on`),
      ...(offer.identity_documents_required ? documentIssues(passenger, path) : []),
    ];
  });
}

const twinMessage = (twin: number): string =>
  `has the same name as passenger ${twin + 1}: the airline takes a name once a booking. Book them apart.`;

const wrong = (path: string, message: string): PassengerIssue => ({ path, message, code: 'invalid_request' });

const TOO_LONG = `has more than ${MOST_NAME} characters, more than the airline takes. Shorten it as in the last lines of the passport.`;
const WRONG_LETTERS = "has letters that the airline doesn't take. Write it as in the last lines of the passport.";

const nameIssues = (passenger: Passenger, path: string): PassengerIssue[] =>
  (['given_name', 'family_name'] as const).flatMap((field) => {
    const name = airlineName(passenger[field]);
    if ([...name].length > MOST_NAME) return [wrong(`${path}.${field}`, TOO_LONG)];
    return NAME.test(name) && !NO_LETTERS.test(name) ? [] : [wrong(`${path}.${field}`, WRONG_LETTERS)];
  });

/** Duffel takes adults from 18, and children of exactly the age that was searched. */
function ageIssues(age: number, seat: Seat | undefined, path: string): PassengerIssue[] {
  if (typeof seat === 'number' && seat !== age) {
    const message = `makes this passenger ${age} when the last direction departs, and the fare is for a child of ${seat}.`;
    return [{ path, message, code: 'passenger_age_mismatch' }];
  }
  return typeof seat === 'number' || age >= ADULT_FROM
    ? []
    : [wrong(path, `makes this passenger younger than ${ADULT_FROM} when the last direction departs.`)];
}

const documentIssues = (passenger: Passenger, path: string): PassengerIssue[] =>
  (['nationality', 'passport_number', 'passport_expiry'] as const).flatMap((field) =>
    passenger[field]
      ? []
      : [{ path: `${path}.${field}`, message: 'is missing.', code: 'travel_document_required' as const }],
  );
