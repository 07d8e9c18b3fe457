import * as z from 'zod';
import { createIntentRequest } from '../../../wire/flights/requests.ts';
import * as wire from '../../../wire/flights/schema.ts';
import { address, atomicUsdc, check, day, instant, paid, paidPlan, published, usdc } from '../../spec/published.ts';

export const intentCreate = published(paid(wire.createdIntent), { plan: paidPlan({ request: createIntentRequest }) });

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

const listedIntent = z.strictObject({
  intent_id: z.string(),
  status: z.string().nullable(),
  offer_id: z.string().nullable(),
  route: z.string().nullable().describe('Such as LIS-BER.'),
  departure_date: day.nullable(),
  amount: usdc.nullable(),
  order_id: z.string().nullable(),
  created_at: instant,
  expires_at: instant.nullable(),
  passenger_count: z.int().optional().describe('Of a booking for several travellers.'),
  refunded_count: z.int().optional().describe('How many of them were refunded, when it was last seen.'),
});

export const intentList = published(z.strictObject({ intents: z.array(listedIntent) }));

export const verification = z.strictObject({
  intent_id: z.string(),
  verified: z.boolean(),
  source: z.literal('chain').optional().describe('While the service is silent: the terms are those of the chain.'),
  escrow: address,
  checks: z.array(check),
});

export type ListedIntent = z.infer<typeof listedIntent>;
export type Verification = z.infer<typeof verification>;
