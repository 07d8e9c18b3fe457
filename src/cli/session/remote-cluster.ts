import type { Clock } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import { type Cluster, SOLANA_NETWORKS } from '../../solana/cluster.ts';
import type { Terminal } from '../screen/terminal.ts';
import type { Profile } from './profile.ts';

/** The cluster that a profile names. @throws Problem `usage`, `cluster_failed`, `genesis_unexpected` */
export async function openRemoteCluster(
  profile: Profile,
  clock: Clock,
  terminal: Pick<Terminal, 'realMoney'>,
): Promise<Cluster> {
  const { openRpcCluster } = await import('../../solana/rpc/open.ts');
  const cluster = await openRpcCluster({ ...profile, urls: rpcUrlsOf(profile), clock });
  if (cluster.network === SOLANA_NETWORKS.mainnet) terminal.realMoney();
  return cluster;
}

/** @throws Problem `usage` for a profile without one */
export function rpcUrlsOf(profile: Profile): readonly string[] {
  if (profile.rpcUrls.length > 0) return profile.rpcUrls;
  throw problem('usage', {
    message: `Profile ${profile.name} names no Solana cluster.`,
    fix: 'Set FARELOCK_RPC_URL (of a farelock serve: its address and /rpc), or rpc_url of the profile.',
  });
}
