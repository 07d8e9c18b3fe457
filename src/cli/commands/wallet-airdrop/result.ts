import * as z from 'zod';
import { address, plan, sol, usdc } from '../../../published/parts.ts';
import { published } from '../../../published/published.ts';

export const walletAirdrop = published(
  z.strictObject({ address, sol, usdc, transactions: z.array(z.string()) }),
  { plan: plan({}) },
);
