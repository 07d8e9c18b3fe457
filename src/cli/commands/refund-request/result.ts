import * as z from 'zod';
import * as wire from '../../../flights/schema.ts';
import { paid, paidPlan } from '../../../published/parts.ts';
import { published } from '../../../published/published.ts';

export const refundRequest = published(paid(wire.refundRequestResponse), {
  plan: paidPlan({ intent_id: z.string() }),
});
