import * as z from 'zod';
import * as wire from '../../../wire/flights/schema.ts';
import { paid, paidPlan, published } from '../../spec/published.ts';

export const refundRequest = published(paid(wire.refundRequestResponse), {
  plan: paidPlan({ intent_id: z.string() }),
});
