import * as z from 'zod';
import { address, check, instant, network, plan, published, usdc } from '../../spec/published.ts';

export const paymentRecord = z.strictObject({
  payment_id: z.string(),
  state: z.enum(['signed', 'sent', 'refused', 'answered', 'abandoned']),
  open: z.boolean().describe('Not answered yet: payments resume sends it again.'),
  answer_kept: z.boolean().describe('Answered, and not shown yet: payments resume shows it, and nothing more is paid.'),
  host: z.string(),
  resource: z.string().describe('Method and path of the call.'),
  wallet: address,
  amount: usdc,
  asset: address.describe('The mint of the coin.'),
  pay_to: address,
  network,
  transaction: z.string().nullable(),
  error_code: z.string().nullable(),
  created_at: instant,
  updated_at: instant,
});

const purpose = z.string().describe('What it was for, in words.');

const shownPayment = z.strictObject({
  ...paymentRecord.shape,
  purpose,
  memo: z.string().nullable(),
  fee_payer: address,
  last_valid_block_height: z.int().describe('Past this block height it cannot land any more.'),
});

const movement = z.strictObject({
  transaction: z.string(),
  at: instant.nullable(),
  change: z
    .string()
    .regex(/^[+-]?\d+(\.\d{1,6})?$/)
    .nullable()
    .describe('Decimal USDC with its sign; null for a transaction that failed.'),
  memo: z.string().nullable(),
  payment_id: z.string().nullable(),
  resource: z.string().nullable(),
  kind: z
    .enum(['payment', 'payout', 'refund', 'capture', 'faucet', 'received', 'sent'])
    .nullable()
    .describe('null where nothing is known of it.'),
  intent_id: z.string().nullable().describe('Of a payout, a refund or a capture.'),
  purpose: z.string().nullable().describe('What moved the money, in words; null where nothing is known of it.'),
});

export type HistoryEntry = z.infer<typeof movement>;

export const paymentsList = published(
  z.strictObject({ payments: z.array(z.strictObject({ ...paymentRecord.shape, purpose })) }),
  { others: { chain: z.strictObject({ history: z.array(movement) }) } },
);

export const paymentsShow = published(shownPayment);

export const paymentsResume = published(
  z.strictObject({
    payment: paymentRecord.nullable(),
    answer: z.unknown().describe("What was bought: the service's own answer; null while there is none."),
  }),
  { plan: plan({}) },
);

const paymentVerification = z.strictObject({
  payment_id: z.string(),
  verdict: z.enum(['landed', 'mismatch', 'not_landed', 'waiting']),
  transaction: z.string().nullable(),
  memo: z.string().nullable(),
  checks: z.array(check),
});

export const paymentsVerify = published(z.strictObject({ payments: z.array(paymentVerification) }));
