import * as z from 'zod';
import * as desk from '../../../wire/flights/desk.ts';
import { address, atomicUsdc, plan, published, signature } from '../../spec/published.ts';

const claim = z
  .strictObject({
    intent_id: z.string(),
    outcome: z.enum(['refunded', 'swept', 'already_refunded']),
    escrow: address,
    amount: atomicUsdc,
    refund_wallet: address.describe('Owner of the account that the money went to.'),
    transaction: signature.nullable().describe('null: somebody else sent it before.'),
  })
  .describe('Of an escrow that still held money.');

export const refundClaim = published(desk.refundCase, { others: { claim }, plan: plan({}) });
