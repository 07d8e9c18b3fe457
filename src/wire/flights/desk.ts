import * as z from 'zod';
import { conditions, offerPassenger } from './offers.ts';
import { currency, decimal, instant } from './parts.ts';

/** The wire of the operator API (CONTRACT, section 8). Amounts are atomic USDC. */

const id = z.string().min(1).max(64);
const words = z
  .string()
  .max(2000)
  .refine((text) => text.trim() !== '', 'must not be blank.');

export const caseStatus = z.enum(['received', 'approved', 'refunded', 'rejected', 'stuck']);

export const queueQuery = z.strictObject({
  status: caseStatus.optional(),
  sort: z.enum(['age', 'journey']).default('age'),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().max(400).optional(),
  search: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .optional()
    .describe(
      "Only requests with this text in an id, the booking reference, the route, the day of departure or the customer's words. A page looks through 500 requests, may be empty, and is in the audit trail.",
    ),
});

export const nothing = z.strictObject({});
/** `force` releases the case of another operator, who fell ill for example. */
export const releaseRequest = z.strictObject({ force: z.boolean().default(false) });
export const noteRequest = z.strictObject({ text: words });
export const approveRequest = z.strictObject({
  dry_run: z.boolean().default(false),
  /** Replaces the amount of the fare rule; needs a note. */
  payout_amount: z.int().min(1).optional(),
  note: words.optional(),
  /** The amount that the operator agreed to. The approval is refused if it has changed. */
  expected_payout_amount: z.int().optional(),
  /** The airline's quote that the plan showed. The approval is refused if it has changed. */
  quote_id: z.string().max(200).nullable().optional(),
});
export const rejectRequest = z.strictObject({ dry_run: z.boolean().default(false), reason: words });

export const cancelledBy = z
  .literal('airline')
  .nullable()
  .describe('airline: it cancelled the order without a request of ours, and nothing is kept.');

const summary = {
  request_id: z.string(),
  intent_id: z.string(),
  status: caseStatus,
  requested_at: instant,
  journey_date: z.string(),
  route: z.string(),
  booking_reference: z.string().nullable(),
  captured_amount: z.int().describe('Of the travellers that the request is about.'),
  passengers: z
    .array(
      z.strictObject({
        passenger: z.int().describe('From 1, in the order of the booked passengers.'),
        type: z.enum(['adult', 'youth', 'child', 'infant']),
        paid_amount: z.int().describe('Its share of the price with its bags.'),
      }),
    )
    .optional()
    .describe('The travellers that the request is about; absent: all of a booking that none was refunded of.'),
  others_stay: z.boolean().optional().describe('Beside passengers: the booking of the others stays.'),
  cancelled_by: cancelledBy,
  refund_rule: z.strictObject({
    kind: z
      .enum(['refundable', 'non_refundable', 'undisclosed', 'cancelled_by_airline'])
      .describe('cancelled_by_airline: the rule of the fare does not apply, and nothing is kept.'),
    penalty_amount: z.int().nullable(),
    payout_amount: z.int().nullable(),
  }),
  payout_amount: z.int().nullable(),
  claimed_by: z.string().nullable(),
  claimed_at: instant.nullable(),
};
export const refundCaseSummary = z.strictObject(summary);
export const refundQueue = z.strictObject({
  refund_requests: z.array(refundCaseSummary),
  next_cursor: z.string().nullable(),
  total: z.int().nullable().describe('Requests that wait for a decision; null with a status or a search.'),
  operator: z.string().describe("The name of the caller's key, as in claimed_by."),
});

export const airlineQuote = z
  .strictObject({
    quote_id: z.string().nullable().describe('null: the airline takes no cancellation of this order here.'),
    refund_amount_decimal: z.string().nullable().describe('null: the airline does not say; never zero.'),
    refund_currency: z.string().nullable(),
    refund_to: z.string().nullable().describe("In the airline's word: balance, voucher, airline_credits, …"),
    expires_at: instant.nullable(),
    quoted_at: instant,
  })
  .nullable();

export const refundCase = z.strictObject({
  ...summary,
  order_id: z.string().nullable(),
  passenger_count: z.int(),
  refund_wallet: z.string(),
  fare: z.strictObject({
    owner_name: z.string(),
    fare_brand_name: z.string().nullable(),
    total_amount_decimal: decimal,
    total_currency: currency,
    conditions: conditions.nullable(),
    passengers: z.array(offerPassenger).optional().describe('Of a fare for children too: what each pays of it.'),
  }),
  reason: z.string().nullable().describe("The customer's words; null once purged."),
  contact: z.string().nullable(),
  decision: z
    .strictObject({
      by: z.string(),
      at: instant,
      words: z.string().nullable(),
      penalty_amount: z.int().nullable(),
      payout_amount: z.int().nullable(),
      airline_quote: airlineQuote.describe('The quote that was agreed to; null: there was none to agree to.'),
    })
    .nullable(),
  payout_tx_hash: z.string().nullable(),
  airline_quote: airlineQuote.describe(
    "The airline's quote: the agreed one, before an approval the one that a plan showed last; null: none was asked for.",
  ),
  last_error: z.string().nullable(),
  notes: z.array(z.strictObject({ at: instant, by: z.string(), text: z.string() })),
  timeline: z.array(z.strictObject({ at: instant, event: z.string(), detail: z.string().nullable() })),
});

export const refundPlan = z.strictObject({
  request_id: z.string(),
  intent_id: z.string(),
  dry_run: z.literal(true),
  captured_amount: z.int(),
  penalty_amount: z.int(),
  payout_amount: z.int(),
  overridden: z.boolean(),
  paid_from: z
    .enum(['treasury', 'escrow'])
    .describe('escrow: it still holds the price, and gives the refund back itself. The treasury then pays nothing.'),
  cancelled_by: cancelledBy,
  treasury_wallet: z.string(),
  treasury_amount: z.int(),
  refund_wallet: z.string(),
  mint: z.string(),
  airline_quote: airlineQuote.describe(
    'What the airline says that it gives back to us; null: it gives no quotes. The pay-out does not follow it.',
  ),
  steps: z.array(z.string()),
});

export const mail = z
  .strictObject({ subject: z.string(), text: z.string() })
  .nullable()
  .describe('To the lead passenger, whose name is left out here; null: their data is purged, and no mail is sent.');
export const rejectionPlan = z.strictObject({
  request_id: z.string(),
  intent_id: z.string(),
  dry_run: z.literal(true),
  mail,
});

const onOff = z.enum(['on', 'off']);
export const switchesRequest = z
  .strictObject({ booking: onOff.optional(), lowcost: onOff.optional() })
  .refine((body) => body.booking !== undefined || body.lowcost !== undefined, 'Name a switch: booking, lowcost.');
export const switches = z.strictObject({ booking: onOff, lowcost: onOff });

export const keysQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(500).default(100),
  cursor: z.string().max(64).optional(),
});
export const auditQuery = z.strictObject({ subject: z.string().max(64).optional(), ...keysQuery.shape });
export const auditTrail = z.strictObject({
  entries: z.array(
    z.strictObject({
      audit_id: z.string(),
      at: instant,
      operator: z.string(),
      key_id: z.string(),
      action: z.string(),
      subject: z.string(),
      request_id: z.string(),
      detail: z.record(z.string(), z.unknown()),
    }),
  ),
  next_cursor: z.string().nullable(),
});

export const issueKeyRequest = z.strictObject({ name: z.string().trim().min(1).max(60) });
export const operatorKey = z.strictObject({
  key_id: z.string(),
  kind: z.literal('operator'),
  name: z.string(),
  created_at: instant,
  last_used_at: instant.nullable(),
  revoked_at: instant.nullable(),
});
export const operatorKeys = z.strictObject({ keys: z.array(operatorKey), next_cursor: z.string().nullable() });
export const issuedKey = z.strictObject({ ...operatorKey.shape, key: z.string().describe('Shown once.') });
export { id as caseId };

export type QueueQuery = z.infer<typeof queueQuery>;
export type QueueQueryInput = z.input<typeof queueQuery>;
export type RefundCaseSummary = z.infer<typeof refundCaseSummary>;
export type RefundQueue = z.infer<typeof refundQueue>;
export type RefundCase = z.infer<typeof refundCase>;
export type RefundPlan = z.infer<typeof refundPlan>;
export type RejectionPlan = z.infer<typeof rejectionPlan>;
export type ApproveRequest = z.infer<typeof approveRequest>;
export type Switches = z.infer<typeof switches>;
export type SwitchesRequest = z.infer<typeof switchesRequest>;
export type AuditQuery = z.infer<typeof auditQuery>;
export type AuditTrail = z.infer<typeof auditTrail>;
export type OperatorKey = z.infer<typeof operatorKey>;
export type KeysQuery = z.infer<typeof keysQuery>;
export type OperatorKeys = z.infer<typeof operatorKeys>;
export type IssuedKey = z.infer<typeof issuedKey>;

/** Work that waits for an operator. */
export const stuck = z.strictObject({
  bookings: z.array(
    z.strictObject({
      intent_id: z.string(),
      last_error: z.string().nullable(),
      attempts: z.int(),
      updated_at: instant,
    }),
  ),
  effects: z.array(
    z.strictObject({
      effect_id: z.string(),
      kind: z.string(),
      subject: z.string(),
      state: z.string(),
      error: z.string().nullable(),
      signature: z.string().nullable(),
      created_at: instant,
      updated_at: instant,
    }),
  ),
  refund_requests: z.array(refundCaseSummary),
  affiliate_payouts: z.array(
    z.strictObject({
      payout_id: z.string(),
      wallet: z.string(),
      amount: z.int(),
      last_error: z.string().nullable(),
      attempts: z.int(),
      created_at: instant,
    }),
  ),
  partner_orders: z
    .array(
      z.strictObject({
        order_id: z.string(),
        partner_id: z.string(),
        last_error: z.string().nullable(),
        attempts: z.int(),
        updated_at: instant,
      }),
    )
    .describe('Ramp orders that ended in ERROR by themselves, until their partner moves them.'),
});

export const stuckDecision = z.enum(['ticketed', 'not_ticketed', 'cancelled', 'retry']);

const reference = z
  .string()
  .trim()
  .regex(/^[A-Za-z0-9]{5,13}$/, 'Use the 5 to 13 letters and digits of the booking reference.');
const evidence = z.strictObject({
  type: z.string().regex(/^[a-z_]{1,40}$/, 'Use a word such as electronic_ticket.'),
  number: z
    .string()
    .trim()
    .regex(/^[A-Za-z0-9][A-Za-z0-9 -]{2,39}$/, 'Use the number as the airline writes it.'),
});

/** The operator's decision about stuck work. */
export const resolveRequest = z
  .strictObject({
    decision: stuckDecision.describe('ticketed captures, not_ticketed refunds; cancelled is for refund cases.'),
    dry_run: z.boolean().default(false),
    booking_reference: reference.optional().describe('With ticketed: required.'),
    documents: z.array(evidence).max(20).optional().describe('With ticketed: the ticket numbers.'),
  })
  .superRefine(({ decision, booking_reference, documents }, context) => {
    if (decision === 'ticketed' && booking_reference === undefined) {
      context.addIssue({ code: 'custom', path: ['booking_reference'], message: 'is needed with decision ticketed.' });
    }
    if (decision === 'ticketed') return;
    for (const [name, given] of Object.entries({ booking_reference, documents })) {
      if (given === undefined) continue;
      context.addIssue({ code: 'custom', path: [name], message: 'belongs to decision ticketed.' });
    }
  });

export const refusalReason = z.enum([
  'escrow_refunded',
  'escrow_captured',
  'escrow_missing',
  'escrow_unfunded',
  'airline_ticketed',
  'airline_has_no_order',
  'airline_cancelled',
  'cancelled_by_airline',
  'capture_under_way',
  'refund_under_way',
  'payment_unsettled',
  'other_kind',
]);

const kind = z.enum(['booking', 'refund_request', 'affiliate_payout', 'effect', 'partner_order']);
const option = z.strictObject({
  decision: stuckDecision,
  refusal: refusalReason.nullable().describe('null: it can be decided.'),
  steps: z.array(z.string()).describe('What it would do.'),
});

export const stuckItem = z.strictObject({
  id: z.string(),
  kind,
  is_stuck: z.boolean(),
  state: z.string(),
  stuck_in: z.string().nullable(),
  reason: z.string().nullable(),
  attempts: z.int(),
  since: instant,
  intent_id: z.string().nullable(),
  amount: z.int().nullable(),
  escrow: z
    .strictObject({
      state: z.enum(['open', 'captured', 'refunded', 'missing']),
      held_amount: z.int(),
      amount: z.int(),
      refund_after: instant,
    })
    .nullable(),
  airline: z
    .strictObject({
      status: z.enum(['none', 'pending', 'confirmed', 'ticketed', 'cancelled', 'failed', 'unknown']),
      booking_reference: z.string().nullable(),
      code: z.string().nullable().describe("The airline's own code for what went wrong last."),
      request_id: z.string().nullable().describe('What its support finds that request by.'),
    })
    .nullable(),
  ask: z.string().nullable().describe('What to ask the airline; null: nothing that only it knows.'),
  decisions: z.array(option),
  decided: z.strictObject({ decision: z.string(), by: z.string(), at: instant }).nullable(),
});

export const stuckPlan = z.strictObject({
  id: z.string(),
  kind,
  dry_run: z.literal(true),
  decision: stuckDecision,
  amount: z.int().nullable(),
  steps: z.array(z.string()),
});

/** A carrier's web site at the end of a visit, without personal and card data. */
export const pageEvidence = z.strictObject({
  evidence_id: z.string(),
  at: instant,
  outcome: z.string().describe('What came of the visit.'),
  step: z.string().describe("The recipe's step, and what was there instead; empty where every step was taken."),
  carrier: z.string(),
  recipe_version: z.int(),
  text: z.string().describe("The page's address and text."),
  screenshot: z.string().nullable().describe('A PNG, Base64.'),
});

export const stuckEvidence = z.strictObject({ id: z.string(), evidence: z.array(pageEvidence) });

export type PageEvidence = z.infer<typeof pageEvidence>;
export type StuckEvidence = z.infer<typeof stuckEvidence>;
export type Stuck = z.infer<typeof stuck>;
export type StuckDecision = z.infer<typeof stuckDecision>;
export type StuckItem = z.infer<typeof stuckItem>;
export type StuckOption = z.infer<typeof option>;
export type StuckPlan = z.infer<typeof stuckPlan>;
export type StuckRefusal = z.infer<typeof refusalReason>;
export type ResolveRequest = z.infer<typeof resolveRequest>;
