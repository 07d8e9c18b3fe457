import type { Address } from '@solana/kit';
import { type Cluster, DEVNET_USDC, MAINNET_USDC, SOLANA_NETWORKS } from '../../solana/cluster.ts';

/** The USDC of a network. */
export const usdcMintOf = (network: Cluster['network']): Address =>
  network === SOLANA_NETWORKS.mainnet ? MAINNET_USDC : DEVNET_USDC;

/** Where a wallet holds its USDC on a cluster. */
export async function usdcOf(
  cluster: Cluster,
  owner: Address,
): Promise<{ network: string; mint: Address; usdcAccount: Address }> {
  const { associatedTokenAddress } = await import('../../solana/token.ts');
  const mint = usdcMintOf(cluster.network);
  return { network: cluster.network, mint, usdcAccount: await associatedTokenAddress(owner, mint) };
}
