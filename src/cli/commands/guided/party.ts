import type { SavedTraveller, TravellerFields } from '../../../client/journal/index.ts';
import {
  BASE_FIELDS,
  bookablePassengers,
  checkPassengers,
  DOCUMENT_FIELDS,
  type PassengerField,
  type PassengerRules,
} from '../../../kernel/domain/passengers.ts';
import { isProblem } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import { counted, harmless } from '../../../terminal/index.ts';
import type { Passenger } from '../../../wire/flights/index.ts';
import {
  type Asked,
  askFields,
  openTyped,
  passengerFrom,
  rulesFor,
  rulesForNext,
  seatNote,
  travellerName,
  travellerState,
  typedText,
} from '../../travellers/index.ts';
import { agrees, bookingCommand, type Party, type Step, said, type Walk } from './walk.ts';

/** Offers saved travellers as passengers; asks for others, and offers to save them. */
export const passengersStep: Step = async (walk) => {
  const { trip, context } = walk;
  const intent = trip.intent;
  if (!intent) return 'back';
  const rules = await rulesFor(context, intent);
  if (trip.isPartyKept && trip.party) {
    trip.isPartyKept = false;
    const { passengers, travellers } = trip.party;
    if ((await checkPassengers(passengers, rules)).length === 0) {
      said(walk, 'Passengers', 'as before', bookingCommand(intent.intent_id, { passengers, travellers }));
      return 'review';
    }
  }
  const typed = await openTyped(context, intent);
  const kept = await askKept(walk, await typed.kept());
  if (kept === 'back') return 'back';
  const members: Member[] = [];
  let passengers: readonly Passenger[] = [];
  while (members.length < intent.passenger_count) {
    const keep = (fields: TravellerFields) => typed.keep([...members.map((one) => one.fields), fields]);
    const member = await askMember(walk, members, rules, kept.shift(), keep);
    if (member === 'back') {
      if (members.pop() === undefined) return 'back';
      continue;
    }
    const list = [...members, member].map(({ fields }) => fields);
    const issues = await checkPassengers(list, { ...rules, count: list.length });
    const bookable = bookablePassengers(list, issues);
    if (bookable) {
      members.push(member);
      passengers = bookable;
      // Saved travellers are offered by name instead.
      await typed.keep(members.every(({ name }) => name !== null) ? [] : list);
    }
    for (const { path, message } of issues) {
      context.terminal.note(`  ${path.replace(/^passengers\.\d+\.?/, '')} ${message}`.trimEnd());
    }
  }
  const party: Party = { passengers, travellers: members.map(({ name }) => name) };
  trip.party = party;
  // People are not named on the screen before the review.
  said(walk, 'Passengers', counted(members.length, 'passenger'), bookingCommand(intent.intent_id, party));
  return 'review';
};

type Member = { readonly name: string | null; readonly fields: TravellerFields };

async function askKept({ ask }: Walk, kept: TravellerFields[]): Promise<TravellerFields[] | 'back'> {
  if (kept.length === 0) return [];
  const answer = await ask.choose({
    message: `Continue with ${typedText(kept)}, typed before?`,
    lines: [
      { name: 'Continue', value: true },
      { name: 'Type them again', value: false },
    ],
  });
  if (answer.kind === 'back') return 'back';
  return answer.value ? kept : [];
}

async function askMember(
  walk: Walk,
  before: readonly Member[],
  rules: PassengerRules,
  typed: TravellerFields | undefined,
  keep: (fields: TravellerFields) => Promise<void>,
): Promise<Member | 'back'> {
  const own = rulesForNext(
    rules,
    before.map((one) => one.fields),
  );
  const travellers = await (await walk.context.session.store()).travellers();
  const saved = (await travellers.all()).filter(({ name }) => !before.some((one) => one.name === name));
  const who = whoText(before.length, rules.count) + seatNote(own);
  const first = before[0]?.fields;
  const askNew = (known?: TravellerFields) => askTyped(walk, { who: harmless(who), first, known, onAnswer: keep }, own);
  if (typed) return askNew(typed);
  for (;;) {
    if (saved.length === 0) return askNew();
    const answer = await walk.ask.choose<SavedTraveller | null>({
      message: `${who}: who is flying?`,
      lines: [
        ...saved.map((one) => ({ name: travellerText(one, rules), value: one })),
        { name: 'Someone else', value: null },
      ],
    });
    if (answer.kind === 'back') return 'back';
    const member = answer.value ? await withDocuments(walk, answer.value, rules) : await askNew();
    if (member !== 'back') return member;
  }
}

const whoText = (index: number, count: number): string => {
  if (count === 1) return 'The passenger';
  return index === 0 ? 'Passenger 1, who receives all e-mails' : `Passenger ${index + 1}`;
};

function travellerText(saved: SavedTraveller, { documentsRequired, today }: PassengerRules): string {
  const { passport } = travellerState(saved, today);
  if (!documentsRequired || passport === 'valid') return harmless(saved.name);
  return `${harmless(saved.name)}  (passport ${passport === 'expired' ? 'expired' : 'missing'}: you will be asked for it)`;
}

/** Asks for the passport of a saved traveller where the flight needs one and it is missing or expired. */
async function withDocuments(walk: Walk, saved: SavedTraveller, rules: PassengerRules): Promise<Member | 'back'> {
  const { passport, missing } = travellerState(saved, rules.today);
  const wanted: readonly PassengerField[] = passport === 'expired' ? ['passport_number', 'passport_expiry'] : missing;
  if (!rules.documentsRequired || wanted.length === 0) {
    return { name: saved.name, fields: passengerFrom(saved.fields, rules) };
  }
  const nowMs = walk.context.clock.now();
  const documents = await askFields(walk.ask, wanted, rules, nowMs, { who: harmless(saved.name) });
  if (documents === 'back') return 'back';
  const fields = { ...saved.fields, ...documents };
  const name = await offerToSave(walk, fields, saved.name);
  return { name, fields: passengerFrom(fields, rules) };
}

async function askTyped(walk: Walk, asked: Asked, rules: PassengerRules): Promise<Member | 'back'> {
  const { known = {} } = asked;
  const wanted = [...BASE_FIELDS, ...(rules.documentsRequired ? DOCUMENT_FIELDS : [])];
  // If every field was typed before, the question about saving was answered too.
  if (wanted.every((field) => known[field] !== undefined)) {
    return { name: null, fields: passengerFrom(known, rules) };
  }
  const nowMs = walk.context.clock.now();
  const fields = await askFields(walk.ask, wanted, rules, nowMs, asked);
  if (fields === 'back') return 'back';
  return { name: await offerToSave(walk, fields, null), fields: passengerFrom(fields, rules) };
}

/**
 * Offers to save a traveller, under a chosen name or the known one.
 * @returns the name that they are saved under with exactly these fields, or null
 */
async function offerToSave(walk: Walk, fields: TravellerFields, known: string | null): Promise<string | null> {
  const { context } = walk;
  const question = known === null ? 'Save this traveller, encrypted, for next time?' : `Save this for ${known}?`;
  if (!(await agrees(walk, question, 'Save', 'Not this time'))) return null;
  const travellers = await (await context.session.store()).travellers();
  const name = known ?? (await askName(walk));
  if (name === null) return null;
  try {
    await travellers.keep(name, fields, { replaces: known !== null });
  } catch (error) {
    // Another command has just taken the name.
    if (!isProblem(error, 'traveller_exists')) throw error;
    context.terminal.note(error.message);
    return null;
  }
  said(walk, 'Saved', name, farelock`travellers add ${name} ${known === null ? [] : ['--replace']}`);
  return name;
}

async function askName({ ask, context }: Walk): Promise<string | null> {
  const travellers = await (await context.session.store()).travellers();
  const answer = await ask.text({
    message: 'Save as (such as ana)',
    async check(text) {
      try {
        return (await travellers.find(travellerName(text))) ? 'There is already a traveller with that name.' : null;
      } catch (error) {
        if (isProblem(error, 'usage')) return error.fix;
        throw error;
      }
    },
  });
  return answer.kind === 'back' ? null : travellerName(answer.value);
}
