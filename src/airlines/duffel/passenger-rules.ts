import type { PassengerIssue } from '../../kernel/domain/passengers.ts';
import type { Offer, Passenger } from '../../wire/flights/index.ts';
import { airlineName } from './order-form.ts';

const MOST_NAME = 20;
/** Letters of ASCII, Latin-1 and Latin Extended-A without those that airlines' systems don't have. */
const NAME = /^[A-Za-zÀ-ſ '-]+$/u;
const NO_LETTERS = /[ÆæĲĳŒœÞð×÷]/u;
export const ADULT_YEARS = 18;

/**
 * What Duffel refuses of passengers that satisfy our own rules (domain/passengers.ts): said before anything is paid.
 * Names of more than 20 characters or with letters that it does not take, equal names, travellers who are no adults on
 * the last flight (a fare is searched for adults), and documents that the offer asks for.
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
      ...(twin === undefined
        ? []
        : [
            issue(
              path,
              `has the same name as passenger ${twin + 1}: the airline takes a name once a booking. Book them apart.`,
              'duplicate_passenger' as const,
            ),
          ]),
      ...(isAdult(passenger.born_on, lastDay)
        ? []
        : [issue(`${path}.born_on`, `makes this passenger younger than ${ADULT_YEARS} on the last flight.`)]),
      ...(offer.identity_documents_required ? documentIssues(passenger, path) : []),
    ];
  });
}

const issue = (
  path: string,
  message: string,
  code: PassengerIssue['code'] = 'invalid_request',
): PassengerIssue => ({ path, message, code });

const nameIssues = (passenger: Passenger, path: string): PassengerIssue[] =>
  (['given_name', 'family_name'] as const).flatMap((field) => {
    const name = airlineName(passenger[field]);
    if ([...name].length > MOST_NAME) {
      return [
        issue(
          `${path}.${field}`,
          `has more than ${MOST_NAME} characters, more than the airline takes. Shorten it as in the last lines of the passport.`,
        ),
      ];
    }
    if (NAME.test(name) && !NO_LETTERS.test(name)) return [];
    return [
      issue(
        `${path}.${field}`,
        "has letters that the airline doesn't take. Write it as in the last lines of the passport.",
      ),
    ];
  });

/** Dates of this form compare as text. */
const isAdult = (bornOn: string, day: string): boolean =>
  `${String(Number(bornOn.slice(0, 4)) + ADULT_YEARS).padStart(4, '0')}${bornOn.slice(4)}` <= day;

const documentIssues = (passenger: Passenger, path: string): PassengerIssue[] =>
  (['nationality', 'passport_number', 'passport_expiry'] as const).flatMap((field) =>
    passenger[field] ? [] : [issue(`${path}.${field}`, 'is missing.', 'travel_document_required')],
  );
