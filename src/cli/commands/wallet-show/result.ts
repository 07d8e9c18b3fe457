import * as z from 'zod';
import { address, network, published } from '../../spec/published.ts';

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
