import * as z from 'zod';
import { address, atomicUsdc, network, published, sol, usdc } from '../../spec/published.ts';

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
