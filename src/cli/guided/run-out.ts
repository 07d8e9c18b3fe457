import { isProblem, type Problem } from '../../kernel/problems.ts';
import type { Intent } from '../../wire/flights/index.ts';
import type { ExitCode } from '../spec/globals.ts';
import { lockCommand } from './commands.ts';
import { isTurnedDown, sayProblem } from './find.ts';
import { lock, sameLock } from './lock.ts';
import { type StepName, said, type Walk } from './walk.ts';

/** Refusals of a booking before anything is paid for it: the fare is not there any more as it was locked. */
export const isFareGone = (error: unknown): error is Problem =>
  isProblem(
    error,
    'intent_expired',
    'offer_expired',
    'offer_repriced',
    'offer_unavailable',
    'fare_menu_expired',
  );

/**
 * Goes on after a lock that has run out, or a fare that has changed since it was locked: the same fare once more, or
 * another search. Who flies is not asked again.
 */
export async function goOnWithoutLock(
  walk: Walk,
  intent: Intent,
  /** True when the fare itself may still be had. */
  mayLock: boolean,
): Promise<StepName | ExitCode> {
  const { trip, context } = walk;
  const answer = await walk.ask.choose<'lock' | 'search' | 'leave'>({
    message: 'The ticket is not paid. What would you like to do?',
    lines: [
      ...(mayLock ? [{ name: 'Lock the same fare again, for 0.10 USDC', value: 'lock' as const }] : []),
      { name: 'Search again, with the same passengers', value: 'search' },
      { name: 'Quit', value: 'leave' },
    ],
  });
  if (answer.kind === 'back') return goOnWithoutLock(walk, intent, mayLock);
  if (answer.value === 'leave') {
    context.terminal.note('Nothing was paid for the ticket. To start again, run farelock.');
    return 0;
  }
  if (answer.value === 'lock') {
    try {
      trip.intent = await lock(walk, intent.offer_id);
      said(walk, 'Locked', 'again', lockCommand(intent.offer_id));
      return 'review';
    } catch (error) {
      if (!isTurnedDown(error)) throw error;
      await sayProblem(walk, error, sameLock(intent.offer_id));
      return goOnWithoutLock(walk, intent, false);
    }
  }
  Object.assign(trip, { intent: null, isPartyKept: true });
  // Of a fare that an earlier run has locked, only what was locked is known.
  return trip.from && trip.to && trip.depart ? 'search' : 'from';
}
