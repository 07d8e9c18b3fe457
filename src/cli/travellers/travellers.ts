import type { SavedTraveller, TravellerFields } from '../../client/journal/index.ts';
import {
  bookablePassengers,
  checkPassengers,
  DOCUMENT_FIELDS,
  type PassengerField,
  type PassengerIssue,
  type PassengerRules,
} from '../../kernel/domain/passengers.ts';
import { problem } from '../../kernel/problems.ts';
import type { Passenger } from '../../wire/flights/index.ts';
import type { CommandContext } from '../spec/index.ts';
import { quoted } from '../view/index.ts';

/** Details of a saved traveller that a booking may still need. */
export interface TravellerState {
  readonly passport: 'none' | 'valid' | 'expired';
  /** Fields that a lowcost booking needs and that are not known. */
  readonly missing: readonly PassengerField[];
}

export function travellerState({ fields }: SavedTraveller, today: string): TravellerState {
  const missing = DOCUMENT_FIELDS.filter((field) => fields[field] === undefined);
  const until = fields.passport_expiry;
  if (until !== undefined && until <= today) return { passport: 'expired', missing };
  return { passport: missing.length === 0 ? 'valid' : 'none', missing };
}

/**
 * A name for a traveller as a person gave it.
 * @throws Problem `usage`
 */
export function travellerName(given: string): string {
  const name = given.normalize('NFC').trim();
  if (/^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._'’-]{0,39}$/u.test(name)) return name;
  throw problem('usage', {
    message: 'That name cannot be used for a traveller.',
    fix: 'Give up to 40 letters and digits, such as ana.',
  });
}

/** The saved traveller of a name. @throws Problem `traveller_not_found` */
export async function travellerNamed({ session }: CommandContext, name: string): Promise<SavedTraveller> {
  const travellers = await (await session.store()).travellers();
  const found = await travellers.find(name);
  if (found) return found;
  throw problem('traveller_not_found', { message: `No saved traveller ${name}.`, next: ['farelock travellers list'] });
}

/** Saved fields as the passenger of a booking; travel documents only where the booking needs them. */
export const passengerFrom = (fields: TravellerFields, rules: PassengerRules): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([field]) => rules.documentsRequired || !(DOCUMENT_FIELDS as readonly string[]).includes(field),
    ),
  );

/**
 * Saved travellers as the passengers of a booking, in the order of their names.
 * @throws Problem `traveller_not_found`, `passengers_invalid`: a passport that is missing or has expired is said here,
 *   before anything is paid
 */
export async function savedPassengers(
  context: CommandContext,
  names: readonly string[],
  rules: PassengerRules,
): Promise<Passenger[]> {
  const saved: SavedTraveller[] = [];
  for (const name of names) saved.push(await travellerNamed(context, name));
  const list = saved.map(({ fields }) => passengerFrom(fields, rules));
  const issues = await checkPassengers(list, rules);
  const bookable = bookablePassengers(list, issues);
  if (bookable) return bookable;
  const wrong = saved.filter((_, index) => issues.some(({ path }) => path.startsWith(`passengers.${index}.`)));
  throw problem('passengers_invalid', {
    message: 'The saved travellers cannot be booked.',
    fix:
      wrong.length > 0
        ? 'Save the traveller again with what is missing or has changed. Nothing was charged.'
        : 'Name each traveller once, as many as the fare was locked for. Nothing was charged.',
    next: wrong.map(({ name }) => `farelock travellers add ${quoted(name)} --replace`),
    detail: { issues: issues.map((issue) => namedIssue(issue, saved)) },
  });
}

const namedIssue = ({ path, message }: PassengerIssue, saved: readonly SavedTraveller[]) => ({
  path: path.replace(/^passengers\.(\d+)\./, (whole, index: string) => {
    const name = saved[Number(index)]?.name;
    return name === undefined ? whole : `${name}: `;
  }),
  message,
});
