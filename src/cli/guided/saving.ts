import type { TravellerFields } from '../../client/journal/travellers.ts';
import { isProblem } from '../../kernel/problems.ts';
import { travellerName } from '../travellers/travellers.ts';
import { quoted } from '../view/payment.ts';
import { said, type Walk } from './walk.ts';

/**
 * Offers to save a person for the next time, under a name of their choice or again under the one they have. Answers the
 * name that they are saved under with exactly these fields, or null.
 */
export async function offerToSave(
  walk: Walk,
  fields: TravellerFields,
  known: string | null,
): Promise<string | null> {
  const { ask, context } = walk;
  const answer = await ask.choose({
    message: known === null ? 'Save this traveller, encrypted, for next time?' : `Save this for ${known}?`,
    lines: [
      { name: 'Save', value: true },
      { name: 'Not this time', value: false },
    ],
  });
  if (answer.kind === 'back' || !answer.value) return null;
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
  said(walk, 'Saved', name, `farelock travellers add ${quoted(name)}${known === null ? '' : ' --replace'}`);
  return name;
}

async function askName({ ask, context }: Walk): Promise<string | null> {
  const travellers = await (await context.session.store()).travellers();
  const answer = await ask.text({
    message: 'Save as (such as ana)',
    async check(text) {
      try {
        return (await travellers.find(travellerName(text)))
          ? 'There is already a traveller with that name.'
          : null;
      } catch (error) {
        if (isProblem(error, 'usage')) return error.fix;
        throw error;
      }
    },
  });
  return answer.kind === 'back' ? null : travellerName(answer.value);
}
