import * as z from 'zod';
import { refundCaseSummary } from './desk.ts';
import { instant } from './parts.ts';

/** Work that waits for a person, on the operator API's wire (CONTRACT, section 8). Amounts are atomic USDC. */

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

/** The airline's answer, as the operator who asked it was told. */
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

/** How a carrier's web site looked where a visit ended; nothing that belongs to a person or to a card is in it. */
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
