import * as z from 'zod';
import { address, atomicUsdc, network, sol, usdc } from '../../../published/parts.ts';
import { published } from '../../../published/published.ts';

export const walletBalance = published(
  z.strictObject({
    address,
    network,
    sol,
    lamports: z.int(),
    usdc,
    usdc_atomic: atomicUsdc,
  }),
);
