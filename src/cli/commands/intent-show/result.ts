import * as z from 'zod';
import * as wire from '../../../wire/flights/schema.ts';
import { address, atomicUsdc, instant, published } from '../../spec/published.ts';

export const fromChain = z
  .strictObject({
    intent_id: z.string(),
    source: z.literal('chain'),
    escrow: z.strictObject({
      state: z.enum(['open', 'captured', 'refunded']),
      address,
      vault_address: address,
      mint: address,
      program_id: address,
      amount: atomicUsdc,
      held: atomicUsdc.describe('Atomic USDC in the vault now.'),
      refund_wallet: address,
      refund_after: instant.describe('From then on anyone can refund.'),
      ended_at: instant.nullable(),
    }),
  })
  .describe('While the service is silent: what the chain says.');

export const intentShow = published(wire.intent, { others: { from_chain: fromChain } });
