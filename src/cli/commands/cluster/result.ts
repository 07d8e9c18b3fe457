import * as z from 'zod';
import { address, network, plan, published, signature, sol, usdc } from '../../spec/published.ts';

const role = z.enum(['authority', 'facilitator', 'treasury']);

const wallet = z.strictObject({
  role,
  address,
  sol,
  needs_sol: sol.describe('What it has to hold before a service starts.'),
  is_enough: z.boolean(),
  usdc: usdc.nullable().describe('null: it has no token account yet.'),
});

export const clusterCheck = published(
  z.strictObject({
    status: z.enum(['ok', 'failed']),
    network,
    program: z.strictObject({
      address,
      status: z
        .enum(['shipped', 'different', 'absent', 'not_a_program'])
        .describe('shipped: the very bytes of this version.'),
      upgrade_authority: address.nullable().describe('Who can replace it; null: nobody.'),
      slot: z.int().nullable().describe('Of the last deploy; null: there is no program.'),
      size: z.int().nullable().describe('Room for code, bytes.'),
    }),
    mint: z.strictObject({
      address,
      decimals: z.int().nullable().describe('null: there is no such mint.'),
    }),
    wallets: z.array(wallet),
  }),
);

export const clusterKeys = published(z.strictObject({ network, wallets: z.array(wallet) }), {
  plan: plan({}),
});

export const clusterFund = published(
  z.strictObject({
    network,
    funded: z.array(z.strictObject({ role, address, sol, transaction: signature })),
  }),
  { plan: plan({}) },
);
