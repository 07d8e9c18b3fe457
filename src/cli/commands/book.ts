import type { FlightsClient, PaymentReceipt } from '../../client/types.ts';
import type { Intent, Passenger } from '../../flights/wire.ts';
import { instant } from '../../kernel/clock.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import { confirmBooking } from '../confirm.ts';
import type { Command, CommandContext, ExitCode } from '../context.ts';
import { linkedOf } from '../explorer.ts';
import { inReview, whereMoneyIs } from '../interruption.ts';
import { readPassengers } from '../passengers.ts';
import { fundingPayment, noteIntent, notesOf } from '../remembered.ts';
import { settleBookingPayments } from '../settled-payments.ts';
import type { BookingAgreed } from '../spending.ts';
import { bookCommand, costLines, nextLines, quoted, withPayment } from '../view/payment.ts';
import { hasEnded, moneyStage, statusLines, USUAL_BOOKING_MS } from '../view/status.ts';
import { waitForChange } from '../waiting.ts';

export interface BookOptions {
  readonly intentId: string;
  readonly passengers?: string;
  /** Names of saved travellers. */
  readonly traveller?: readonly string[];
  /** false under --no-wait. */
  readonly wait: boolean;
}

/**
 * Pays the escrow, books, and waits for the end: booked is exit 0, refunded is 8. What was done by an earlier run
 * of the same command is never done twice: a booking under way is only waited for, a signed payment is sent again.
 */
export const book: Command<BookOptions> = async (context, options) => {
  const { terminal, session, signal } = context;
  await session.work();
  const reader = await session.flights();
  const intent = await reader.intent(options.intentId, { signal });
  if (hasEnded(intent) || intent.booking_requested_at !== null) {
    if (!hasEnded(intent)) terminal.note('This booking is already paid and under way.');
    return finish(context, options, reader, intent, null);
  }
  try {
    const passengers = await readPassengers(context, options, {
      count: intent.passenger_count,
      departureDate: notesOf(await (await session.store()).intent(intent.intent_id)).departure_date ?? null,
      documentsRequired: intent.offer_id.startsWith('lowcost:'),
      today: instant(context.clock.now()).slice(0, 10),
    });
    if (context.globals.dryRun) return await planBooking(context, intent, passengers);
    const booking = await confirmBooking(context, intent, passengers);
    return await bookAgreed(context, options, intent, passengers, booking);
  } catch (error) {
    throw await whereMoneyIs(context, intent, error, againOf(context, options));
  }
};

/** The same booking once more, with what it was given. */
function againOf({ terminal }: CommandContext, { intentId, passengers, traveller }: BookOptions): string {
  const names = (traveller ?? []).map((name) => ` --traveller ${quoted(name)}`).join('');
  if (names !== '') return `farelock book ${intentId}${names}`;
  if (passengers === undefined || passengers === '-') return bookCommand(intentId, terminal.canAsk);
  return `farelock book ${intentId} --passengers ${quoted(passengers)}`;
}

/** Books what a person has agreed to pay, and waits for the end unless that is not wanted. */
export async function bookAgreed(
  context: CommandContext,
  options: BookOptions,
  intent: Intent,
  passengers: readonly Passenger[],
  booking: BookingAgreed,
): Promise<0 | 8> {
  const { session } = context;
  await (await session.store()).rememberLead(intent.intent_id, passengers[0]?.family_name ?? '');
  const payer = await session.flights({ booking });
  const payment = await payAndBook(context, options, payer, intent, passengers);
  return finish(context, options, payer, await afterPayment(context, options, payer, intent), payment);
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
      // In our own process a payment takes a moment: it is finished rather than cut off half way.
      ...(!context.session.isEmbedded && { signal: context.signal }),
      onPhase: (phase) => {
        terminal.phase(
          { asking: 'Checking the offer', paying: 'Paying the escrow', waiting: 'Queueing the booking' }[
            phase
          ],
        );
      },
    });
    if (payment) terminal.done(`Paid ${payment.amount} USDC into the escrow`);
    return payment;
  } catch (error) {
    // Another run of this command was quicker, or its answer was lost: the booking is under way.
    if (isProblem(error, 'booking_already_requested')) return null;
    throw await whereMoneyIs(context, intent, error, againOf(context, options));
  }
}

/** Reads the intent after the payment: from here on, an interruption leaves the booking under way. */
async function afterPayment(
  context: CommandContext,
  options: BookOptions,
  flights: FlightsClient,
  intent: Intent,
): Promise<Intent> {
  try {
    return await flights.intent(intent.intent_id, { signal: context.signal });
  } catch (error) {
    throw await whereMoneyIs(context, intent, error, againOf(context, options));
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
  let intent = start;
  const giveUpAtMs = clock.now() + USUAL_BOOKING_MS;
  while (options.wait && !hasEnded(intent)) {
    const stage = moneyStage(intent, clock.now());
    if (stage === 'review') throw inReview(context, intent);
    terminal.phase(
      { capturing: 'Ticketed, capturing the escrow', refunding: 'Refunding' }[stage as string] ?? 'Ticketing',
    );
    try {
      intent = await waitForChange(context, flights, intent, stage, giveUpAtMs);
    } catch (error) {
      throw await whereMoneyIs(context, intent, error, againOf(context, options));
    }
    if (!hasEnded(intent) && clock.now() >= giveUpAtMs) {
      throw await whereMoneyIs(context, intent, problem('timed_out'), againOf(context, options));
    }
  }
  await noteIntent(await session.store(), intent);
  if (!payment) await settleBookingPayments(context, intent);
  const funding = payment ?? (await fundingPayment(await session.store(), intent));
  const linked = linkedOf(context);
  terminal.result(withPayment(intent, payment), {
    lines: (shown, screen) =>
      statusLines(shown, clock.now(), funding?.transaction ?? null, screen, (text, transaction) =>
        linked(text, transaction, funding?.network ?? ''),
      ),
  });
  if (intent.status === 'refunded') {
    terminal.aside([
      '',
      'The booking did not happen; the money went back.',
      ...nextLines('farelock search …'),
    ]);
    return 8;
  }
  const next =
    intent.status === 'booked'
      ? `farelock order ${intent.intent_id}`
      : `farelock status ${intent.intent_id} --watch`;
  terminal.aside(['', ...costLines(payment, linkedOf(context)), ...nextLines(next)]);
  return 0;
}

async function planBooking(
  context: CommandContext,
  intent: Intent,
  passengers: readonly Passenger[],
): Promise<ExitCode> {
  const { planPaid } = await import('../paid-plan.ts');
  return planPaid(context, (flights) => flights.book(intent, passengers, { signal: context.signal }), {
    before: [`Check the escrow ${intent.escrow.address} on the cluster.`],
    after: ['Wait until it is booked or refunded.'],
    facts: { intent_id: intent.intent_id, amount: intent.escrow.amount },
  });
}
