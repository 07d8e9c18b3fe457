import { formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { type Problem, reworded } from '../../kernel/problems.ts';
import type { Screen } from '../../terminal/index.ts';
import type { Session } from '../session/index.ts';
import { problemLines } from '../view/index.ts';
import { type Failed, nextStepsOf } from './next-steps.ts';

const NOTHING = /nothing was charged/i;

/**
 * A problem that says "nothing was charged", for a command that has paid for something before it: nothing more was,
 * and what was paid is named.
 */
export async function asCharged(error: Problem, session: Pick<Session, 'paidHere'> | null): Promise<Problem> {
  if (!NOTHING.test(error.message) && !NOTHING.test(error.fix)) return error;
  const paid = ((await session?.paidHere.records()) ?? []).filter(({ state }) => state === 'answered');
  if (paid.length === 0) return error;
  const total = formatUsdc(paid.reduce((sum, { amount }) => sum + parseUsdc(amount), 0n));
  const said = (text: string) =>
    text.replace(NOTHING, (words) => `${words.charAt(0)}othing more was charged than the ${total} USDC before`);
  return reworded(error, { message: said(error.message), fix: said(error.fix) });
}

/**
 * A problem that does not end the command, such as one between two questions: the lines that the command would have
 * ended with, what was charged before and the next step included.
 */
export async function toldLines(error: Problem, failed: Failed): Promise<(screen: Screen) => string[]> {
  const told = await asCharged(error, failed.session);
  const next = await nextStepsOf(told, failed);
  return (screen) => problemLines(told, screen, next);
}
