import { readFileSync } from 'node:fs';
import type { Passenger } from '../flights/wire.ts';
import {
  BASE_FIELDS,
  checkPassengerField,
  checkPassengers,
  DOCUMENT_FIELDS,
  type PassengerField,
  type PassengerRules,
  TITLES,
} from '../kernel/passengers.ts';
import { problem } from '../kernel/problems.ts';
import type { CommandContext } from './context.ts';
import type { Prompts } from './streams.ts';

/**
 * The passengers of a booking: from a file, from standard input (`-`), or asked for on a terminal.
 * @throws Problem `passengers_invalid` with everything that is wrong (`detail.issues`), `file_unreadable`,
 *   `input_required`
 */
export async function readPassengers(
  context: CommandContext,
  source: string | undefined,
  rules: PassengerRules,
): Promise<Passenger[]> {
  const list =
    source === undefined
      ? await askPassengers(context.terminal.ask('--passengers <file>'), rules, context)
      : passengerList(await readText(context, source), source);
  const issues = await checkPassengers(list, rules);
  if (issues.length > 0) {
    throw problem('passengers_invalid', {
      message:
        source === undefined
          ? 'The passengers cannot be booked.'
          : `The passengers in ${nameOf(source)} cannot be booked.`,
      detail: { issues: issues.map(({ path, message }) => ({ path, message })) },
    });
  }
  // Every field was checked above.
  return list as Passenger[];
}

const nameOf = (source: string): string => (source === '-' ? 'standard input' : source);

async function readText({ streams }: CommandContext, source: string): Promise<string> {
  if (source === '-') return streams.stdin.text();
  try {
    return readFileSync(source, 'utf8');
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw problem('file_unreadable', {
      message: missing ? `There is no file ${source}.` : `${source} cannot be read.`,
      fix: 'Give --passengers a JSON file with an array of passengers, or - for standard input.',
      cause: error,
    });
  }
}

/** An array, `{ "passengers": […] }`, or one passenger alone. */
function passengerList(text: string, source: string): unknown[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    // What the parser says quotes the text, and the text is private.
    throw problem('file_unreadable', {
      message: `${nameOf(source)} is not JSON.`,
      fix: 'Give an array of passengers, or { "passengers": [ … ] }.',
    });
  }
  if (Array.isArray(parsed)) return parsed;
  if (typeof parsed === 'object' && parsed !== null) {
    if ('passengers' in parsed && Array.isArray(parsed.passengers)) return parsed.passengers;
    if ('family_name' in parsed || 'given_name' in parsed) return [parsed];
  }
  throw problem('file_unreadable', {
    message: `${nameOf(source)} holds no list of passengers.`,
    fix: 'Give an array of passengers, or { "passengers": [ … ] }.',
  });
}

const QUESTIONS: Record<PassengerField, string> = {
  given_name: 'Given names, as in the passport',
  family_name: 'Family name',
  born_on: 'Born on (YYYY-MM-DD)',
  title: 'Title',
  gender: 'Gender',
  email: 'E-mail',
  phone_number: 'Phone (+351912345678)',
  nationality: 'Nationality (PT)',
  passport_number: 'Passport number',
  passport_expiry: 'Passport valid until (YYYY-MM-DD)',
};

async function askPassengers(
  prompts: Prompts,
  rules: PassengerRules,
  { terminal }: CommandContext,
): Promise<unknown[]> {
  const passengers: unknown[] = [];
  for (let number = 1; number <= rules.count; number++) {
    if (rules.count > 1) {
      terminal.note(number === 1 ? 'Passenger 1, who receives all e-mails' : `Passenger ${number}`);
    }
    const passenger: Record<string, string> = {};
    for (const field of [...BASE_FIELDS, ...(rules.documentsRequired ? DOCUMENT_FIELDS : [])]) {
      passenger[field] = await askField(prompts, field, rules);
    }
    passengers.push(passenger);
  }
  return passengers;
}

function askField(prompts: Prompts, field: PassengerField, rules: PassengerRules): Promise<string> {
  const question = QUESTIONS[field];
  if (field === 'title') {
    return prompts.choose(
      question,
      TITLES.map((title) => ({ name: title, value: title as string })),
    );
  }
  if (field === 'gender') {
    return prompts.choose(question, [
      { name: 'female', value: 'f' },
      { name: 'male', value: 'm' },
    ]);
  }
  return prompts.text(question, async (value) => {
    const wrong = await checkPassengerField(field, value, rules);
    return wrong === null ? null : `It ${wrong}`;
  });
}
