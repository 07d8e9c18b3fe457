import * as z from 'zod';
import { address, atomicUsdc, instant, network, plan, published, sol, usdc } from '../../spec/published.ts';

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

const movement = z.strictObject({
  transaction: z.string(),
  at: instant.nullable(),
  change: z
    .string()
    .regex(/^[+-]?\d+(\.\d{1,6})?$/)
    .nullable()
    .describe('Decimal USDC with its sign; null for a transaction that failed.'),
  memo: z.string().nullable(),
  payment_id: z.string().nullable(),
  resource: z.string().nullable(),
  purpose: z.string().nullable().describe('What moved the money, in words; null where nothing is known of it.'),
});

export type HistoryEntry = z.infer<typeof movement>;

export const walletHistory = published(z.strictObject({ history: z.array(movement) }));

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
