import { problem } from '../../kernel/problems.ts';
import { listLeft } from '../guided/choice.ts';
import { bookingCommandNow, lockCommand, searchCommand } from '../guided/commands.ts';
import { hasRunOut } from '../guided/lock.ts';
import type { Trip, Walk } from '../guided/walk.ts';
import { shortOf } from '../session/recent.ts';
import { knownOfBooking } from './booking.ts';
import { paymentsOf } from './command.ts';
import { bookingCutOffBy } from './cut-off.ts';
import { type Known, type Story, storyOf, told } from './story.ts';

const ANEW = 'farelock';

/** The end of a walk that was cut off: how far it has come, and how to go on. Other failures are given back as they are. */
export async function walkCutOff(walk: Walk, error: unknown): Promise<unknown> {
  const cutOff = bookingCutOffBy(error, walk.context.signal);
  // Not "at a question": all of a walk is questions.
  if (!cutOff) return error;
  // The question took its list from the screen, and its numbers are what goes on.
  if (isListShown(walk.trip)) for (const line of listLeft(walk).lines) walk.context.terminal.note(line);
  return told(problem(cutOff.code), storyOf(await knownOfWalk(walk)), error);
}

async function knownOfWalk(walk: Walk): Promise<Known> {
  const { trip, context } = walk;
  const { booking, intent } = trip;
  const known = { again: [ANEW], isGuided: true, ...(await paymentsOf(context.session)) } as const;
  if (booking?.isBooked) return { ...known, booking: { intent: booking.intent, stage: 'captured' } };
  if (booking) return { ...known, ...(await knownOfBooking(context, booking.intent, [ANEW])) };
  if (intent === null) return { ...known, typed: typedSearch(trip), found: goingOn(walk) };
  if (hasRunOut({ context }, intent)) return { ...known, booking: { intent, stage: 'unlocked' } };
  const again = [ANEW, bookingCommandNow(intent.intent_id, trip.party)];
  return { ...known, again, booking: { intent, stage: 'locked' } };
}

const isListShown = ({ found, offerId, intent, booking }: Trip): boolean =>
  found !== null && found.list.offers.length > 0 && offerId === null && intent === null && !booking;

/** The search that the answers make, once there are enough of them. */
const typedSearch = (trip: Trip): string | undefined =>
  trip.from && trip.to && trip.depart !== null ? searchCommand(trip) : undefined;

/** A number stands for an offer only once its list was shown: before that it would be one of an older search. */
function goingOn(walk: Walk): Pick<Story, 'fix' | 'next'> {
  const { trip, context } = walk;
  if (trip.offerId !== null)
    return { fix: 'The fare can still be locked.', next: [lockCommand(shortOf(context, trip.offerId))] };
  if (!trip.found)
    return { fix: 'The list was not shown yet: search again.', next: [searchCommand(trip), ANEW] };
  const next = isListShown(trip) ? listLeft(walk).next : null;
  return {
    fix: 'The numbers above still work.',
    next: [...(next === null ? [] : [next]), ANEW],
  };
}
