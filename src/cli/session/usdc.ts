import type { Address } from '@solana/kit';
import { type Cluster, loadToken } from '../../solana/index.ts';

/** Where a wallet holds its USDC on a cluster. */
export async function usdcOf(
  { network, usdcMint: mint }: Pick<Cluster, 'network' | 'usdcMint'>,
  owner: Address,
): Promise<{ network: string; mint: Address; usdcAccount: Address }> {
  const { associatedTokenAddress } = await loadToken();
  return { network, mint, usdcAccount: await associatedTokenAddress(owner, mint) };
}
