import * as z from 'zod';
import * as wire from '../../../flights/schema.ts';
import { atomicUsdc, paid, paidPlan } from '../../../published/parts.ts';
import { published } from '../../../published/published.ts';

export const book = published(paid(wire.intent), {
  plan: paidPlan({ intent_id: z.string(), amount: atomicUsdc }),
});
