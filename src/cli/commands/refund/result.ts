import * as z from 'zod';
import * as desk from '../../../wire/flights/desk.ts';
import * as wire from '../../../wire/flights/schema.ts';
import { address, atomicUsdc, paid, paidPlan, plan, published, signature } from '../../spec/published.ts';

export const refundRequest = published(paid(wire.refundRequestResponse), { plan: paidPlan({ intent_id: z.string() }) });

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
const refundPlan = desk.refundPlan;
export const refundQueue = published(desk.refundQueue);
export const refundShow = published(desk.refundCase);
export const refundNote = published(desk.refundCase, { plan: plan({}) });
export const refundApprove = published(desk.refundCase, { plan: refundPlan });
export const refundReject = published(desk.refundCase, { plan: plan({ mail: desk.mail }) });

export const refundDesk = published(z.never().describe('It is for an operator at a terminal, and prints no document.'));
