import { problem } from '../../../kernel/problems.ts';
import type { StepPrompts } from '../../../terminal/streams.ts';
import type { Terminal } from '../../../terminal/terminal.ts';
import { wrap } from '../../../terminal/text.ts';
import { chooseFare, chooseItinerary } from '../../guided/choice.ts';
import { searchStep } from '../../guided/find.ts';
import { lockStep } from '../../guided/lock.ts';
import { passengersStep } from '../../guided/party.ts';
import { resumeStep } from '../../guided/resume.ts';
import { reviewStep } from '../../guided/review.ts';
import { askAdults, askDepart, askFrom, askReturn, askTo } from '../../guided/route.ts';
import { follow, newTrip, openTranscript, type Walk } from '../../guided/walk.ts';
import { walkCutOff } from '../../interruption/walk.ts';
import type { Command } from '../../spec/command.ts';

/**
 * The journey of a traveller as a walk of questions: search, choice, fare, passengers, review, booking. Each step says
 * the command that would have done the same; no ticket is paid without the review.
 * @throws Problem `usage` where the options leave no room for questions, `input_required`, `interrupted` with where
 *   things stand
 */
export const guided: Command<object> = async (outer) => {
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
  const ask: StepPrompts = {
    ...steps,
    choose: (question) => steps.choose({ ...question, cleared: transcript.again }),
  };
  const walk: Walk = { context, ask, trip: newTrip(), transcript };
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
}
