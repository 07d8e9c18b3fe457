import * as z from 'zod';
import { instant, published } from '../../spec/published.ts';

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
  purpose: z
    .string()
    .nullable()
    .describe('What moved the money, in words; null where nothing is known of it.'),
});

export const walletHistory = published(z.strictObject({ history: z.array(movement) }));
