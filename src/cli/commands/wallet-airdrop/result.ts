import * as z from 'zod';
import { address, plan, published, sol, usdc } from '../../spec/published.ts';

export const walletAirdrop = published(
  z.strictObject({ address, sol, usdc, transactions: z.array(z.string()) }),
  { plan: plan({}) },
);
