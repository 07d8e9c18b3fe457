import { isProblem, type Problem, type ProblemCode, problem } from '../../kernel/problems.ts';

/** How a call ends that is interrupted while it waits. */
const ENDS_OF_CALLS: readonly ProblemCode[] = ['interrupted', 'timed_out', 'network_unreachable', 'unexpected_answer'];

/** True for a problem that says already where the money is. */
const saysMoney = (error: unknown): boolean => isProblem(error) && error.detail?.money !== undefined;

/**
 * The interruption (Ctrl-C, --timeout) that something ended with, where it has not yet said itself how things stand;
 * null for every other end. `others`: what else an interruption may have ended it with.
 */
export function cutOffBy(error: unknown, signal: AbortSignal, others: readonly ProblemCode[] = []): Problem | null {
  if (saysMoney(error)) return null;
  const isEndOfCall = !isProblem(error) || isProblem(error, ...ENDS_OF_CALLS, ...others);
  if (isEndOfCall && signal.aborted && isProblem(signal.reason)) return signal.reason;
  // Ctrl-C at a question is no signal.
  return isProblem(error, 'interrupted') ? error : null;
}

/** The same of a booking, which a call that took too long by itself cuts off too. */
export const bookingCutOffBy = (error: unknown, signal: AbortSignal): Problem | null =>
  cutOffBy(error, signal, ['payment_pending']) ??
  (isProblem(error, 'timed_out') && !saysMoney(error) ? problem('timed_out', { cause: error }) : null);
