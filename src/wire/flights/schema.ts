import * as z from 'zod';
import { OFFER_FILTERS } from '../../kernel/domain/offer-filters.ts';
import { availableService, conditions, localTime, offer, seatMap, slice, withBags } from './offers.ts';
import { chosenSeat, currency, date, decimal, instant } from './parts.ts';

const cancelledBy = z
  .literal('airline')
  .describe('It cancelled the booked order without a request of ours: nothing of the price is kept.');

const wallet = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/);

const hidden = z
  .array(
    z.strictObject({
      filter: z.enum(OFFER_FILTERS),
      count: z.int().min(0).describe('Offers that do not pass it.'),
      unknown: z.int().min(0).describe('Further offers, whose seller does not disclose it.'),
    }),
  )
  .optional()
  .describe('Offers that filters left out, each with the first filter that did.');

export const searchResponse = z.strictObject({
  request_id: z.string(),
  status: z.enum(['complete', 'enriching']),
  search_id: z.string().optional(),
  poll_after_ms: z.int().optional(),
  offers: z.array(offer),
  total_offers: z.int().describe('Before limit.'),
  other_currency_offers: z
    .int()
    .optional()
    .describe('Left out by max_price, which is in USD: they are priced in another currency.'),
  hidden,
  sellers_left_out: z
    .array(z.strictObject({ sellers: z.literal('lowcost'), because: z.enum(['child_ages', 'slices']) }))
    .optional()
    .describe('Sellers that fly there and cannot sell this search: they take adults alone, there and back.'),
});

export const searchUpdatesResponse = z.strictObject({
  search_id: z.string(),
  status: z.enum(['complete', 'enriching']),
  offers: z.array(offer).describe('Those that landed after the cursor, under the filters of the search.'),
  cursor: z.string(),
  poll_after_ms: z.int().optional().describe('While enriching.'),
  hidden,
});

export const menuFare = z.strictObject({
  fare_index: z.int().min(1).describe('Keeps its meaning when the menu is opened again.'),
  offer_id: z.string().describe('`lowcost:<flight>##<fare_index>`.'),
  fare_brand_name: z.string().nullable(),
  checked_bags_included: z.int().min(0).nullable(),
  carry_on_bags_included: z.int().min(0).nullable(),
  conditions: conditions.nullable(),
  total_amount: z.int().describe('Atomic units of 6 decimals, all passengers.'),
  total_amount_decimal: decimal,
  total_currency: currency,
  with_bags: withBags.optional(),
});

export const fareMenu = z.strictObject({
  status: z.enum(['ready', 'pending', 'failed']),
  checked_at: instant.nullable().describe('null while pending.'),
  expires_at: instant
    .nullable()
    .describe('Until when its fares can be locked; for a failed check, until when it is remembered.'),
  fares: z.array(menuFare),
});

export const offerDetailsResponse = z.strictObject({
  offer,
  available_services: z.array(availableService),
  fare_menu: fareMenu.optional().describe('For a `lowcost:` offer.'),
  seat_maps: z.array(seatMap).optional().describe('With `seats`: of each flight whose airline shows one.'),
  poll_after_ms: z.int().optional().describe('While the fare menu is pending (202, free).'),
});

export const escrow = z.strictObject({
  address: wallet,
  vault_address: wallet,
  mint: wallet,
  amount: z.int(),
  program_id: wallet,
  refund_after: instant,
  observed_amount: z.int().nullable(),
  kind: z
    .literal('authorized')
    .optional()
    .describe('Where its payer has paid by an authorization (`auth-capture`), whose address is another one.'),
});

const lockedBags = z
  .strictObject({
    checked: z.int().describe('For each traveller.'),
    carry_on: z.int().describe('For each traveller.'),
    total_amount: z.int().describe('Their part of the locked amount, atomic units.'),
    total_amount_decimal: decimal,
  })
  .describe('Bags that were locked with the fare.');

const lockedSeats = z
  .strictObject({
    total_amount: z.int().describe('Their part of the locked amount, atomic units.'),
    total_amount_decimal: decimal,
    chosen: z.array(
      chosenSeat.extend({
        total_amount_decimal: decimal,
        disclosures: z.array(z.string()).optional().describe("The airline's terms of this seat."),
      }),
    ),
  })
  .describe('Seats that were locked with the fare.');

const passengerNumbers = z
  .array(z.int().min(1))
  .describe('Numbers of travellers, from 1, in the order of the passengers of the booking.');

const bookedPassenger = z.strictObject({
  passenger: z.int().min(1).describe('The number that a refund request names it by.'),
  type: z.enum(['adult', 'youth', 'child', 'infant']).describe('When the last direction departs.'),
  status: z.enum(['booked', 'refund_requested', 'refunded']),
  paid_amount: z.int().nullable().describe('Its share of the price with its bags, atomic units; null: not told.'),
  refund_amount: z
    .int()
    .nullable()
    .describe(
      'What the rule of the fare gives back for it alone, atomic units; null where the rule is not disclosed, or the airline cancels whole orders alone.',
    ),
});

export const intent = z.strictObject({
  intent_id: z.string(),
  status: z.enum(['active', 'booked', 'refunded']),
  offer_id: z.string(),
  passenger_count: z.int().describe('Infants included.'),
  passenger_ages: z
    .strictObject({ on: date, ages: z.array(z.int().min(0).nullable()) })
    .optional()
    .describe(
      'Of a fare for children too: the ages that were searched, null for an adult, and the day that they count on.',
    ),
  funding_wallet: wallet,
  refund_wallet: wallet,
  referrer: z.string().optional(),
  escrow,
  expected_ticket_amount: z.int().describe('Atomic units of 6 decimals.'),
  expected_ticket_amount_decimal: decimal,
  expected_ticket_currency: currency,
  fee_amount: z.int(),
  bags: lockedBags.optional(),
  seats: lockedSeats.optional(),
  order_id: z.string().nullable(),
  booking_requested_at: instant.nullable(),
  ticketed_at: instant.nullable(),
  captured_at: instant.nullable(),
  capture_tx_hash: z.string().nullable(),
  refund_reason: z.string().nullable(),
  refunded_at: instant.nullable(),
  refund_tx_hash: z.string().nullable(),
  refund_request: z
    .strictObject({
      state: z.enum(['received', 'claimed', 'approved', 'rejected', 'paid']),
      requested_at: instant,
      decided_at: instant.nullable(),
      payout_amount: z.int().nullable().describe('Atomic units, fixed by the approval.'),
      payout_tx_hash: z.string().nullable(),
      cancelled_by: cancelledBy.nullable(),
      passengers: passengerNumbers.optional().describe('The travellers that it is about; absent: all of them.'),
    })
    .nullable()
    .describe('The latest refund request; null when there is none.'),
  passenger_refunds: z
    .array(
      z.strictObject({
        passengers: passengerNumbers,
        decided_at: instant.nullable(),
        payout_amount: z.int().describe('Atomic units.'),
        payout_tx_hash: z.string().nullable(),
      }),
    )
    .optional()
    .describe('Paid refunds of some of the travellers, the oldest first; the booking of the others stays.'),
  passengers: z
    .array(bookedPassenger)
    .optional()
    .describe('Of a booking for several travellers. Only with the support code.'),
  refund_rejection_reason: z
    .string()
    .nullable()
    .optional()
    .describe(
      'The words of the operator that rejected the latest refund request; null when there are none. Only with the support code.',
    ),
  booking_reference: z
    .string()
    .nullable()
    .optional()
    .describe('Of the airline, once it is booked; null where it gave none. Only with the support code.'),
  order_changed_at: instant
    .optional()
    .describe('When the airline was last seen to have changed the booked order; absent: never.'),
  cancelled_by: cancelledBy.optional(),
  operator_review_since: instant
    .nullable()
    .describe('Since when the booking waits for a decision of the operator, who was told; null while it goes on.'),
  booking_held_up_by: z
    .string()
    .nullable()
    .describe('The error code that the booking last failed with and is tried again after; null otherwise.'),
  expires_at: instant,
  created_at: instant,
  updated_at: instant,
});

export const createdIntent = intent
  .omit({ refund_rejection_reason: true, booking_reference: true, passengers: true })
  .extend({ customer_support_code: z.string() });

export const bookResponse = z.strictObject({
  intent_id: z.string(),
  status: z.enum(['active', 'booked', 'refunded']),
  booking: z.strictObject({ state: z.literal('queued'), requested_at: instant }),
  poll_after_ms: z.int(),
});

export const order = z.strictObject({
  order_id: z.string(),
  booking_reference: z.string().nullable(),
  status: z.enum(['pending', 'confirmed', 'ticketed', 'cancelled']),
  passenger_count: z.int().describe('Travellers who fly: without those who were refunded.'),
  passengers: z.array(bookedPassenger).optional().describe('Of an order for several travellers, refunded ones too.'),
  total_amount_decimal: decimal.describe('As it was sold.'),
  total_currency: currency,
  documents: z
    .array(z.strictObject({ type: z.string(), number: z.string() }))
    .describe('Empty until there is a ticket, and where the carrier issues none.'),
  bags: z
    .array(z.strictObject({ type: z.enum(['checked', 'carry_on']), quantity: z.int() }))
    .optional()
    .describe('Extra bags that were bought with the fare, of all travellers.'),
  seats: z
    .array(z.strictObject({ passenger_index: z.int(), segment_index: z.int(), designator: z.string() }))
    .optional()
    .describe("Chosen seats: `passenger_index` is a position in the airline's list of travellers, from 0."),
  slices: z.array(slice),
  airline_changed_at: instant
    .optional()
    .describe('When the airline was last seen to have changed what it had sold; absent: never.'),
  created_at: instant,
  updated_at: instant,
});

export const refundRequestResponse = z.strictObject({
  intent_id: z.string(),
  requested_at: instant,
  status: z.literal('received'),
});

export const affiliate = z.strictObject({
  code: z.string().regex(/^[0-9A-HJKMNP-TV-Z]{10}$/),
  wallet,
  created_at: instant,
});

export const affiliateCredit = z.strictObject({
  ...affiliate.shape,
  bookings_count: z.int().describe('Captured and not refunded.'),
  pending_amount: z.int().describe('Earned and not paid out yet. Atomic units of 6 decimals.'),
  pending_amount_decimal: decimal,
  paid_amount: z.int(),
  paid_amount_decimal: decimal,
  owed_amount: z.int().describe('Paid for journeys that were refunded afterwards; later credit fills it first.'),
  owed_amount_decimal: decimal,
});

export const health = z.strictObject({
  status: z
    .enum(['ok', 'not_ready', 'unavailable'])
    .describe('`not_ready` of /ready, which earlier releases called `unavailable`.'),
  service: z.string(),
  version: z.string(),
  time: instant,
  checks: z
    .strictObject({
      database: z.string(),
      cluster: z.string(),
      wallets: z.string(),
      airline: z.string(),
      disk: z.string(),
    })
    .optional()
    .describe('Of /ready, when it is not: `ok`, or the code of what is wrong.'),
  wallets: z
    .array(
      z.strictObject({
        wallet: z.enum(['authority', 'facilitator', 'treasury']),
        address: wallet,
        asset: z.enum(['SOL', 'USDC']),
        holds: decimal,
        needs: decimal,
      }),
    )
    .optional()
    .describe("The operator's wallets that hold too little: no intent is created until they are filled up."),
  airline: z
    .object({ provider: z.string(), trouble: z.string().describe('Why the airline refuses every call.') })
    .optional(),
  airline_balance: z
    .strictObject({ provider: z.string(), holds: decimal.nullable(), needs: decimal, currency })
    .optional()
    .describe(
      "The seller's balance with the airline does not cover the cheapest ticket. `holds` is null where the airline does not tell it, and an order that it did not cover waits.",
    ),
  reconcile: z
    .strictObject({ why: z.enum(['restored', 'chain', 'by_hand']), since: instant })
    .optional()
    .describe(
      'The database was put back, and may lack what happened since then: bookings, refunds and pay-outs wait for `farelock db reconcile`.',
    ),
  escrow_program: z
    .strictObject({ address: wallet, trouble: z.string() })
    .optional()
    .describe('The escrow program is not the shipped one any more: no intent is created, no booking paid.'),
});

export { localTime };
export type SearchResponse = z.infer<typeof searchResponse>;
export type SearchUpdatesResponse = z.infer<typeof searchUpdatesResponse>;
export type MenuFare = z.infer<typeof menuFare>;
export type FareMenu = z.infer<typeof fareMenu>;
export type OfferDetailsResponse = z.infer<typeof offerDetailsResponse>;
export type Intent = z.infer<typeof intent>;
export type CreatedIntent = z.infer<typeof createdIntent>;
export type BookResponse = z.infer<typeof bookResponse>;
export type RefundRequestResponse = z.infer<typeof refundRequestResponse>;
export type Order = z.infer<typeof order>;
export type Affiliate = z.infer<typeof affiliate>;
export type AffiliateCredit = z.infer<typeof affiliateCredit>;
export type Health = z.infer<typeof health>;
