import * as z from 'zod';
import { check, published } from '../../spec/published.ts';

const paymentVerification = z.strictObject({
  payment_id: z.string(),
  verdict: z.enum(['landed', 'mismatch', 'not_landed', 'waiting']),
  transaction: z.string().nullable(),
  memo: z.string().nullable(),
  checks: z.array(check),
});

export const paymentsVerify = published(z.strictObject({ payments: z.array(paymentVerification) }));
