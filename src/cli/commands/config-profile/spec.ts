import { argument, command, option } from '../../spec/define.ts';
import { collected } from '../../spec/options.ts';

export const configProfileList = command({
  name: 'config profile list',
  summary: 'List the profiles',
  isDefault: true,
  effect: 'reads',
  examples: ['farelock config profile'],
  result: { list: 'profiles', schema: async () => (await import('./result.ts')).configProfileList },
  load: async () => (await import('./run.ts')).profileList,
});

export const configProfileAdd = command({
  name: 'config profile add',
  summary: 'Add a profile; --keypair names its wallet',
  arguments: [argument('<name>')],
  options: [
    option('--flights-url <url>', 'address of the flight service'),
    option('--partner-url <url>', 'address of the partner service'),
    option('--rpc-url <url>', 'address of the Solana cluster; repeatable', collected),
    option('--cluster <moniker>', 'mainnet-beta, devnet, testnet, localhost, or solana-config'),
    option('--network <name>', 'mainnet, devnet or testnet: what the cluster has to be'),
    option('--genesis <hash>', 'hash of the first block that the cluster has to have'),
    option('--escrow-program <address>', 'escrow program to pay into, by name'),
    option('--api-key-file <path>', 'file with the API key of the partner service'),
    option('--customer-token-file <path>', 'file with the token of one customer'),
    option('--operator-key-file <path>', 'file with the key of the operator API'),
    option('--use', 'make it the profile in use'),
  ],
  effect: 'local',
  examples: ['farelock config profile add staging --flights-url https://flights.example'],
  result: { schema: async () => (await import('./result.ts')).configProfileAdd },
  load: async () => (await import('./run.ts')).profileAdd,
});

export const configProfileUse = command({
  name: 'config profile use',
  summary: 'Make it the default profile',
  arguments: [argument('<name>')],
  effect: 'local',
  examples: ['farelock config profile use staging'],
  result: { schema: async () => (await import('./result.ts')).configProfileUse },
  load: async () => (await import('./run.ts')).profileUse,
});

export const configProfileRemove = command({
  name: 'config profile remove',
  summary: 'Remove a profile',
  arguments: [argument('<name>')],
  effect: 'local',
  examples: ['farelock config profile remove staging'],
  result: { schema: async () => (await import('./result.ts')).configProfileRemove },
  load: async () => (await import('./run.ts')).profileRemove,
});
