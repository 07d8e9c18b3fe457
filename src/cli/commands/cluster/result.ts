import * as z from 'zod';
import { address, instant, network, plan, published, signature, sol, usdc } from '../../spec/published.ts';

const role = z.enum(['authority', 'facilitator', 'treasury']);

const state = z
  .enum(['next', 'current', 'old', 'retired'])
  .describe('next: made, and not used yet. old: still alive for what began under it.');

const wallet = z.strictObject({
  role,
  state,
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
        .enum(['shipped', 'previous', 'different', 'absent', 'not_a_program'])
        .describe('shipped: the very bytes of this version; previous: those of the one before.'),
      upgrade_authority: address.nullable().describe('Who can replace it; null: no one.'),
      slot: z.int().nullable().describe('Of the last deploy; null: there is no program.'),
      size: z.int().nullable().describe('Room for code, bytes.'),
    }),
    sbpf: z
      .strictObject({
        version: z.int().describe('Of the shipped program.'),
        state: z.enum(['active', 'pending', 'absent']).describe('pending: it can be deployed from the next epoch on.'),
        node: z.string().nullable().describe('The version of the software of the node; null: it does not say.'),
      })
      .describe('Whether the cluster can deploy the shipped program.'),
    mint: z.strictObject({ address, decimals: z.int().nullable().describe('null: there is no such mint.') }),
    wallets: z.array(wallet),
  }),
);

export const clusterKeys = published(
  z.strictObject({
    network,
    wallets: z.array(wallet),
    ring: z
      .array(z.strictObject({ id: z.string(), state }))
      .describe('Keys that seal private fields, once they rotated.'),
  }),
  { plan: plan({}) },
);

export const clusterRotate = published(
  z.strictObject({
    key: z.enum(['authority', 'facilitator', 'service']),
    keys: z.array(
      z.strictObject({
        name: z.string().describe('An address; of the key ring the id of a key.'),
        state,
        since: instant.nullable(),
        file: z.string().describe('Under the home.'),
        is_here: z.boolean(),
      }),
    ),
    older: z
      .strictObject({
        open_escrows: z.int().describe('Under it, with money or waiting for it.'),
        unclosed_escrows: z.int().describe('Ended ones: closed about 30 days later, which gives their rent back.'),
        open_payouts: z.int(),
        can_replace: address.nullable().describe('The escrow program whose upgrade authority it is.'),
        paid_at: instant.nullable().describe('A moment ago it paid for a transaction.'),
        sol: sol.describe('What it holds.'),
        may_retire: z.boolean(),
      })
      .nullable()
      .describe('What the older key is still needed for; null: there is none, or it stays.'),
    next: z.string().nullable().describe('The step after this one; null: nothing is under way.'),
  }),
  { plan: plan({}) },
);

export const clusterFund = published(
  z.strictObject({ network, funded: z.array(z.strictObject({ role, address, sol, transaction: signature })) }),
  { plan: plan({}) },
);

const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('sha256 of the code.');

export const clusterDeploy = published(
  z.strictObject({
    status: z.enum(['deployed', 'upgraded', 'finalised', 'unchanged']),
    network,
    program: address.describe('The address to set for a service.'),
    upgrade_authority: address.nullable().describe('Who can replace it; null: no one, ever.'),
    sha256,
    size: z.int().describe('Room for code, bytes.'),
    slot: z.int(),
  }),
  {
    others: {
      aborted: z.strictObject({
        status: z.literal('aborted'),
        network,
        buffers: z.array(z.strictObject({ buffer: address, sol })),
        reclaimed: sol.describe('Rent that came back.'),
      }),
    },
    plan: plan({
      network: network.optional(),
      kind: z.enum(['deploy', 'upgrade']).optional(),
      is_resumed: z.boolean().optional().describe('It was begun before.'),
      program: address.nullable().optional().describe('null: a new address, which is made when it is done.'),
      payer: address.optional(),
      sha256: sha256.optional(),
      transactions: z.int().optional(),
      rent: sol.optional().describe('Locked in the program.'),
      fees: sol.optional().describe('Of all transactions that are left, if none is repeated.'),
      needed: sol.optional().describe('What the payer has to hold now.'),
      balance: sol.optional(),
    }),
  },
);
