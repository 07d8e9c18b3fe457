import * as z from 'zod';
import { pageEvidence, stuck, stuckItem, stuckPlan } from '../../../wire/flights/desk.ts';
import { published } from '../../spec/published.ts';

export const stuckList = published(stuck);

const evidence = z.array(
  pageEvidence
    .omit({ screenshot: true })
    .extend({
      screenshot_file: z.string().nullable().describe('null without a folder, or where none could be taken.'),
      text_file: z.string().nullable(),
    }),
);

export const stuckShow = published(stuckItem.extend({ evidence: evidence.optional().describe('With --evidence.') }), {
  others: { evidence: z.strictObject({ id: z.string(), evidence }) },
});

export const stuckResolve = published(stuckItem, { plan: stuckPlan });
