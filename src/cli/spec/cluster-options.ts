import { option } from './command.ts';
import { collected } from './options.ts';

/** The options that name a cluster; each has a variable, and a key in the file of a cluster. */
export const clusterOptions = [
  option(
    '--cluster <name|file>',
    'mainnet, devnet, testnet, localhost, or a JSON file of settings (or FARELOCK_CLUSTER)',
  ),
  option('--rpc-url <url>', 'RPC address of the cluster; repeatable (or FARELOCK_RPC_URL)', collected),
  option('--network <name>', 'mainnet, devnet or testnet: what the cluster has to be, or a private one runs as'),
  option('--genesis <hash>', 'hash of the first block that the cluster has to have'),
  option('--usdc-mint <address>', "mint of the USDC there (default: Circle's)"),
] as const;
