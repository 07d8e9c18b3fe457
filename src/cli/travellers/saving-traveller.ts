import type { TravellerFields } from '../../client/journal/index.ts';
import { instant } from '../../kernel/clock.ts';
import {
  BASE_FIELDS,
  checkPassengers,
  DOCUMENT_FIELDS,
  type PassengerField,
  type PassengerRules,
} from '../../kernel/domain/passengers.ts';
import { problem } from '../../kernel/problems.ts';
import type { CommandContext } from '../spec/index.ts';
import { readPassengerFile, sourceName } from './passengers.ts';
import { plainPassengers } from './typed-field.ts';

/** The rules that a traveller is saved by: those of a passenger of a flight that is not known yet. */
const rulesOf = (nowMs: number): PassengerRules => ({
  count: 1,
  departureDate: null,
  documentsRequired: false,
  today: instant(nowMs).slice(0, 10),
});

/**
 * The fields of one traveller, from a JSON file or from standard input (`-`). A passport may be left out.
 * @throws Problem `passengers_invalid`, `file_unreadable`
 */
export async function travellerFromFile(context: CommandContext, source: string): Promise<TravellerFields> {
  const nowMs = context.clock.now();
  const list = plainPassengers(await readPassengerFile(context, source, 'travellers add'), nowMs);
  const issues = await checkPassengers(list, rulesOf(nowMs));
  if (issues.length > 0) {
    throw problem('passengers_invalid', {
      message: `The traveller in ${sourceName(source)} cannot be saved.`,
      fix: 'Correct the fields above. Nothing was saved.',
      detail: { issues: issues.map(({ path, message }) => ({ path: path.replace(/^passengers\.0\.?/, ''), message })) },
    });
  }
  return fieldsOf(list[0]);
}

/** The known fields of what was checked before; an empty one is one that is not known. */
function fieldsOf(passenger: unknown): TravellerFields {
  const given = passenger as Readonly<Record<string, unknown>>;
  const fields: Partial<Record<PassengerField, string>> = {};
  for (const field of [...BASE_FIELDS, ...DOCUMENT_FIELDS]) {
    const value = given[field];
    if (typeof value === 'string' && value !== '') fields[field] = value;
  }
  return fields;
}

/** Asks a person for a traveller; the passport only when they want it kept. @throws Problem `input_required` */
export async function askTraveller(context: CommandContext): Promise<TravellerFields> {
  const prompts = context.terminal.ask('a file, or - for standard input,');
  const { askFields } = await import('./passenger-questions.ts');
  const nowMs = context.clock.now();
  const rules = rulesOf(nowMs);
  const fields = await askFields(prompts, BASE_FIELDS, rules, nowMs);
  if (!(await prompts.confirm('Save a passport too? Low-cost flights need one.', false))) return fields;
  return { ...fields, ...(await askFields(prompts, DOCUMENT_FIELDS, rules, nowMs)) };
}
