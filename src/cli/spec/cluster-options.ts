import { option } from './define.ts';

export const clusterRpcUrl = option(
  '--rpc-url <url>',
  "RPC address, or devnet, testnet, mainnet, localhost (or FARELOCK_RPC_URL; default: this home's own cluster)",
);
