import { problem } from '../../../kernel/problems.ts';
import type { NextStep } from '../../../kernel/shell-word.ts';
import { type StepPrompts, type Terminal, wrap } from '../../../terminal/index.ts';
import {
  bookingCutOffBy,
  type Known,
  knownOfBooking,
  paymentsOf,
  type Story,
  storyOf,
  told,
} from '../../interruption/index.ts';
import { shortOf } from '../../session/index.ts';
import type { Run } from '../../spec/index.ts';
import { lockCommand } from '../../view/index.ts';
import { chooseFare, chooseItinerary, listLeft, searchStep } from './choice.ts';
import { passengersStep } from './party.ts';
import { hasRunOut, lockStep, resumeStep, reviewStep } from './review.ts';
import { askAdults, askDepart, askFrom, askReturn, askTo } from './route.ts';
import type * as spec from './spec.ts';
import { bookingCommandNow, follow, openTranscript, searchCommand, Trip, type Walk } from './walk.ts';

/**
 * Leads a traveller through questions: search, choice, fare, passengers, review, booking. Each step shows the command
 * that does the same. No ticket is paid without the review.
 * @throws Problem `usage` for options that forbid questions, `input_required`, `interrupted` with the state of the walk
 */
export const guided: Run<typeof spec.guided> = async (outer) => {
  const { globals } = outer;
  const transcript = openTranscript(outer.terminal, outer.streams.stderr);
  const { terminal } = transcript;
  const context = { ...outer, terminal };
  const { json, quiet } = terminal.settings;
  if (json || quiet || globals.yes || globals.dryRun) {
    throw problem('usage', {
      message: 'Guided mode is for a person at a terminal: it takes no --json, --quiet, --yes or --dry-run.',
      fix: 'Use the commands that it shows you instead.',
    });
  }
  const steps = await terminal.ask('a command').steps();
  const ask: StepPrompts = { ...steps, choose: (question) => steps.choose({ ...question, cleared: transcript.again }) };
  const walk: Walk = { context, ask, trip: new Trip(), transcript };
  greet(terminal);
  try {
    return await follow(
      walk,
      {
        resume: resumeStep,
        from: askFrom,
        to: askTo,
        depart: askDepart,
        return: askReturn,
        adults: askAdults,
        search: searchStep,
        itinerary: chooseItinerary,
        fare: chooseFare,
        lock: lockStep,
        passengers: passengersStep,
        review: reviewStep,
      },
      'resume',
    );
  } catch (error) {
    throw await walkCutOff(walk, error);
  }
};

function greet(terminal: Terminal): void {
  const { paint, width } = terminal.asideScreen;
  const [first = '', ...more] = wrap(
    'Esc goes back, Ctrl-C quits. All commands: farelock --help',
    width - 'farelock  '.length,
  );
  terminal.note(`${paint.bold('farelock')}  ${paint.dim(first)}`);
  for (const line of more) terminal.note(paint.dim(`          ${line}`));
  const promise = `The price that you see is the price that you lock. Until the ticket is there, your money is in an escrow: after its deadline you can take it back yourself. Refunds are USDC, not credits. A search costs ${paint.usdc('0.10')}.`;
  for (const line of wrap(promise, width)) terminal.note(line);
}

const ANEW: NextStep = { argv: [] };

/** Says how far an interrupted walk has come, and how to continue. Returns other failures unchanged. */
async function walkCutOff(walk: Walk, error: unknown): Promise<unknown> {
  const cutOff = bookingCutOffBy(error, walk.context.signal);
  if (!cutOff) return error;
  // The question has cleared its list from the screen; the next command needs the numbers.
  if (isListShown(walk.trip)) for (const line of listLeft(walk).lines) walk.context.terminal.note(line);
  // A new problem, so that it does not say "at a question": a walk is all questions.
  return told(problem(cutOff.code), storyOf(await knownOfWalk(walk)), error);
}

async function knownOfWalk(walk: Walk): Promise<Known> {
  const { trip, context } = walk;
  const { booking, intent } = trip;
  const known = { again: [ANEW], isGuided: true, ...(await paymentsOf(context.session)) } as const;
  if (booking?.isBooked) return { ...known, booking: { intent: booking.intent, stage: 'captured' } };
  if (booking) return { ...known, ...(await knownOfBooking(context, booking.intent, [ANEW])) };
  if (intent === null) {
    const hasSearch = trip.from && trip.to && trip.depart !== null;
    return { ...known, typed: hasSearch ? searchCommand(trip) : undefined, found: goingOn(walk) };
  }
  if (hasRunOut({ context }, intent)) return { ...known, booking: { intent, stage: 'unlocked' } };
  const again = [ANEW, bookingCommandNow(intent.intent_id, trip.party)];
  return { ...known, again, booking: { intent, stage: 'locked' } };
}

const isListShown = ({ found, offerId, intent, booking }: Trip): boolean =>
  found !== null && found.list.offers.length > 0 && offerId === null && intent === null && !booking;

/** Row numbers belong to the last list shown: before this list is shown, they belong to an older search. */
function goingOn(walk: Walk): Pick<Story, 'fix' | 'next'> {
  const { trip, context } = walk;
  if (trip.offerId !== null)
    return { fix: 'The fare can still be locked.', next: [lockCommand(shortOf(context, trip.offerId))] };
  if (!trip.found) return { fix: 'The list was not shown yet: search again.', next: [searchCommand(trip), ANEW] };
  const next = isListShown(trip) ? listLeft(walk).next : null;
  return { fix: 'The numbers above still work.', next: [...(next === null ? [] : [next]), ANEW] };
}
