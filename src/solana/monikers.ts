import { SOLANA_NETWORKS, type SolanaNetwork } from './cluster.ts';

/** Genesis hashes of the public clusters; a CAIP-2 id is the first 32 characters. */
export const GENESIS_HASHES = {
  mainnet: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  devnet: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
  testnet: '4uhcVJyU9pJkvQyS88uRDiswHXSGkY3zQawwpjk2NsNY',
} as const;

const MONIKER_URLS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    mainnet: 'https://api.mainnet-beta.solana.com',
    'mainnet-beta': 'https://api.mainnet-beta.solana.com',
    devnet: 'https://api.devnet.solana.com',
    testnet: 'https://api.testnet.solana.com',
    localhost: 'http://127.0.0.1:8899',
    localnet: 'http://127.0.0.1:8899',
    // The Solana CLI takes the first letters too.
    m: 'https://api.mainnet-beta.solana.com',
    d: 'https://api.devnet.solana.com',
    t: 'https://api.testnet.solana.com',
    l: 'http://127.0.0.1:8899',
  }),
);

/** The RPC address of a moniker (as in the Solana CLI); a URL is returned as it is; else null. */
export function rpcUrl(monikerOrUrl: string): string | null {
  const known = MONIKER_URLS.get(monikerOrUrl);
  if (known) return known;
  return /^https?:\/\//.test(monikerOrUrl) && URL.canParse(monikerOrUrl) ? monikerOrUrl : null;
}

/** The addresses or monikers of a list: they stand between commas or line ends. */
export const rpcNames = (list: string): string[] => list.split(/[\s,]+/).filter(Boolean);

/** The network whose first block hashes to `genesisHash`; null for a private cluster. */
export function networkOfGenesis(genesisHash: string): SolanaNetwork | null {
  const known = Object.entries(GENESIS_HASHES).find(([, hash]) => hash === genesisHash);
  return known ? SOLANA_NETWORKS[known[0] as keyof typeof SOLANA_NETWORKS] : null;
}
