import * as z from 'zod';
import * as wire from '../../../wire/partner/schema.ts';
import { published } from '../../spec/published.ts';

const row = z.int().describe('Number of the row, from 1.');

const line = z.int().describe('Line of the file on which the row begins, from 1.');

const failure = z.strictObject({
  row,
  line,
  orderId: z.string(),
  outcome: z.enum(['refused', 'held']),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
});

const applied = z.strictObject({
  file: z.string(),
  rows: z.int(),
  applied: z.int(),
  refused: z.int(),
  held: z.int().describe('Held back: an earlier row of the same order was refused.'),
  resultsFile: z.string(),
  failures: z.array(failure),
});

const plannedRow = z.strictObject({
  row,
  line,
  orderId: z.string(),
  from: wire.orderStatus.nullable(),
  to: wire.orderStatus.nullable(),
  kind: z.enum(['move', 'patch', 'repeat', 'settle', 'refuse', 'hold']),
  why: z.string().nullable(),
});

export const partnerOrdersApply = published(applied, {
  plan: z.strictObject({
    dry_run: z.literal(true),
    file: z.string(),
    rows: z.int(),
    plan: z.array(plannedRow),
    done: z.int().describe('Rows that an earlier run has done.'),
  }),
});
