import { isProblem, type Problem, type ProblemCode, problem } from '../../kernel/problems.ts';

/** The part of an interruption that every command loads; `story.ts` loads only after one. */

/** Problems of a call that was interrupted while it waited. */
const ENDS_OF_CALLS: readonly ProblemCode[] = ['interrupted', 'timed_out', 'network_unreachable', 'unexpected_answer'];

/** True for a problem that already says where the money is. */
const saysMoney = (error: unknown): boolean => isProblem(error) && error.detail?.money !== undefined;

/**
 * The interruption (Ctrl-C, --timeout) behind an error that does not say where the money is; null for other errors.
 * @param others more problems that an interruption may cause
 */
export function cutOffBy(error: unknown, signal: AbortSignal, others: readonly ProblemCode[] = []): Problem | null {
  if (saysMoney(error)) return null;
  const isEndOfCall = !isProblem(error) || isProblem(error, ...ENDS_OF_CALLS, ...others);
  if (isEndOfCall && signal.aborted && isProblem(signal.reason)) return signal.reason;
  // Ctrl-C at a question sends no signal.
  return isProblem(error, 'interrupted') ? error : null;
}

/** The interruption behind an error of a booking; a call that timed out counts too. */
export const bookingCutOffBy = (error: unknown, signal: AbortSignal): Problem | null =>
  cutOffBy(error, signal, ['payment_pending']) ??
  (isProblem(error, 'timed_out') && !saysMoney(error) ? problem('timed_out', { cause: error }) : null);
