import * as z from 'zod';
import { plan, published } from '../../spec/published.ts';
import { paymentRecord } from '../payments/result.ts';

export const paymentsResume = published(
  z.strictObject({
    payment: paymentRecord.nullable(),
    answer: z.unknown().describe("What was bought: the service's own answer; null while there is none."),
  }),
  { plan: plan({}) },
);
