import { type Agreed, isOverLimit, mayBePaid, refusal } from '../../client/base/index.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import { wrap } from '../../terminal/index.ts';
import type { Intent, Passenger } from '../../wire/flights/index.ts';
import { notesOf, spenderOf } from '../session/index.ts';
import type { CommandContext } from '../spec/index.ts';
import { passportWarnings } from '../travellers/index.ts';
import { isRefundedElsewhere, type Review, reviewLines } from '../view/flights/index.ts';
import { agreementOf } from './agreement.ts';

/** A booking that a person has agreed to pay. */
export type BookingAgreed = Extract<Agreed, { kind: 'booking' }>;

/**
 * Decides how a person may agree to a booking.
 * @throws Problem `payment_above_cap`, `input_required`
 */
export async function agreementTo(context: CommandContext, intent: Intent) {
  const { terminal, session } = context;
  const { network } = await session.cluster();
  const spending = { kind: 'booking', amount: BigInt(intent.escrow.amount), network } as const;
  const spender = spenderOf(context, session.profile);
  const verdict = mayBePaid(spending, spender);
  if (verdict.act === 'refuse') {
    // Throws `input_required`, which names the option.
    if (verdict.why === 'nobody') terminal.ask('--yes');
    throw refusal(spending, spender, verdict.why);
  }
  const isOver = isOverLimit(spending.amount, spender);
  return {
    /** Atomic USDC. */
    amount: spending.amount,
    /** True if `--yes` has agreed already. */
    isAgreed: verdict.act === 'pay',
    mustType: verdict.act === 'ask' && verdict.mustType,
    overLimit: isOver ? `Your limit for a booking is ${terminal.usdc(spender.limits.booking ?? 0n)}.` : null,
  };
}

/**
 * Shows the review before a booking is paid, and asks. On mainnet and above the person's own limit, the amount has to
 * be typed.
 * @throws Problem `payment_declined`, `payment_above_cap`, `input_required`
 */
export async function confirmBooking(
  context: CommandContext,
  intent: Intent,
  passengers: readonly Passenger[],
): Promise<BookingAgreed> {
  const { terminal, clock } = context;
  const { amount, isAgreed, mustType, overLimit } = await agreementTo(context, intent);
  const agreed = { kind: 'booking', amount, isTyped: mustType } as const;
  const review = await reviewOf(context, intent, passengers);
  if (isAgreed) {
    terminal.review(review.warnings.flatMap((line) => wrap(line, terminal.asideScreen.width)));
    return agreed;
  }
  const prompts = terminal.ask('--yes');
  terminal.review(reviewLines(review, clock.now(), terminal.asideScreen));
  if (overLimit !== null) terminal.review([overLimit]);
  if (mustType) await prompts.text(...typedAmount(amount));
  else if (!(await prompts.confirm(`Pay ${terminal.usdc(amount)} and book?`, !isRefundedElsewhere(review)))) {
    throw problem('payment_declined');
  }
  return agreed;
}

/** Builds the review for a person to agree to, as far as this home knows the booking. */
export async function reviewOf(
  { session, globals }: CommandContext,
  intent: Intent,
  passengers: readonly Passenger[],
): Promise<Review> {
  const notes = notesOf(await (await session.store()).intent(intent.intent_id));
  const { wallet } = await agreementOf(session, intent.intent_id, null, globals.dryRun !== true);
  const warnings = passportWarnings(passengers, notes);
  return { intent, passengers, fare: notes.fare ?? null, wallet, warnings };
}

/** The question that asks a person to type the amount, and the check of the answer. */
export function typedAmount(amount: bigint): [message: string, check: (typed: string) => Promise<string | null>] {
  const said = formatUsdc(amount);
  return [`Type ${said} to pay it`, async (typed) => (typed === said ? null : `It is ${said}; Ctrl-C pays nothing.`)];
}
