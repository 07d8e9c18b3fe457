import * as z from 'zod';
import { address, network, plan, published, usdc } from '../../spec/published.ts';

export const walletLimitsShow = published(
  z.strictObject({
    profile: z.string(),
    wallet: address,
    network,
    per_call: usdc.describe('Decimal USDC; a call up to this is paid without a question.'),
    per_day: usdc.nullable().describe('Decimal USDC signed in 24 hours at most; null: no limit.'),
    booking: usdc.nullable().describe('Decimal USDC; null: no limit.'),
    hosts: z.array(z.string()).nullable().describe('null: the service of the profile.'),
    signed_24h: usdc,
    left_24h: usdc.nullable(),
  }),
);

export const walletLimitsSet = published(
  z.strictObject({
    profile: z.string().nullable().describe('null: for every profile without limits of its own.'),
    limits: z.record(z.string(), z.string().nullable()),
  }),
  { plan: plan({}) },
);
