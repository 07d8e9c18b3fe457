import { type Attachment, loadNotifyMails, type MailFacts } from '../../notify/index.ts';
import type { Order } from '../../wire/flights/index.ts';
import {
  type BookingRow,
  type FlightsPorts,
  type IntentRow,
  lockedOffer,
  orderOf,
  referenceIn,
  type Tx,
} from '../base/index.ts';
import { openPassengers } from './identity.ts';

export type Written = (tx: Tx) => Promise<void>;

type Addressed = Pick<BookingRow, 'intent_id' | 'passengers_sealed'> | undefined;

export interface OrderChange {
  readonly change: Extract<MailFacts, { kind: 'journey_changed' }>['change'];
  readonly kept: Order;
  readonly next: Order;
}

/**
 * Mails to the lead passenger, worded outside any transaction and written with the change. A booking without passengers
 * gets none, and a failure to word a mail does not fail the booking. `occasion` tells mails of one kind apart.
 */
export function createMails(ports: Pick<FlightsPorts, 'store' | 'secrets' | 'clock' | 'log' | 'outbox'>) {
  async function about(booking: Addressed, facts: MailFacts, occasion?: string, attachments?: readonly Attachment[]) {
    const nothing: Written = async () => undefined;
    if (!booking || booking.passengers_sealed === '') return nothing;
    const reference =
      'bookingReference' in facts ? facts.bookingReference : await keptReference(booking.intent_id, facts);
    try {
      const [lead] = openPassengers(ports.secrets, booking);
      if (!lead) return nothing;
      const { mailText } = await loadNotifyMails();
      const { subject, text } = mailText(lead.given_name, booking.intent_id, facts, reference);
      return async (tx: Tx) => {
        await ports.outbox.enqueue(tx, {
          kind: 'email',
          dedupKey: `mail:${facts.kind}:${booking.intent_id}${occasion === undefined ? '' : `:${occasion}`}`,
          intentId: booking.intent_id,
          // The family name proves the right to a refund, so mails and their files leave it out.
          to: { name: lead.given_name, address: lead.email },
          subject,
          text,
          ...(attachments ? { attachments } : {}),
        });
      };
    } catch (error) {
      ports.log('error', 'mail_not_worded', {
        intent_id: booking.intent_id,
        kind: facts.kind,
        error_name: error instanceof Error ? error.name : 'unknown',
      });
      return nothing;
    }
  }

  /** The booking reference of an existing order, which only mails about refund requests need. */
  const keptReference = async (intentId: string, { kind }: MailFacts): Promise<string | null> =>
    kind.startsWith('refund_request') ? referenceIn((await orderOf(ports.store, intentId))?.document) : null;

  /** Returns no attachment if the airline's times make no sense: the mail matters more. */
  async function calendarOf(order: Order): Promise<Attachment[]> {
    const { journeyIcs } = await import('../../kernel/domain/ics.ts');
    try {
      const content = journeyIcs({
        reference: order.order_id,
        bookingReference: order.booking_reference,
        stampMs: ports.clock.now(),
        slices: order.slices,
        seats: order.seats,
      });
      return [{ filename: 'journey.ics', contentType: 'text/calendar; charset=utf-8; method=PUBLISH', content }];
    } catch (error) {
      ports.log('warn', 'calendar_not_written', {
        order_id: order.order_id,
        error_name: error instanceof Error ? error.name : 'unknown',
      });
      return [];
    }
  }

  return {
    about,

    bookingRequested: (booking: Addressed, intent: IntentRow): Promise<Written> =>
      about(booking, { kind: 'booking_requested', journey: journeyOf(lockedOffer(intent)) }),

    async changed(booking: Addressed, { change, kept, next }: OrderChange, occasion: string): Promise<Written> {
      const facts: MailFacts = {
        kind: 'journey_changed',
        change,
        before: journeyOf(kept),
        after: journeyOf(next),
        bookingReference: next.booking_reference,
        ticketNumbers: next.documents.map(({ number }) => number),
      };
      return about(booking, facts, occasion, change === 'cancelled' ? [] : await calendarOf(next));
    },

    /** Attaches the journey for the calendar, as the airline confirmed it rather than as it was offered. */
    async booked(booking: Addressed, intent: IntentRow, order: Order, captureTransaction: string | null) {
      const facts: MailFacts = {
        kind: 'booked',
        journey: { ...journeyOf(lockedOffer(intent)), slices: order.slices },
        orderId: order.order_id,
        bookingReference: order.booking_reference,
        ticketNumbers: order.documents.map(({ number }) => number),
        captureTransaction,
      };
      return about(booking, facts, undefined, await calendarOf(order));
    },
  };
}

export const journeyOf = (sold: Pick<Order, 'total_amount_decimal' | 'total_currency' | 'slices'>) => ({
  totalAmountDecimal: sold.total_amount_decimal,
  totalCurrency: sold.total_currency,
  slices: sold.slices,
});
