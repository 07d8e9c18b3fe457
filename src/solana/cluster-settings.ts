import type { Address } from '@solana/kit';
import { type Problem, problem } from '../kernel/problems.ts';
import { farelock } from '../kernel/shell-word.ts';
import { shownUrl } from '../kernel/shown-url.ts';
import { type Cluster, MAINNET_USDC, SOLANA_NETWORKS, type SolanaNetwork } from './cluster.ts';

export interface ClusterSettings {
  /** JSON-RPC addresses of one cluster, the preferred one first; empty for the embedded cluster. */
  readonly rpcUrls: readonly string[];
  /** Where subscriptions go; null if web3.js derives it from the first RPC address. */
  readonly webSocketUrl: string | null;
  readonly commitment: 'confirmed' | 'finalized';
  /** The network's id in x402; null to find it by the cluster's first block. */
  readonly network: SolanaNetwork | null;
  /** The hash that the first block must have; null for that of any public network. */
  readonly genesis: string | null;
  /** Null for Circle's USDC of the network. */
  readonly usdcMint: Address | null;
  /** The escrow programs to trust by address, the one for new escrows first; empty for the embedded cluster's. */
  readonly escrowPrograms: readonly Address[];
  /** The most that one of our transactions bids for its place in a block, in lamports; null for the default. */
  readonly priorityFeeCap: bigint | null;
  /** Keys that are trusted not to replace a program. */
  readonly upgradeAuthorities: readonly Address[];
}

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

export function settingsOfMoniker(moniker: string): Partial<ClusterSettings> | null {
  if (moniker === 'embedded') return {};
  const url = moniker.includes('/') ? null : rpcUrl(moniker);
  if (url === null) return null;
  const name = (Object.keys(GENESIS_HASHES) as (keyof typeof GENESIS_HASHES)[]).find((one) => rpcUrl(one) === url);
  return { rpcUrls: [url], ...(name && { network: SOLANA_NETWORKS[name], genesis: GENESIS_HASHES[name] }) };
}

/** Refuses contradicting settings, above all mainnet's name, first block or USDC beside another network's. */
export function checkSettings({ network, genesis, usdcMint }: ClusterSettings): void {
  const isOf = genesis === null ? null : networkOfGenesis(genesis);
  if (network !== null && isOf !== null && isOf !== network) {
    throw invalid(`The genesis ${genesis} is that of ${nameOf(isOf)}, and the network is ${nameOf(network)}.`);
  }
  if (network === SOLANA_NETWORKS.mainnet && genesis !== null && isOf === null) {
    throw invalid('Mainnet has one first block, and the genesis that is named is another one.');
  }
  checkMint(isOf ?? network, usdcMint);
}

/** @throws Problem `cluster_settings_invalid` */
export function checkMint(network: SolanaNetwork | null, mint: Address | null): void {
  if (mint === null || network === null) return;
  if (network === SOLANA_NETWORKS.mainnet && mint !== MAINNET_USDC) {
    throw invalid(`On mainnet USDC is ${MAINNET_USDC}, not ${mint}.`);
  }
  if (network !== SOLANA_NETWORKS.mainnet && mint === MAINNET_USDC) {
    throw invalid(`${mint} is mainnet's USDC, and the network is ${nameOf(network)}.`);
  }
}

/** Checks a cluster's network by its first block. A private cluster needs a test network's name and its own genesis. */
export function networkHeldTo(
  address: string,
  found: string,
  { network, genesis }: Partial<Pick<ClusterSettings, 'network' | 'genesis'>>,
): SolanaNetwork {
  const { host } = new URL(address);
  if (genesis && genesis !== found) {
    throw problem('genesis_unexpected', {
      message: `The cluster at ${host} begins with the block ${found}, not with ${genesis}.`,
      detail: { host, expected: genesis, found },
    });
  }
  const isOf = networkOfGenesis(found);
  if (isOf !== null) {
    if (!network || network === isOf) return isOf;
    throw problem('genesis_unexpected', {
      message: `The cluster at ${host} is ${nameOf(isOf)}, not ${nameOf(network)}.`,
      detail: { host, expected: network, found: isOf },
    });
  }
  if (network && network !== SOLANA_NETWORKS.mainnet && genesis === found) return network;
  throw problem('cluster_failed', {
    message: `The cluster at ${host} is a private one (genesis ${found}).`,
    fix: 'x402 knows mainnet, devnet and testnet alone: say which of the last two it runs as, and name its genesis.',
    next: [farelock`cluster check --rpc-url ${shownUrl(address)} --network devnet --genesis ${found}`],
    detail: { host, genesis: found },
  });
}

export const nameOf = (network: string): string =>
  Object.entries(SOLANA_NETWORKS).find(([, id]) => id === network)?.[0] ?? network;

const invalid = (message: string): Problem => problem('cluster_settings_invalid', { message });

/** Genesis hashes of the public clusters; a CAIP-2 id is the first 32 characters. */
export const GENESIS_HASHES = {
  mainnet: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  devnet: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
  testnet: '4uhcVJyU9pJkvQyS88uRDiswHXSGkY3zQawwpjk2NsNY',
} as const;

/** The Solana CLI's monikers; it takes the first letters too. */
const MONIKERS = {
  'https://api.mainnet-beta.solana.com': ['mainnet', 'mainnet-beta', 'm'],
  'https://api.devnet.solana.com': ['devnet', 'd'],
  'https://api.testnet.solana.com': ['testnet', 't'],
  'http://127.0.0.1:8899': ['localhost', 'localnet', 'l'],
};

/** Returns the RPC address of a moniker, a URL as it is, and null for anything else. */
export function rpcUrl(monikerOrUrl: string): string | null {
  const known = Object.entries(MONIKERS).find(([, names]) => names.includes(monikerOrUrl));
  if (known) return known[0];
  return /^https?:\/\//.test(monikerOrUrl) && URL.canParse(monikerOrUrl) ? monikerOrUrl : null;
}

export const rpcNames = (list: string): string[] => list.split(/[\s,]+/).filter(Boolean);

/** The network whose first block hashes to `genesisHash`; null for a private cluster. */
export function networkOfGenesis(genesisHash: string): SolanaNetwork | null {
  const known = Object.entries(GENESIS_HASHES).find(([, hash]) => hash === genesisHash);
  return known ? SOLANA_NETWORKS[known[0] as keyof typeof SOLANA_NETWORKS] : null;
}

export function genesisOf(network: string): string | undefined {
  const name = Object.entries(SOLANA_NETWORKS).find(([, id]) => id === network)?.[0];
  return name && GENESIS_HASHES[name as keyof typeof GENESIS_HASHES];
}

/** The genesis hash of a cluster. The embedded one calls itself devnet, and uses its hash. */
export const genesisHashOf = ({ genesis, network }: Pick<Cluster, 'genesis' | 'network'>): string =>
  genesis ?? genesisOf(network) ?? '';
