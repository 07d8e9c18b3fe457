import type { Selectable } from 'kysely';
import { type Attachment, type JourneyFacts, loadNotifyMails, type MailFacts } from '../../notify/index.ts';
import type { Order } from '../../wire/flights/index.ts';
import { type BookingTable, type FlightsPorts, type IntentRow, lockedOffer, type Tx } from '../base/index.ts';
import { openPassengers } from './sealed-passengers.ts';

/** Writes what was prepared, in the transaction of the change that it reports. */
export type Written = (tx: Tx) => Promise<void>;

type Addressed = Pick<Selectable<BookingTable>, 'intent_id' | 'passengers_sealed'>;

/**
 * Mails to the lead passenger. The words are made first, outside any transaction; what comes back is written with the
 * change. Whose passengers are purged, or never were, gets none; a mail that can't be worded fails no booking.
 *
 *     const tell = await mails.about(booking, { kind: 'refund_request_rejected', reason }, request_id);
 *     await store.transaction().execute(async (tx) => { …; await tell(tx); });
 *
 * `occasion` tells apart mails of one kind about the same intent; without it there is one of each kind.
 */
export function createMails(ports: Pick<FlightsPorts, 'store' | 'secrets' | 'clock' | 'log' | 'outbox'>) {
  async function about(
    booking: Addressed,
    facts: MailFacts,
    occasion?: string,
    attachments?: readonly Attachment[],
  ): Promise<Written> {
    const nothing: Written = async () => undefined;
    if (booking.passengers_sealed === '') return nothing;
    try {
      const [lead] = openPassengers(ports.secrets, booking);
      if (!lead) return nothing;
      const { mailText } = await loadNotifyMails();
      const { subject, text } = mailText(lead.given_name, booking.intent_id, facts);
      return async (tx) => {
        await ports.outbox.enqueue(tx, {
          kind: 'email',
          dedupKey: `mail:${facts.kind}:${booking.intent_id}${occasion === undefined ? '' : `:${occasion}`}`,
          intentId: booking.intent_id,
          // The family name proves who may ask for a refund: it does not travel in mails, nor lie in mail files.
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

  /** null when the airline's times make no sense: the mail is worth more than its attachment. */
  async function calendarOf(order: Order): Promise<Attachment | null> {
    const { journeyIcs } = await import('../../kernel/domain/ics.ts');
    try {
      const content = journeyIcs({
        reference: order.order_id,
        bookingReference: order.booking_reference,
        stampMs: ports.clock.now(),
        slices: order.slices,
      });
      return { filename: 'journey.ics', contentType: 'text/calendar; charset=utf-8; method=PUBLISH', content };
    } catch (error) {
      ports.log('warn', 'calendar_not_written', {
        order_id: order.order_id,
        error_name: error instanceof Error ? error.name : 'unknown',
      });
      return null;
    }
  }

  return {
    about,

    bookingRequested: (booking: Addressed, intent: IntentRow): Promise<Written> =>
      about(booking, { kind: 'booking_requested', journey: journeyOf(intent) }),

    /** The airline changed what it had sold; once for each occasion. */
    async changed(booking: Addressed, changed: ChangedOrder, occasion: string): Promise<Written> {
      const calendar = changed.change === 'cancelled' ? null : await calendarOf(changed.next);
      return about(booking, changeFacts(changed), occasion, calendar ? [calendar] : []);
    },

    /** With the journey for the calendar: as the airline confirmed it, rather than as it was offered. */
    async booked(
      booking: Addressed,
      intent: IntentRow,
      order: Order,
      captureTransaction: string | null,
    ): Promise<Written> {
      const facts: MailFacts = {
        kind: 'booked',
        journey: { ...journeyOf(intent), slices: order.slices },
        orderId: order.order_id,
        bookingReference: order.booking_reference,
        ticketNumbers: order.documents.map(({ number }) => number),
        captureTransaction,
      };
      const calendar = await calendarOf(order);
      return about(booking, facts, undefined, calendar ? [calendar] : []);
    },
  };
}

interface ChangedOrder {
  readonly change: Extract<MailFacts, { kind: 'journey_changed' }>['change'];
  readonly kept: Order;
  readonly next: Order;
}

const changeFacts = ({ change, kept, next }: ChangedOrder): MailFacts => ({
  kind: 'journey_changed',
  change,
  before: orderJourney(kept),
  after: orderJourney(next),
  bookingReference: next.booking_reference,
  ticketNumbers: next.documents.map(({ number }) => number),
});

const orderJourney = (order: Order): JourneyFacts => ({
  totalAmountDecimal: order.total_amount_decimal,
  totalCurrency: order.total_currency,
  slices: order.slices,
});

function journeyOf(intent: IntentRow): JourneyFacts {
  const offer = lockedOffer(intent);
  return { totalAmountDecimal: offer.total_amount_decimal, totalCurrency: offer.total_currency, slices: offer.slices };
}
