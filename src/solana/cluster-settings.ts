import type { Address } from '@solana/kit';
import type { SolanaNetwork } from './cluster.ts';

/** Everything that a person or an operator can say about a cluster. A service, a profile and `cluster` take the same. */
export interface ClusterSettings {
  /** Addresses of the JSON-RPC of one cluster, the preferred one first. None: the embedded cluster. */
  readonly rpcUrls: readonly string[];
  /** Where subscriptions go; null: where web3.js looks for them beside the first RPC address. */
  readonly webSocketUrl: string | null;
  /** How certain a read must be. */
  readonly commitment: 'confirmed' | 'finalized';
  /** The id that x402 names the network by; null: by the cluster's first block. */
  readonly network: SolanaNetwork | null;
  /** The hash of the first block, which no other cluster is taken for; null: any of a public network. */
  readonly genesis: string | null;
  /** null: Circle's USDC of the network. */
  readonly usdcMint: Address | null;
  /** Escrow programs that are known by name, the one for new escrows first. None: the embedded cluster's. */
  readonly escrowPrograms: readonly Address[];
  /** The most that a transaction of ours bids for its place in a block, in lamports; null: the usual. */
  readonly priorityFeeCap: bigint | null;
  /** Keys that are trusted not to replace a program by another one. */
  readonly upgradeAuthorities: readonly Address[];
}

/** The embedded cluster's, without a word from anybody. */
export const EMBEDDED_CLUSTER: ClusterSettings = {
  rpcUrls: [],
  webSocketUrl: null,
  commitment: 'confirmed',
  network: null,
  genesis: null,
  usdcMint: null,
  escrowPrograms: [],
  priorityFeeCap: null,
  upgradeAuthorities: [],
};
