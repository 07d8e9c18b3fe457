import type { Clock } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import type { Cluster } from '../../solana/cluster.ts';
import type { Profile } from './profile.ts';

/** The cluster that a profile names. @throws Problem `usage`, `cluster_failed` */
export async function openRemoteCluster(profile: Profile, clock: Clock): Promise<Cluster> {
  const { openRpcCluster } = await import('../../solana/rpc/open.ts');
  return openRpcCluster({ url: rpcUrlOf(profile), clock, commitment: profile.commitment });
}

/** @throws Problem `usage` for a profile without one */
export function rpcUrlOf(profile: Profile): string {
  if (profile.rpcUrl !== null) return profile.rpcUrl;
  throw problem('usage', {
    message: `Profile ${profile.name} names no Solana cluster.`,
    fix: 'Set FARELOCK_RPC_URL (of a farelock serve: its address and /rpc), or rpc_url of the profile.',
  });
}
