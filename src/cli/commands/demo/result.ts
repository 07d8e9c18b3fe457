import * as z from 'zod';
import * as wire from '../../../wire/flights/schema.ts';
import { atomicUsdc, published } from '../../spec/published.ts';

const account = z.strictObject({
  wallet: atomicUsdc.nullable(),
  treasury: atomicUsdc.nullable(),
  vault: atomicUsdc.nullable(),
  supply: atomicUsdc,
});

export const demo = published(
  z.strictObject({
    home: z.string().describe('Folder with everything of this journey.'),
    intent: wire.intent,
    order: wire.order.nullable(),
    before: account,
    after: account,
    escrow: z.unknown().describe('The escrow account as the cluster has it at the end.'),
  }),
);
