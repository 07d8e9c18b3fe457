import * as z from 'zod';
import { address, atomicUsdc, network, plan, published, sol, usdc } from '../../spec/published.ts';

export const walletNew = published(z.strictObject({ address, keypair_file: z.string(), created: z.literal(true) }), {
  plan: plan({}),
});

export const walletShow = published(
  z.strictObject({
    address,
    keypair_file: z.string(),
    network,
    usdc_mint: address,
    usdc_account: address,
    pay_url: z.string().optional().describe('Solana Pay address of the wallet, for its QR code.'),
  }),
);

export const walletBalance = published(
  z.strictObject({ address, network, sol, lamports: z.int(), usdc, usdc_atomic: atomicUsdc }),
);

export const walletAirdrop = published(z.strictObject({ address, sol, usdc, transactions: z.array(z.string()) }), {
  plan: plan({}),
});

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
