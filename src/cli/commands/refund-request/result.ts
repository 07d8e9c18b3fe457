import * as z from 'zod';
import { paid, paidPlan } from '../../../published/parts.ts';
import { published } from '../../../published/published.ts';
import * as wire from '../../../wire/flights/schema.ts';

export const refundRequest = published(paid(wire.refundRequestResponse), {
  plan: paidPlan({ intent_id: z.string() }),
});
