import { isProblem, problem } from '../../kernel/problems.ts';
import { quoted } from '../../kernel/shell-word.ts';
import { bookingCommand, lockCommand, searchCommand } from '../guided/commands.ts';
import { hasRunOut } from '../guided/lock.ts';
import type { Trip, Walk } from '../guided/walk.ts';
import { usdc } from '../view/flights/intent.ts';
import { purposeOf } from './command.ts';

/**
 * What to end with when the walk was cut off (Ctrl-C, --timeout): a sentence on what has happened so far, and how to go
 * on. What already says so is given back as it is, and so is every other failure.
 */
export async function whereItStopped({ trip, context }: Walk, error: unknown): Promise<unknown> {
  if (!isProblem(error, 'interrupted', 'timed_out') || error.detail?.money !== undefined) return error;
  const { intent } = trip;
  const begun = error.code === 'interrupted' ? 'Interrupted' : 'That took too long';
  const open = (await context.session.paidHere.records()).find((one) => one.open);
  if (open) {
    return problem(error.code, {
      message: `${begun}. A payment of ${open.amount} USDC for ${purposeOf(open)} was signed and may have been taken.`,
      fix: 'See what it bought. The same answers soon send it again; it never pays twice.',
      next: [`farelock payments resume ${open.payment_id}`, 'farelock'],
      cause: error,
    });
  }
  if (trip.booking) {
    const { intentId, isBooked } = trip.booking;
    return problem(error.code, {
      message: isBooked ? `${begun}. The flight is booked.` : `${begun} while it was being booked.`,
      fix: isBooked ? 'Its order costs a cent to show.' : 'Its status says where the money is.',
      next: [`farelock ${isBooked ? 'order' : 'status'} ${quoted(intentId)}`],
      detail: { intent_id: intentId },
      cause: error,
    });
  }
  if (intent && hasRunOut({ context }, intent)) {
    return problem(error.code, {
      message: `${begun}. The lock has run out, and the ticket of ${usdc(intent.escrow.amount)} is not paid.`,
      fix: 'Search once more.',
      next: ['farelock'],
      detail: { intent_id: intent.intent_id },
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
  if (paid === '') {
    return problem(error.code, {
      message: `${begun}. Nothing was paid.`,
      fix: 'Begin again whenever you like.',
      next: ['farelock'],
      cause: error,
    });
  }
  return problem(error.code, {
    message: `${begun}. Paid so far: ${paid}; nothing is locked.`,
    ...goingOn(trip),
    cause: error,
  });
}

/** A number stands for an offer only once its list was shown: before that it would be one of an older search. */
function goingOn(trip: Trip): { fix: string; next: string[] } {
  if (trip.offerId !== null)
    return { fix: 'The fare can still be locked.', next: [lockCommand(trip.offerId)] };
  return trip.found
    ? {
        fix: 'The numbers of the list still stand for its offers.',
        next: ['farelock intent create <number>', 'farelock'],
      }
    : { fix: 'The list was not shown yet: search once more.', next: [searchCommand(trip), 'farelock'] };
}
