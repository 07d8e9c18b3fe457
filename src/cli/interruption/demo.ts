import { quoted } from '../../kernel/shell-word.ts';
import type { Intent } from '../../wire/flights/index.ts';
import type { CommandContext } from '../spec/index.ts';
import { knownOfBooking } from './booking.ts';
import { paymentsOf } from './command.ts';
import { bookingCutOffBy } from './cut-off.ts';
import { storyOf, told } from './story.ts';

/**
 * The end of a demo that was cut off: where its play money is, and the commands that look at it. `home` is the folder
 * that was made for it; null where the person has named one.
 */
export async function demoCutOff(
  context: CommandContext,
  intent: Intent | null,
  error: unknown,
  home: string | null,
): Promise<unknown> {
  const cutOff = bookingCutOffBy(error, context.signal);
  if (cutOff === null) return error;
  const known = intent
    ? await knownOfBooking(context, intent, [])
    : { again: [], ...(await paymentsOf(context.session)) };
  const { next, ...story } = storyOf(known);
  const inPlayMoney = {
    ...story,
    said: `${story.said} All of it is play money.`,
    fix: next.length > 0 ? 'Look at it, or start over.' : 'Start over whenever you like.',
    next: [...next.map((one) => (home === null ? one : `FARELOCK_HOME=${quoted(home)} ${one}`)), 'farelock demo'],
  };
  return told(cutOff, inPlayMoney, error);
}
