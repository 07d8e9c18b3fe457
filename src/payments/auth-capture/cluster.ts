import { systemClock } from '../../kernel/clock.ts';
import type { Cluster } from '../../solana/index.ts';
import { openRpcCluster } from '../../solana/rpc/index.ts';

/** Opens a cluster by JSON-RPC. A private one needs a test network's name and its own genesis hash. */
export const rpcCluster = (
  url: string,
  of: { network?: Cluster['network']; genesis?: string } = {},
): Promise<Cluster> => openRpcCluster({ urls: [url], clock: systemClock, ...of });
