import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SavedTraveller, TravellerFields } from '../../client/journal/index.ts';
import { readBounded } from '../../kernel/bounded-file.ts';
import { instant } from '../../kernel/clock.ts';
import {
  BASE_FIELDS,
  bookablePassengers,
  checkPassengers,
  DOCUMENT_FIELDS,
  type PassengerField,
  type PassengerIssue,
  type PassengerRules,
  passportsTooOld,
} from '../../kernel/domain/passengers.ts';
import { ageOn, CHILD_FROM, seatsFor } from '../../kernel/domain/travel-ages.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import { farelock } from '../../kernel/shell-word.ts';
import { counted, dayName } from '../../terminal/index.ts';
import type { Intent, Passenger } from '../../wire/flights/index.ts';
import { type IntentNotes, notesOf, sourceName } from '../session/index.ts';
import type { CommandContext } from '../spec/index.ts';
import { askAllFields, openTyped, plainPassengers, typedText } from './fields.ts';

/** The rules for the passengers of a locked fare, as far as this home knows its journey. */
export async function rulesFor({ session, clock }: CommandContext, intent: Intent): Promise<PassengerRules> {
  const { passenger_ages } = intent;
  const { departure_date, fare } = notesOf(await (await session.store()).intent(intent.intent_id));
  return {
    count: intent.passenger_count,
    departureDate: departure_date ?? null,
    ...(passenger_ages && { ages: { on: passenger_ages.on, seats: passenger_ages.ages } }),
    documentsRequired: intent.offer_id.startsWith('lowcost:') || fare?.identity_documents_required === true,
    today: instant(clock.now()).slice(0, 10),
  };
}

/** The source of a booking's passengers; without one they are asked for. */
interface PassengersFrom {
  /** A JSON file, or `-`. */
  readonly passengers?: string | undefined;
  /** Names of saved travellers; the first receives all e-mails. */
  readonly traveller?: readonly string[] | undefined;
  /** The lock: typed passengers are kept until it ends. */
  readonly intent: Pick<Intent, 'intent_id' | 'expires_at'>;
}

/**
 * Reads the passengers of a booking: saved travellers, a file, standard input (`-`), or answers on a terminal.
 * @throws Problem `passengers_invalid` with everything that is wrong (`detail.issues`), `traveller_not_found`,
 *   `file_unreadable`, `input_required`, and `usage` if both a file and travellers are given
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
        message: 'Use either --passengers or --traveller, not both.',
        fix: 'Save all passengers as travellers, or put all of them in the file.',
      });
    }
    return savedPassengers(context, names, rules);
  }
  const nowMs = context.clock.now();
  const list =
    source === undefined
      ? await askPassengers(context, from.intent, rules)
      : plainPassengers(await readPassengerFile(context, source), nowMs);
  const issues = await checkPassengers(list, rules);
  const bookable = bookablePassengers(list, issues);
  if (bookable) return bookable;
  // Each was checked when typed, so the list as a whole is wrong, such as one person twice: it is not offered again.
  if (source === undefined) await (await openTyped(context, from.intent)).keep([]);
  const name = source === undefined ? 'The list of passengers' : sourceName(source);
  checkAges(issues);
  const areMissing = issues.every(({ message }) => message === 'is missing.');
  throw problem('passengers_invalid', {
    message: areMissing
      ? `${name} is missing ${counted(issues.length, 'field')} that this fare needs.`
      : `${name} has ${counted(issues.length, 'mistake')}.`,
    ...(areMissing && {
      fix: `Add ${issues.length === 1 ? 'it' : 'them'} and run the command again.`,
      charged: 'nothing',
    }),
    detail: { issues: issues.map(({ path, message }) => ({ path, message })) },
  });
}

/** @throws Problem `passenger_age_mismatch` for passengers of other ages than were searched */
function checkAges(issues: readonly PassengerIssue[]): void {
  if (issues[0]?.code !== 'passenger_age_mismatch') return;
  throw problem('passenger_age_mismatch', {
    detail: { issues: issues.map(({ path, message }) => ({ path, message })) },
  });
}

/** The rules for the next passenger; in a fare with children, for the first seat that is left. */
export function rulesForNext(rules: PassengerRules, before: readonly TravellerFields[]): PassengerRules {
  if (!rules.ages) return rules;
  const { on, seats } = rules.ages;
  const taken = seatsFor(
    before.map(({ born_on }) => ageOn(born_on ?? on, on)),
    seats,
  );
  return { ...rules, seat: seats.find((_, place) => !taken.includes(place)) ?? null };
}

/** `, a child of 8 on 14 Jan 2027`; nothing for an adult. */
export function seatNote({ ages, seat }: PassengerRules): string {
  if (!ages || seat == null) return '';
  return `, ${seat < CHILD_FROM ? 'an infant' : 'a child'} of ${seat} on ${dayName(ages.on).slice(4)}`;
}

/**
 * Warns of passports that expire before the journey ends, as far as this home knows the journey, before anything is
 * paid. The service takes them, since they may be renewed in time.
 */
export function passportWarnings(
  passengers: readonly Passenger[],
  { arrival_date, departure_date }: Pick<IntentNotes, 'arrival_date' | 'departure_date'>,
): string[] {
  const lastDay = arrival_date ?? departure_date;
  if (lastDay === undefined) return [];
  return passportsTooOld(passengers, lastDay).map(
    ({ passenger, expiry }) =>
      `! The passport of passenger ${passenger} expires on ${expiry}, before the journey ends on ${lastDay}.`,
  );
}

async function askPassengers(
  context: CommandContext,
  intent: PassengersFrom['intent'],
  rules: PassengerRules,
): Promise<unknown[]> {
  const { terminal } = context;
  const prompts = terminal.ask('--passengers <file>');
  const fields: PassengerField[] = [...BASE_FIELDS, ...(rules.documentsRequired ? DOCUMENT_FIELDS : [])];
  const typed = await openTyped(context, intent);
  const kept = await typed.kept();
  const isTyped = kept.length > 0 && (await prompts.confirm(`Continue with ${typedText(kept)}, typed before?`, true));
  const listed = isTyped ? [] : await listedHere(context, rules);
  const isListed =
    listed.length > 0 && (await prompts.confirm(`Book for ${typedText(listed)}, from ${LISTED_IN}?`, true));
  const passengers: TravellerFields[] = isTyped ? kept.slice(0, rules.count) : isListed ? listed : [];
  for (let index = 0; index < rules.count; index++) {
    const known = passengers[index] ?? {};
    if (fields.every((field) => known[field] !== undefined)) continue;
    const own = rulesForNext(rules, passengers.slice(0, index));
    if (rules.count > 1) {
      terminal.note(index === 0 ? 'Passenger 1, who receives all e-mails' : `Passenger ${index + 1}${seatNote(own)}`);
    }
    passengers[index] = await askAllFields(prompts, fields, own, context.clock.now(), {
      known,
      first: passengers[0],
      onAnswer: (answers) => typed.keep([...passengers.slice(0, index), answers]),
    });
  }
  return passengers;
}

const LISTED_IN = 'passengers.json';

/** The passengers of that file in the working folder; none if it has mistakes other than missing fields. */
async function listedHere(context: CommandContext, rules: PassengerRules): Promise<TravellerFields[]> {
  const path = join(context.folder ?? '', LISTED_IN);
  if (!existsSync(path)) return [];
  try {
    const list = plainPassengers(await readPassengerFile(context, path), context.clock.now());
    const issues = await checkPassengers(list, rules);
    return issues.every(({ message }) => message === 'is missing.')
      ? list.map((one) => passengerFrom(fieldsOf(one), rules))
      : [];
  } catch (error) {
    if (isProblem(error, 'file_unreadable')) return [];
    throw error;
  }
}

const MOST_BYTES = 1_048_576;

/**
 * Reads passengers from a JSON file, or from standard input (`-`): an array, `{ "passengers": […] }`, or one passenger
 * alone. Does not check their fields.
 * @throws Problem `file_unreadable`, which quotes nothing of the text
 */
export async function readPassengerFile(
  context: CommandContext,
  source: string,
  option = '--passengers',
): Promise<unknown[]> {
  return passengerList(await readText(context, source, option), source);
}

async function readText({ streams }: CommandContext, source: string, option: string): Promise<string> {
  if (source === '-') return streams.stdin.text();
  let bytes: Buffer | null;
  try {
    bytes = readBounded(source, { mostBytes: MOST_BYTES });
  } catch (cause) {
    const missing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    const fix = `${option} takes a JSON file with an array of passengers, or - for standard input.`;
    throw unreadable(missing ? `There is no file ${source}.` : `${source} cannot be read.`, fix, cause);
  }
  if (bytes) return bytes.toString('utf8');
  const fix = `${option} takes a JSON file of at most ${MOST_BYTES / 1_048_576} MB.`;
  throw unreadable(`${source} is too large for a list of passengers.`, fix);
}

function passengerList(text: string, source: string): unknown[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    // The parser quotes the text in its message, and the text is private.
    throw unreadable(`${sourceName(source)} is not JSON.`);
  }
  if (Array.isArray(parsed)) return parsed;
  if (typeof parsed === 'object' && parsed !== null) {
    if ('passengers' in parsed && Array.isArray(parsed.passengers)) return parsed.passengers;
    if ('family_name' in parsed || 'given_name' in parsed) return [parsed];
  }
  throw unreadable(`${sourceName(source)} has no list of passengers.`);
}

const unreadable = (
  message: string,
  fix = 'Use an array of passengers, or { "passengers": [ … ] }.',
  cause?: unknown,
) => problem('file_unreadable', { message, fix, cause });

/** The rules for a saved traveller, who has no flight yet. */
const rulesOf = (nowMs: number): PassengerRules => ({
  count: 1,
  departureDate: null,
  documentsRequired: false,
  today: instant(nowMs).slice(0, 10),
});

/**
 * Reads the fields of one traveller from a JSON file or from standard input (`-`). A passport may be left out.
 * @throws Problem `passengers_invalid`, `file_unreadable`
 */
export async function travellerFromFile(context: CommandContext, source: string): Promise<TravellerFields> {
  const nowMs = context.clock.now();
  const list = plainPassengers(await readPassengerFile(context, source, 'travellers add'), nowMs);
  const issues = await checkPassengers(list, rulesOf(nowMs));
  if (issues.length > 0) {
    throw problem('passengers_invalid', {
      message: `The traveller in ${sourceName(source)} cannot be saved.`,
      fix: 'Change the fields above. Nothing was saved.',
      detail: { issues: issues.map(({ path, message }) => ({ path: path.replace(/^passengers\.0\.?/, ''), message })) },
    });
  }
  return fieldsOf(list[0]);
}

/** The fields of a checked passenger, without empty ones. */
function fieldsOf(passenger: unknown): TravellerFields {
  const given = passenger as Readonly<Record<string, unknown>>;
  const fields: Partial<Record<PassengerField, string>> = {};
  for (const field of [...BASE_FIELDS, ...DOCUMENT_FIELDS]) {
    const value = given[field];
    if (typeof value === 'string' && value !== '') fields[field] = value;
  }
  return fields;
}

/** Asks for a traveller's fields; for a passport only if it is to be saved. @throws Problem `input_required` */
export async function askTraveller(context: CommandContext): Promise<TravellerFields> {
  const prompts = context.terminal.ask('a file, or - for standard input,');
  const nowMs = context.clock.now();
  const rules = rulesOf(nowMs);
  const fields = await askAllFields(prompts, BASE_FIELDS, rules, nowMs);
  if (!(await prompts.confirm('Save a passport too? Low-cost flights need one.', false))) return fields;
  return { ...fields, ...(await askAllFields(prompts, DOCUMENT_FIELDS, rules, nowMs)) };
}

/** Details of a saved traveller that a booking may still need. */
export interface TravellerState {
  readonly passport: 'none' | 'valid' | 'expired';
  /** Missing fields that a lowcost booking needs. */
  readonly missing: readonly PassengerField[];
}

export function travellerState({ fields }: SavedTraveller, today: string): TravellerState {
  const missing = DOCUMENT_FIELDS.filter((field) => fields[field] === undefined);
  const until = fields.passport_expiry;
  if (until !== undefined && until <= today) return { passport: 'expired', missing };
  return { passport: missing.length === 0 ? 'valid' : 'none', missing };
}

/** Checks a person's name for a traveller. @throws Problem `usage` */
export function travellerName(given: string): string {
  const name = given.normalize('NFC').trim();
  if (/^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._'’-]{0,39}$/u.test(name)) return name;
  throw problem('usage', {
    message: 'That name cannot be used for a traveller.',
    fix: 'Use up to 40 letters and digits, such as ana.',
  });
}

/** Finds a saved traveller by name. @throws Problem `traveller_not_found` */
export async function travellerNamed({ session }: CommandContext, name: string): Promise<SavedTraveller> {
  const travellers = await (await session.store()).travellers();
  const found = await travellers.find(name);
  if (found) return found;
  throw problem('traveller_not_found', { message: `No saved traveller ${name}.`, next: [farelock`travellers list`] });
}

/** Makes a passenger of saved fields; travel documents only if the booking needs them. */
export const passengerFrom = (fields: TravellerFields, rules: PassengerRules): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([field]) => rules.documentsRequired || !(DOCUMENT_FIELDS as readonly string[]).includes(field),
    ),
  );

/**
 * Makes passengers of saved travellers, in the order of the names.
 * @throws Problem `traveller_not_found`, or `passengers_invalid`, such as for a missing or expired passport, before
 *   anything is paid
 */
async function savedPassengers(
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
  checkAges(issues.map((issue) => ({ ...issue, ...namedIssue(issue, saved) })));
  const wrong = saved.filter((_, index) => issues.some(({ path }) => path.startsWith(`passengers.${index}.`)));
  throw problem('passengers_invalid', {
    message: 'The saved travellers cannot be booked.',
    fix:
      wrong.length > 0
        ? 'Save the traveller again with what is missing or has changed.'
        : 'Name each traveller once, as many as the fare was locked for.',
    charged: 'nothing',
    next: wrong.map(({ name }) => farelock`travellers add ${name} --replace`),
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

export * from './fields.ts';
