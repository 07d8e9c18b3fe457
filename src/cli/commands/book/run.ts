import { notAgreed, type PaymentReceipt } from '../../../client/base/index.ts';
import type { FlightsClient } from '../../../client/index.ts';
import { isProblem, problem } from '../../../kernel/problems.ts';
import { farelock, type NextStep } from '../../../kernel/shell-word.ts';
import type { Intent, Passenger } from '../../../wire/flights/index.ts';
import { bookingCutOff, waitForChange } from '../../interruption/index.ts';
import {
  type BookingAgreed,
  confirmBooking,
  fareNoted,
  intentCommand,
  intentMeant,
  linkedOf,
  loadPaidPlan,
  NOT_FROM_HERE,
  reviewOf,
  settleBookingPayments,
  standingOf,
} from '../../paying/index.ts';
import { besides, fundingPayment, noteIntent, notesOf, signedBooking, withReference } from '../../session/index.ts';
import type { ExitCode } from '../../settings/index.ts';
import type { CommandContext, OptionsOf, Run } from '../../spec/index.ts';
import { readPassengers, rulesFor } from '../../travellers/index.ts';
import {
  bookingPhase,
  hasEnded,
  moneyStage,
  reviewLines,
  reviewText,
  statusView,
  USUAL_BOOKING_MS,
} from '../../view/flights/index.ts';
import { bookCommand, costLines, nextLines, withPayment } from '../../view/index.ts';
import type * as spec from './spec.ts';

type BookOptions = OptionsOf<typeof spec.book> & { readonly intentId: string };

/**
 * Pays the escrow, books, and waits for the end: exit 0 when booked, 8 when refunded. Run again, it never pays twice:
 * it waits for the booking under way, or sends the signed payment again.
 */
export const book: Run<typeof spec.book> = async (context, given) => {
  const { terminal, session, signal } = context;
  await session.work();
  const options = { ...given, intentId: await intentMeant(context, given.intentId, 'open') };
  const reader = await session.flights();
  const intent = await reader.intent(options.intentId, { signal });
  if (hasEnded(intent) || (await isUnderWay(context, intent))) {
    if (!hasEnded(intent)) terminal.note('This booking is already paid and in progress.');
    return guarded(context, options, intent, () => finish(context, options, reader, intent, null));
  }
  const standing = await standingOf(session, intent, options.refundWallet ?? null, true);
  if (standing.disagreements.length > 0) throw notAgreed(intent, standing.disagreements);
  if (!standing.isFromHere) terminal.note(`${NOT_FROM_HERE}.`);
  return guarded(context, options, intent, async () => {
    const passengers = await readPassengers(context, { ...options, intent }, await rulesFor(context, intent));
    if (context.globals.dryRun) return planBooking(context, options, intent, passengers);
    const agreed = await confirmBooking(context, intent, passengers);
    await checkUnchanged(context, reader, intent);
    return bookAgreed(context, options, intent, passengers, agreed);
  });
};

/** Runs work on a booking; if it is cut off, says where the money is. */
async function guarded<T>(
  context: CommandContext,
  options: BookOptions,
  intent: Intent,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw await bookingCutOff(context, intent, error, againOf(context, options));
  }
}

function againOf({ terminal }: CommandContext, options: BookOptions): NextStep {
  const { intentId, passengers, traveller, refundWallet } = options;
  const named = refundWallet === undefined ? [] : ['--refund-wallet', refundWallet];
  const names = (traveller ?? []).flatMap((name) => ['--traveller', name]);
  if (names.length > 0) return farelock`book ${intentId} ${names} ${named}`;
  if (passengers === undefined || passengers === '-') {
    return { argv: [...bookCommand(intentId, terminal.canAsk).argv, ...named] };
  }
  return farelock`book ${intentId} --passengers ${passengers} ${named}`;
}

/** True if the booking is paid, by the service's record or by an answer in our journal. */
async function isUnderWay({ session }: CommandContext, intent: Intent): Promise<boolean> {
  if (intent.booking_requested_at !== null) return true;
  const signed = await signedBooking(await session.store(), intent);
  return signed?.state === 'answered' && signed.resource === 'POST /air/book';
}

/**
 * Refuses a booking whose terms changed after a person saw and agreed to them.
 * @throws Problem `terms_not_agreed`
 */
export async function checkUnchanged({ signal }: CommandContext, flights: FlightsClient, seen: Intent): Promise<void> {
  const now = await flights.intent(seen.intent_id, { signal });
  const changed = [
    ...(now.refund_wallet === seen.refund_wallet ? [] : ['its refund wallet']),
    ...(now.offer_id === seen.offer_id ? [] : ['its offer']),
    ...(['address', 'vault_address', 'mint', 'amount', 'program_id', 'refund_after'] as const)
      .filter((name) => now.escrow[name] !== seen.escrow[name])
      .map((name) => `${name.replaceAll('_', ' ')} of its escrow`),
  ];
  if (changed.length > 0) {
    throw notAgreed(now, [`The service changed it after it was shown: ${changed.join(', ')}`]);
  }
}

/** Books once a person has agreed to pay, and waits for the end unless --no-wait is given. */
export async function bookAgreed(
  context: CommandContext,
  options: BookOptions,
  intent: Intent,
  passengers: readonly Passenger[],
  agreed: BookingAgreed,
): Promise<0 | 8> {
  const { session, signal } = context;
  return guarded(context, options, intent, async () => {
    await (await session.store()).rememberLead(intent.intent_id, passengers[0]?.family_name ?? '');
    const payer = await session.flights({ agreed });
    const payment = await payAndBook(context, options, payer, intent, passengers);
    // From here on, an interruption leaves the booking under way.
    const paid = await payer.intent(intent.intent_id, { signal });
    return finish(context, options, payer, paid, payment);
  });
}

async function payAndBook(
  context: CommandContext,
  options: BookOptions,
  flights: FlightsClient,
  intent: Intent,
  passengers: readonly Passenger[],
): Promise<PaymentReceipt | null> {
  const { terminal } = context;
  terminal.phase('Checking the escrow');
  try {
    const { payment } = await flights.book(intent, passengers, {
      refundWallet: options.refundWallet,
      // In our own process a payment takes a moment: it is finished rather than cut off half way.
      ...(!context.session.isEmbedded && { signal: context.signal }),
      onPhase: (phase) => {
        const said = { asking: 'Checking the offer', paying: 'Paying the escrow', waiting: 'Queueing the booking' };
        terminal.phase(said[phase]);
      },
    });
    if (payment) terminal.done(`Paid ${terminal.usdc(payment.amount)} into the escrow`);
    return payment;
  } catch (error) {
    // Another run was quicker, or the answer to an earlier one was lost: the booking is under way.
    if (isProblem(error, 'booking_already_requested')) return null;
    throw error;
  }
}

async function finish(
  context: CommandContext,
  options: BookOptions,
  flights: FlightsClient,
  start: Intent,
  payment: PaymentReceipt | null,
): Promise<0 | 8> {
  const { terminal, clock, session } = context;
  // Settles the payments first, because the wait below may throw.
  if (!payment) await settleBookingPayments(context, start);
  const ended = options.wait
    ? await untilEnded(context, flights, start, bookingPhase, clock.now() + USUAL_BOOKING_MS)
    : start;
  const intent = await withReference(context, flights, ended, true);
  const store = await session.store();
  if (hasEnded(intent)) {
    terminal.ended(intent.status === 'booked' ? 'The flight is booked.' : 'The money went back.');
  }
  await besides(context, noteIntent(store, intent));
  await besides(context, store.keepTyped(intent.intent_id, [], 0));
  const funding = payment ?? (await fundingPayment(store, intent));
  const linked = linkedOf(context);
  terminal.result(withPayment(intent, payment), statusView(context, funding, linked, await fareNoted(context, intent)));
  if (intent.status === 'refunded') {
    const { route, departure_date: day } = notesOf(await store.intent(intent.intent_id));
    const [from, to] = route?.split('-') ?? [];
    const search = from && to && day ? farelock`search ${from} ${to} --depart ${day}` : farelock`help search`;
    terminal.aside(['', 'The booking did not go through; the money was sent back.', ...nextLines(search)]);
    return 8;
  }
  const next =
    intent.status === 'booked'
      ? await intentCommand(context, 'order', intent)
      : await intentCommand(context, 'status', intent, ['--watch']);
  terminal.aside(['', ...costLines(payment, linked), ...nextLines(next)]);
  return 0;
}

/**
 * Waits until a paid booking has ended.
 * @throws Problem `booking_in_review`, `timed_out`
 */
export async function untilEnded(
  context: CommandContext,
  flights: FlightsClient,
  start: Intent,
  phase: typeof bookingPhase,
  giveUpAtMs = Number.POSITIVE_INFINITY,
): Promise<Intent> {
  const { terminal, clock } = context;
  let intent = start;
  while (!hasEnded(intent)) {
    const stage = moneyStage(intent, clock.now());
    if (stage === 'review') throw inReview(context, intent);
    terminal.phase(phase(intent, stage));
    intent = await waitForChange(context, flights, intent, stage, giveUpAtMs);
    if (!hasEnded(intent) && clock.now() >= giveUpAtMs) throw problem('timed_out');
  }
  return intent;
}

/** A person decides, and may take hours: the command does not wait for it. */
const inReview = ({ clock }: CommandContext, intent: Intent) =>
  problem('booking_in_review', {
    message: (usdc) => reviewText(intent, clock.now(), usdc),
    detail: {
      intent_id: intent.intent_id,
      operator_review_since: intent.operator_review_since,
      refund_after: intent.escrow.refund_after,
      money: 'booking',
    },
  });

async function planBooking(
  context: CommandContext,
  options: BookOptions,
  intent: Intent,
  passengers: readonly Passenger[],
): Promise<ExitCode> {
  const { planPaid } = await loadPaidPlan();
  const review = await reviewOf(context, intent, passengers);
  context.terminal.review(review.warnings);
  const call = (flights: FlightsClient) =>
    flights.book(intent, passengers, { signal: context.signal, refundWallet: options.refundWallet });
  return planPaid(context, call, {
    before: [`Check the escrow ${intent.escrow.address} on the cluster.`],
    after: ['Wait until it is booked or refunded.'],
    facts: {
      intent_id: intent.intent_id,
      amount: intent.escrow.amount,
      fare: review.fare,
      passengers: passengers.map(({ title, given_name, family_name, born_on }) => ({
        title,
        given_name,
        family_name,
        born_on,
      })),
      refund_wallet: intent.refund_wallet,
      expires_at: intent.expires_at,
    },
    review: (screen) => reviewLines({ ...review, warnings: [] }, context.clock.now(), screen),
  });
}
