import { travellersNamed } from '../kernel/domain/payout-names.ts';
import { formatUsdc } from '../kernel/money.ts';

/** The mails to a traveller, each with the facts of its text. Amounts are atomic USDC. */
export type MailFacts =
  | { readonly kind: 'booking_requested'; readonly journey: JourneyFacts }
  | {
      readonly kind: 'booked';
      readonly journey: JourneyFacts;
      readonly orderId: string;
      readonly bookingReference: string | null;
      readonly ticketNumbers: readonly string[];
      readonly captureTransaction: string | null;
    }
  | {
      readonly kind: 'refunded';
      readonly amount: bigint;
      readonly reason: string | null;
      readonly refundWallet: string;
      readonly transaction: string | null;
    }
  | {
      readonly kind: 'journey_changed';
      readonly change: 'cancelled' | 'flights' | 'tickets';
      readonly before: JourneyFacts;
      readonly after: JourneyFacts;
      readonly bookingReference: string | null;
      readonly ticketNumbers: readonly string[];
    }
  | { readonly kind: 'refund_request_received' }
  | {
      readonly kind: 'refund_request_approved';
      readonly amount: bigint;
      /** The amount that is kept: the fare's penalty, or the rest of a partial pay-out. */
      readonly penalty: bigint;
      /** `airline` if it cancelled the order without a request of ours. */
      readonly cancelledBy: 'airline' | null;
      /** The refunded travellers if the others stay booked; null if all were refunded. */
      readonly travellers: readonly number[] | null;
      readonly refundWallet: string;
      readonly transaction: string | null;
    }
  | { readonly kind: 'refund_request_rejected'; readonly reason: string | null };

export interface JourneyFacts {
  readonly totalAmountDecimal: string;
  readonly totalCurrency: string;
  readonly slices: readonly {
    readonly segments: readonly {
      readonly origin_iata: string;
      readonly destination_iata: string;
      readonly departing_at: string;
      readonly arriving_at: string;
      readonly marketing_carrier_name: string;
      readonly flight_number: string;
    }[];
  }[];
}

/** Writes a mail. It never has the support code: a reader of the mailbox must not be able to act on the booking. */
export function mailText(greetedAs: string, intentId: string, facts: MailFacts, bookingReference: string | null) {
  const { subject, body } = worded(facts, intentId);
  const end = [`Intent: ${intentId}`, `Follow it with: farelock status ${intentId}`];
  const reference = bookingReference === null ? [] : [`Booking reference: ${bookingReference}`, ''];
  return { subject, text: `${[`Hello ${greetedAs},`, '', ...reference, ...body, '', ...end].join('\n')}\n` };
}

interface Words {
  readonly subject: string;
  readonly body: readonly string[];
}

function worded(facts: MailFacts, intentId: string): Words {
  switch (facts.kind) {
    case 'booking_requested':
      return {
        subject: `Booking in progress: ${routeOf(facts.journey)}`,
        body: [
          `Your payment of ${facts.journey.totalAmountDecimal} ${facts.journey.totalCurrency} is in escrow, and the airline is being asked for the ticket.`,
          'If no ticket is issued, the whole amount goes back to your refund wallet.',
          '',
          ...flightLines(facts.journey),
        ],
      };
    case 'booked':
      return {
        subject: `Booked: ${routeOf(facts.journey)}`,
        body: [
          facts.ticketNumbers.length === 0
            ? 'Your booking is confirmed. The journey is attached as a calendar file.'
            : 'Your ticket has been issued. The journey is attached as a calendar file.',
          '',
          ...flightLines(facts.journey),
          '',
          ...ticketLines(facts),
          `Order: ${facts.orderId}`,
          `Paid: ${facts.journey.totalAmountDecimal} ${facts.journey.totalCurrency}`,
          ...transactionLine(facts.captureTransaction),
        ],
      };
    case 'refunded':
      return {
        subject: `Refunded: ${formatUsdc(facts.amount)} USDC`,
        body: [
          `Your booking did not go through: ${reasonText(facts.reason)}`,
          `${formatUsdc(facts.amount)} USDC was sent back to ${facts.refundWallet}.`,
          ...transactionLine(facts.transaction),
        ],
      };
    case 'journey_changed':
      return changedText(facts, intentId);
    case 'refund_request_received':
      return {
        subject: 'Refund request received',
        body: [
          'We have received your refund request. An operator will review it.',
          'The fare rules decide whether you get money back and how much the airline keeps. Where the airline cancelled the booking, it keeps nothing.',
        ],
      };
    case 'refund_request_approved':
      return {
        subject: `Refund approved: ${formatUsdc(facts.amount)} USDC`,
        body: [
          approvedText(facts),
          `${formatUsdc(facts.amount)} USDC was sent to ${facts.refundWallet}.`,
          ...(facts.penalty > 0n ? [`${formatUsdc(facts.penalty)} USDC of your payment is not refunded.`] : []),
          ...transactionLine(facts.transaction),
        ],
      };
    case 'refund_request_rejected':
      return {
        subject: 'Refund request rejected',
        body: [
          `Your refund request was rejected${facts.reason ? `: ${facts.reason}` : '.'}`,
          'Your booking is unchanged.',
        ],
      };
  }
}

function approvedText({ cancelledBy, travellers }: Extract<MailFacts, { kind: 'refund_request_approved' }>): string {
  if (cancelledBy === 'airline') return 'Your refund request was approved. The airline had cancelled your booking.';
  return travellers === null
    ? 'Your refund request was approved, and the ticket was cancelled.'
    : `Your refund request was approved, and the ticket of ${travellersNamed(travellers)} was cancelled. The others fly as booked.`;
}

/** Reports a change by the airline, with the journey before and after. */
function changedText(facts: Extract<MailFacts, { kind: 'journey_changed' }>, intentId: string): Words {
  const { change, before, after } = facts;
  if (change === 'cancelled') {
    return {
      subject: `Cancelled by the airline: ${routeOf(before)}`,
      body: [
        'The airline has cancelled your booking:',
        '',
        ...flightLines(before),
        '',
        'The fare rules do not apply, because you did not cancel it: the whole price comes back.',
        `Ask for it with: farelock refund request ${intentId}`,
      ],
    };
  }
  if (change === 'tickets') {
    return {
      subject: `New tickets: ${routeOf(after)}`,
      body: [
        'The airline has changed your tickets or booking reference. Your flights are the same.',
        '',
        ...ticketLines(facts),
      ],
    };
  }
  return {
    subject: `Schedule changed: ${routeOf(after)}`,
    body: [
      'The airline has changed your flights. They were:',
      '',
      ...flightLines(before),
      '',
      'They are now:',
      '',
      ...flightLines(after),
      '',
      ...ticketLines(facts),
      'The new times are attached as a calendar file.',
      `If they do not suit you, ask for your money back with: farelock refund request ${intentId}`,
    ],
  };
}

/** Lists the tickets. Some carriers issue none: the booking reference is all that a traveller needs. */
const ticketLines = ({ ticketNumbers }: { readonly ticketNumbers: readonly string[] }): string[] =>
  ticketNumbers.length === 0
    ? ['The carrier issues no ticket numbers: check in with the booking reference.']
    : ticketNumbers.map((number) => `Ticket: ${number}`);

const transactionLine = (signature: string | null): string[] =>
  signature === null ? [] : [`Transaction: ${signature}`];

function routeOf({ slices }: JourneyFacts): string {
  const segments = slices[0]?.segments ?? [];
  const first = segments[0];
  const last = segments.at(-1);
  return first && last
    ? `${first.origin_iata} to ${last.destination_iata}, ${first.departing_at.slice(0, 10)}`
    : 'your journey';
}

const flightLines = ({ slices }: JourneyFacts): string[] =>
  slices.flatMap(({ segments }) =>
    segments.map(
      (flight) =>
        `${flight.flight_number} (${flight.marketing_carrier_name})  ${flight.origin_iata} ${localText(flight.departing_at)}  ${flight.destination_iata} ${localText(flight.arriving_at)}`,
    ),
  );

const localText = (local: string): string => local.slice(0, 16).replace('T', ' ');

const REASONS: Readonly<Record<string, string>> = {
  offer_repriced: 'the price changed before the ticket was issued.',
  offer_expired: 'the offer expired before the ticket was issued.',
  offer_unavailable: 'the flight is sold out.',
  ticketing_failed: 'the airline did not issue the ticket.',
  not_ticketed: 'the airline said that no ticket was issued.',
  ticketing_timeout: 'the airline did not issue the ticket in time.',
  deadline_passed: 'the time for the booking ran out.',
  intent_expired: 'the time for the booking ran out.',
  escrow_funding_mismatch: 'the escrow did not hold the exact amount.',
  provider_failed: 'the airline could not be reached.',
  upstream_rate_limited: 'the airline could not be reached.',
  form_rejected: 'the airline did not accept the booking as it was entered.',
  account_wall: "the carrier's web site did not take the booking.",
  captcha: "the carrier's web site did not take the booking.",
  provider_balance_low: 'the service could not pay the airline in time.',
};

const reasonText = (reason: string | null): string =>
  (reason !== null && Object.hasOwn(REASONS, reason) ? REASONS[reason] : undefined) ??
  `the airline could not complete it${reason === null ? '' : ` (${reason})`}.`;
