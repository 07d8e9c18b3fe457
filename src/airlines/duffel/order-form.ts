import { alpha2Of } from '../../kernel/domain/countries.ts';
import type { PassengerIssue } from '../../kernel/domain/passengers.ts';
import type { Offer, Passenger } from '../../wire/flights/index.ts';
import { OrderRefused } from '../provider.ts';
import { type Fields, flag, list, objects, texts } from './read.ts';

/**
 * Makes the body of POST /air/orders, which pays exactly the offer's total at once from the seller's balance.
 * @throws OrderRefused `form_rejected` for passengers that Duffel would refuse
 */
export function orderForm(raw: Fields, reference: string, passengers: readonly Passenger[]) {
  const ids = texts(objects(raw.passengers).map(({ id }) => id));
  if (ids.length !== passengers.length || new Set(ids).size !== ids.length) {
    throw new OrderRefused('form_rejected', false);
  }
  const documents = documentRule(raw);
  return {
    type: 'instant',
    selected_offers: [raw.id],
    passengers: passengers.map((passenger, index) => ({
      id: ids[index],
      title: passenger.title,
      gender: passenger.gender,
      given_name: airlineName(passenger.given_name),
      family_name: airlineName(passenger.family_name),
      born_on: passenger.born_on,
      email: passenger.email,
      phone_number: passenger.phone_number,
      ...identityDocuments(passenger, documents),
    })),
    payments: [{ type: 'balance', amount: raw.total_amount, currency: raw.total_currency }],
    metadata: { reference },
  };
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
export const ADULT_YEARS = 18;

/**
 * Finds, before payment, what Duffel refuses although it satisfies our own rules (domain/passengers.ts): names over 20
 * characters or with other letters, equal names, travellers under 18 on the last flight, missing documents.
 */
export function duffelIssues(passengers: readonly Passenger[], offer: Offer): PassengerIssue[] {
  const seen = new Map<string, number>();
  const lastDay = (offer.slices.at(-1) ?? offer).departing_at.slice(0, 10);
  return passengers.flatMap((passenger, index) => {
    const path = `passengers.${index}`;
    const name = [passenger.given_name, passenger.family_name].map((one) => airlineName(one).toLowerCase());
    const twin = seen.get(name.join('|'));
    seen.set(name.join('|'), twin ?? index);
    return [
      ...nameIssues(passenger, path),
      ...(twin === undefined ? [] : [{ path, message: twinMessage(twin), code: 'duplicate_passenger' as const }]),
      ...(isAdult(passenger.born_on, lastDay)
        ? []
        : [wrong(`${path}.born_on`, `makes this passenger younger than ${ADULT_YEARS} on the last flight.`)]),
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

/** YYYY-MM-DD compares as text. */
const isAdult = (bornOn: string, day: string): boolean =>
  `${String(Number(bornOn.slice(0, 4)) + ADULT_YEARS).padStart(4, '0')}${bornOn.slice(4)}` <= day;

const documentIssues = (passenger: Passenger, path: string): PassengerIssue[] =>
  (['nationality', 'passport_number', 'passport_expiry'] as const).flatMap((field) =>
    passenger[field]
      ? []
      : [{ path: `${path}.${field}`, message: 'is missing.', code: 'travel_document_required' as const }],
  );
