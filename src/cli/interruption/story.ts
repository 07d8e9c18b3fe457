import type { PaymentRecord } from '../../client/journal/index.ts';
import { type Problem, problem } from '../../kernel/problems.ts';
import { quoted } from '../../kernel/shell-word.ts';
import { utcTime } from '../../terminal/index.ts';
import type { Intent } from '../../wire/flights/index.ts';
import { usdc } from '../view/flights/index.ts';

/**
 * Money and records, as far as they are known when something is cut off (Ctrl-C, --timeout, a lost connection). The first
 * part with something in it is told, and no more than is known: a signed payment may have been taken.
 */
export interface Known {
  /** Commands that do the same again. */
  readonly again: readonly string[];
  /** The same again takes the same answers, not the same command; and what is paid buys a list, an offer, a lock. */
  readonly isGuided?: true;
  /** The command with the answers of a walk that has paid nothing yet. */
  readonly typed?: string | undefined;
  /** Payments that may have been taken, and whose answers are not known. */
  readonly signed: readonly PaymentRecord[];
  readonly booking?: { readonly intent: Intent; readonly stage: Stage };
  /** Payments that were answered. */
  readonly paid: readonly PaymentRecord[];
  /** How to go on with what was paid for, in a walk that has locked nothing yet. */
  readonly found?: Pick<Story, 'fix' | 'next'>;
  /** The state of the records; absent where only money counts. `look`: the command that shows whether it was changed. */
  readonly change?: { readonly said: string; readonly look: string | null };
}

/** `locked`, `unlocked`: not paid. `paused`: queued, and it goes on when a command runs. */
export type Stage = 'locked' | 'unlocked' | 'paid' | 'queued' | 'paused' | 'captured' | 'refunded';

export interface Story {
  readonly said: string;
  readonly fix: string;
  readonly next: readonly string[];
  /** Absent: nothing was paid into an escrow. */
  readonly money?: 'signed' | 'booking' | 'captured' | 'refunded';
  readonly intentId?: string | undefined;
}

/** The problem to end with: its code and first words are those of what cut it off. */
export const told = (cutOff: Problem, { said, money, intentId, ...how }: Story, cause: unknown): Problem =>
  problem(cutOff.code === 'timed_out' && money === 'booking' ? 'still_booking' : cutOff.code, {
    ...how,
    message: `${cutOff.message} ${said}`,
    detail: { ...cutOff.detail, ...(intentId && { intent_id: intentId }), money: money ?? 'unpaid' },
    cause,
  });

const SAME = 'Run the same command again';

/** Where the money and the records are, and how to go on. */
export function storyOf(known: Known): Story {
  const { signed, booking, paid } = known;
  if (booking) {
    const story = signed[0] ? signedStory(known, signed[0]) : bookingStory(known, booking);
    return { ...story, intentId: booking.intent.intent_id };
  }
  if (signed[0]) return signedStory(known, signed[0]);
  return paid.length > 0 ? paidStory(known) : changeStory(known);
}

function changeStory({ again, change, typed }: Known): Story {
  const said = change?.said ?? 'Nothing was paid.';
  if (typed !== undefined) return { said, fix: 'The first command has your answers.', next: [typed, ...again] };
  return change?.look
    ? { said, fix: 'Check before you run the same command again.', next: [change.look] }
    : { said, fix: `${SAME}.`, next: again };
}

function paidStory({ again, paid, found }: Known): Story {
  const said = `Paid so far: ${paid.map((one) => `${purposeOf(one)} (${one.amount} USDC)`).join(' and ')}`;
  if (found) return { ...found, said: `${said}; nothing is locked.` };
  return paid.some((one) => one.answer_kept)
    ? { said: `${said}; the answer is kept.`, fix: `${SAME}: it shows the answer, and pays nothing more.`, next: again }
    : { said: `${said}.`, fix: 'The list of payments has it.', next: ['farelock payments list'] };
}

function signedStory({ again, isGuided, signed }: Known, { open, payment_id, resource }: PaymentRecord): Story {
  const resume = `farelock payments resume ${payment_id}`;
  const sums = signed.map((one) => `${one.amount} USDC ${one.resource === BOOK ? 'into' : 'for'} ${purposeOf(one)}`);
  // What is found and looked up goes stale: a payment for it is taken up again for 10 minutes (client/flights.ts).
  const sends = /search|offer-details|orders/.test(resource)
    ? ' within 10 minutes: it sends that payment rather than a second one.'
    : ': it sends that payment, never a second one.';
  return {
    money: 'signed',
    said: `A payment of ${sums.join(' and ')} was signed and may have been taken.`,
    fix: `${isGuided ? 'Give the same answers again' : SAME}${open ? sends : ': it resumes and never pays twice.'}`,
    next: [...again.filter((command) => !command.startsWith(resume)), ...(open ? [resume] : [])],
  };
}

function bookingStory({ again, isGuided }: Known, { intent, stage }: NonNullable<Known['booking']>): Story {
  const id = quoted(intent.intent_id);
  const amount = usdc(intent.escrow.amount);
  const ticket = `and the ticket of ${amount} is not paid.`;
  switch (stage) {
    case 'locked':
      return isGuided
        ? {
            said: `The fare is locked, ${ticket}`,
            fix: 'Continue before the lock expires: farelock offers it again.',
            next: again,
          }
        : {
            said: `Nothing was paid; the fare stays locked until ${utcTime(intent.expires_at)}.`,
            fix: `${SAME}.`,
            next: again,
          };
    case 'unlocked':
      return isGuided
        ? { said: `The lock has expired, ${ticket}`, fix: 'Search again.', next: again }
        : { said: 'Nothing was paid.', fix: `${SAME}.`, next: again };
    case 'captured':
      return {
        money: 'captured',
        said: `The flight is booked. The ${amount} of the escrow are captured.`,
        fix: 'The airline order has the details.',
        next: [`farelock order ${id}`],
      };
    case 'refunded':
      return {
        money: 'refunded',
        said: `${amount} went back to the refund wallet.`,
        fix: 'Look for another fare, or see where the money went.',
        next: [`farelock status ${id}`],
      };
    default:
      return {
        money: 'booking',
        said: `${amount} ${UNDER_WAY[stage]}.`,
        fix: 'Follow it, or run the same command again: it resumes and never pays twice.',
        next: [`farelock status ${id} --watch`],
      };
  }
}

const UNDER_WAY = {
  paid: 'were paid into the escrow',
  queued: 'are in the escrow; the booking continues',
  paused: 'are in the escrow; the booking continues when a command runs',
};

const BOOK = 'POST /air/book';

const PURPOSES: readonly (readonly [resource: string, purpose: string])[] = [
  ['POST /air/search', 'the search'],
  ['POST /air/offer-details', 'the offer'],
  ['POST /air/intents', 'the lock'],
  [BOOK, 'the escrow'],
  ['POST /air/refund-requests', 'the refund request'],
  ['GET /air/orders/', 'the order'],
];

const purposeOf = ({ resource }: PaymentRecord): string =>
  PURPOSES.find(([start]) => resource.startsWith(start))?.[1] ?? resource;
