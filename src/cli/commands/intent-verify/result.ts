import * as z from 'zod';
import { address, check, published } from '../../spec/published.ts';

const verification = z.strictObject({
  intent_id: z.string(),
  verified: z.boolean(),
  source: z
    .literal('chain')
    .optional()
    .describe('While the service is silent: the terms are those of the chain.'),
  escrow: address,
  checks: z.array(check),
});

export const intentVerify = published(verification);
