import { ageOn } from '../../../kernel/domain/travel-ages.ts';
import { dayName, harmless } from '../../../terminal/index.ts';
import type { CommandContext } from '../../spec/index.ts';

interface Journey {
  readonly depart: string;
  readonly return?: string | undefined;
  readonly onward?: readonly string[] | undefined;
  readonly childAges?: readonly number[] | undefined;
}

/** Warns, before a search is paid, if it has a saved traveller's age on the first day: the last direction's day counts. */
export async function warnOfBirthdays({ session, terminal }: CommandContext, journey: Journey): Promise<void> {
  const { depart, return: back, onward, childAges = [] } = journey;
  const last = onward?.at(-1)?.split('@')[1] ?? back ?? depart;
  if (last === depart) return;
  const travellers = await (await session.store()).travellers();
  for (const { name, fields } of await travellers.all()) {
    const [first, counted] = [depart, last].map((day) => ageOn(fields.born_on ?? day, day));
    if (first === undefined || counted === undefined || first === counted) continue;
    if (!childAges.includes(first) || childAges.includes(counted)) continue;
    const day = dayName(last).slice(4);
    terminal.note(
      `! ${harmless(name)} is ${counted} on ${day}, when the last direction departs: search with ${counted}.`,
    );
  }
}
