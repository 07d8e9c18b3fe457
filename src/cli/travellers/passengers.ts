import {
  BASE_FIELDS,
  bookablePassengers,
  checkPassengers,
  DOCUMENT_FIELDS,
  type PassengerField,
  type PassengerRules,
  passportsTooOld,
} from '../../domain/passengers.ts';
import type { Passenger } from '../../flights/wire.ts';
import { problem } from '../../kernel/problems.ts';
import { notesOf } from '../session/remembered.ts';
import type { CommandContext } from '../spec/command.ts';
import { readPassengerFile, sourceName } from './passenger-file.ts';
import { plainPassengers } from './typed-field.ts';

/** Where the passengers of a booking come from; neither: they are asked for. */
interface PassengersFrom {
  /** A JSON file, or `-`. */
  readonly passengers?: string | undefined;
  /** Names of saved travellers, the one who receives all e-mails first. */
  readonly traveller?: readonly string[] | undefined;
}

/**
 * The passengers of a booking: saved travellers, a file, standard input (`-`), or asked for on a terminal.
 * @throws Problem `passengers_invalid` with everything that is wrong (`detail.issues`), `traveller_not_found`,
 *   `file_unreadable`, `input_required`, and `usage` where both are given
 */
export async function readPassengers(
  context: CommandContext,
  from: PassengersFrom,
  rules: PassengerRules,
): Promise<Passenger[]> {
  const { passengers: source, traveller: names } = from;
  if (names !== undefined) {
    if (source !== undefined) {
      throw problem('usage', {
        message: '--passengers and --traveller exclude each other.',
        fix: 'Save everybody as a traveller, or write everybody into the file.',
      });
    }
    const { savedPassengers } = await import('./travellers.ts');
    return savedPassengers(context, names, rules);
  }
  const nowMs = context.clock.now();
  const list =
    source === undefined
      ? await askPassengers(context, rules)
      : plainPassengers(await readPassengerFile(context, source), nowMs);
  const issues = await checkPassengers(list, rules);
  const bookable = bookablePassengers(list, issues);
  if (bookable) return bookable;
  throw problem('passengers_invalid', {
    message:
      source === undefined
        ? 'The passengers cannot be booked.'
        : `The passengers in ${sourceName(source)} cannot be booked.`,
    detail: { issues: issues.map(({ path, message }) => ({ path, message })) },
  });
}

/**
 * Says before anything is paid whose passport expires before the journey ends, as far as this home knows the journey.
 * The service takes such a passport: it may be renewed in time.
 */
export async function warnOfPassports(
  { session, terminal }: CommandContext,
  intentId: string,
  passengers: readonly Passenger[],
): Promise<void> {
  const { arrival_date, departure_date } = notesOf(await (await session.store()).intent(intentId));
  const lastDay = arrival_date ?? departure_date;
  if (lastDay === undefined) return;
  terminal.review(
    passportsTooOld(passengers, lastDay).map(
      ({ passenger, expiry }) =>
        `! The passport of passenger ${passenger} expires on ${expiry}, before the journey ends on ${lastDay}.`,
    ),
  );
}

async function askPassengers(context: CommandContext, rules: PassengerRules): Promise<unknown[]> {
  const { terminal } = context;
  const prompts = terminal.ask('--passengers <file>');
  const { askFields } = await import('./passenger-questions.ts');
  const fields: PassengerField[] = [...BASE_FIELDS, ...(rules.documentsRequired ? DOCUMENT_FIELDS : [])];
  const passengers: unknown[] = [];
  for (let number = 1; number <= rules.count; number++) {
    if (rules.count > 1) {
      terminal.note(number === 1 ? 'Passenger 1, who receives all e-mails' : `Passenger ${number}`);
    }
    passengers.push(await askFields(prompts, fields, rules, context.clock.now()));
  }
  return passengers;
}
