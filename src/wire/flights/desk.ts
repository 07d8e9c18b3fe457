import * as z from 'zod';
import { conditions } from './offers.ts';
import { currency, decimal, instant } from './parts.ts';

/** The operator API's wire (CONTRACT, section 8). Amounts are atomic USDC. */

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
});

export const nothing = z.strictObject({});
/** `force` frees a case that another operator has: somebody fell ill with it. */
export const releaseRequest = z.strictObject({ force: z.boolean().default(false) });
export const noteRequest = z.strictObject({ text: words });
export const approveRequest = z.strictObject({
  dry_run: z.boolean().default(false),
  /** Instead of what the fare rule gives; needs a note. */
  payout_amount: z.int().min(1).optional(),
  note: words.optional(),
  /** What the operator agreed to: anything else is refused. */
  expected_payout_amount: z.int().optional(),
  /** The airline's quote that the plan showed: another one is refused. */
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
  captured_amount: z.int(),
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
  .describe(
    'To the lead passenger, whose name is left out here; null: their data is purged, and nobody is written to.',
  );
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

export const auditQuery = z.strictObject({
  subject: z.string().max(64).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
  cursor: z.string().max(64).optional(),
});
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
export const keysQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(500).default(100),
  cursor: z.string().max(64).optional(),
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
