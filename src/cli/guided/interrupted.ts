import { isProblem, problem } from '../../kernel/problems.ts';
import { usdc } from '../view/intent.ts';
import { bookingCommand } from './commands.ts';
import type { Walk } from './walk.ts';

/**
 * What to end with when the walk was cut off (Ctrl-C, --timeout): a sentence on what has happened so far, and how to go
 * on. What already says so is given back as it is, and so is every other failure.
 */
export function whereItStopped({ trip }: Walk, error: unknown): unknown {
  if (!isProblem(error, 'interrupted', 'timed_out') || error.detail?.money !== undefined) return error;
  const { intent } = trip;
  const begun = error.code === 'interrupted' ? 'Interrupted' : 'That took too long';
  if (trip.booking) {
    const { intentId, isBooked } = trip.booking;
    return problem(error.code, {
      message: isBooked ? `${begun}. The flight is booked.` : `${begun} while it was being booked.`,
      fix: isBooked ? 'Its order costs a cent to show.' : 'Its status says where the money is.',
      next: [`farelock ${isBooked ? 'order' : 'status'} ${intentId}`],
      detail: { intent_id: intentId },
      cause: error,
    });
  }
  if (trip.paying !== null) {
    return problem(error.code, {
      message: `${begun} while ${trip.paying} was being paid; a payment may have been signed.`,
      fix: 'The list says so. The same question again sends it again; it never pays twice.',
      next: ['farelock payments list', 'farelock'],
      cause: error,
    });
  }
  if (intent) {
    return problem(error.code, {
      message: `${begun}. The fare is locked, and the ticket of ${usdc(intent.escrow.amount)} is not paid.`,
      fix: 'Go on with it before the lock runs out: farelock offers it again.',
      next: ['farelock', bookingCommand(intent.intent_id, trip.party)],
      detail: { intent_id: intent.intent_id },
      cause: error,
    });
  }
  const paid = trip.paid.map(({ what, amount }) => `${what} (${amount} USDC)`).join(' and ');
  return problem(error.code, {
    message:
      paid === '' ? `${begun}. Nothing was paid.` : `${begun}. Paid so far: ${paid}; nothing is locked.`,
    fix:
      paid === '' ? 'Begin again whenever you like.' : 'The numbers of the list still stand for its offers.',
    next: paid === '' ? ['farelock'] : ['farelock', `farelock intent create ${trip.position + 1}`],
    cause: error,
  });
}
