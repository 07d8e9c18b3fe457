import { problem } from '../../kernel/problems.ts';
import { bookingCommand, lockCommand, searchCommand } from '../guided/commands.ts';
import { hasRunOut } from '../guided/lock.ts';
import type { Trip, Walk } from '../guided/walk.ts';
import { knownOfBooking } from './booking.ts';
import { paymentsOf } from './command.ts';
import { bookingCutOffBy } from './cut-off.ts';
import { type Known, type Story, storyOf, told } from './story.ts';

const ANEW = 'farelock';

/** The end of a walk that was cut off: how far it has come, and how to go on. Other failures are given back as they are. */
export async function walkCutOff(walk: Walk, error: unknown): Promise<unknown> {
  const cutOff = bookingCutOffBy(error, walk.context.signal);
  // Not "at a question": all of a walk is questions.
  return cutOff ? told(problem(cutOff.code), storyOf(await knownOfWalk(walk)), error) : error;
}

async function knownOfWalk({ trip, context }: Walk): Promise<Known> {
  const { booking, intent } = trip;
  const known = { again: [ANEW], isGuided: true, ...(await paymentsOf(context.session)) } as const;
  if (booking?.isBooked) return { ...known, booking: { intent: booking.intent, stage: 'captured' } };
  if (booking) return { ...known, ...(await knownOfBooking(context, booking.intent, [ANEW])) };
  if (intent === null) return { ...known, found: goingOn(trip) };
  if (hasRunOut({ context }, intent)) return { ...known, booking: { intent, stage: 'unlocked' } };
  const again = [ANEW, bookingCommand(intent.intent_id, trip.party)];
  return { ...known, again, booking: { intent, stage: 'locked' } };
}

/** A number stands for an offer only once its list was shown: before that it would be one of an older search. */
function goingOn(trip: Trip): Pick<Story, 'fix' | 'next'> {
  if (trip.offerId !== null)
    return { fix: 'The fare can still be locked.', next: [lockCommand(trip.offerId)] };
  return trip.found
    ? {
        fix: 'The numbers above still work.',
        next: ['farelock intent create <number>', ANEW],
      }
    : { fix: 'The list was not shown yet: search again.', next: [searchCommand(trip), ANEW] };
}
