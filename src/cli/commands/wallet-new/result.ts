import * as z from 'zod';
import { address, plan, published } from '../../spec/published.ts';

export const walletNew = published(
  z.strictObject({ address, keypair_file: z.string(), created: z.literal(true) }),
  { plan: plan({}) },
);
