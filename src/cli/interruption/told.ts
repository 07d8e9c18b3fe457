import type { Problem } from '../../kernel/problems.ts';
import type { Screen } from '../../terminal/terminal.ts';
import { problemLines } from '../view/problem.ts';
import { asCharged } from './charged.ts';
import { type Failed, nextStepsOf } from './next-steps.ts';

/**
 * A problem that does not end the command, such as one between two questions: the lines that the command would have
 * ended with, what was charged before and the next step included.
 */
export async function toldLines(error: Problem, failed: Failed): Promise<(screen: Screen) => string[]> {
  const told = await asCharged(error, failed.session);
  const next = await nextStepsOf(told, failed);
  return (screen) => problemLines(told, screen, next);
}
