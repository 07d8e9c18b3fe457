import { argument, collected, command, option } from '../../spec/index.ts';

export const configList = command({
  name: 'config list',
  summary: 'List the settings in effect',
  options: [option('--show-origin', 'show the flag, variable or file each one comes from')],
  effect: 'reads',
  examples: ['farelock config list --show-origin'],
  list: 'settings',
});

export const configShow = command({
  name: 'config show',
  summary: 'Show the settings that are set, and where; secrets are never shown',
  options: [option('--effective', 'show every setting, with the value in effect')],
  effect: 'reads',
  examples: ['farelock config show', 'farelock config show --effective --json'],
  list: 'settings',
});

export const configGet = command({
  name: 'config get',
  summary: 'Show one setting',
  arguments: [argument('<key>')],
  effect: 'reads',
  examples: ['farelock config get flights_url'],
});

export const configSet = command({
  name: 'config set',
  summary: 'Change a setting of the profile in use; keys are read from standard input with -',
  arguments: [argument('<key>'), argument('<value>')],
  effect: 'local',
  examples: ['farelock config set flights_url https://flights.example'],
});

export const configUnset = command({
  name: 'config unset',
  summary: 'Remove a setting from the profile in use',
  arguments: [argument('<key>')],
  effect: 'local',
  examples: ['farelock config unset rpc_url'],
});

export const configProfileList = command({
  name: 'config profile list',
  summary: 'List the profiles',
  isDefault: true,
  effect: 'reads',
  examples: ['farelock config profile'],
  list: 'profiles',
});

export const configProfileAdd = command({
  name: 'config profile add',
  summary: 'Add a profile; --keypair names its wallet',
  arguments: [argument('<name>')],
  options: [
    option('--flights-url <url>', 'address of the flight service'),
    option('--partner-url <url>', 'address of the partner service'),
    option('--rpc-url <url>', 'address of the Solana cluster; repeatable', collected),
    option('--cluster <moniker>', 'mainnet, devnet, testnet, localhost, or solana-config'),
    option('--network <name>', 'the network to expect: mainnet, devnet or testnet'),
    option('--genesis <hash>', 'expected hash of the first block of the cluster'),
    option('--escrow-program <address>', 'escrow program to pay into, by name'),
    option('--api-key-file <path>', 'file with the API key of the partner service'),
    option('--customer-token-file <path>', 'file with the token of one customer'),
    option('--operator-key-file <path>', 'file with the key of the operator API'),
    option('--use', 'make it the profile in use'),
  ],
  effect: 'local',
  examples: ['farelock config profile add staging --flights-url https://flights.example'],
});

export const configProfileUse = command({
  name: 'config profile use',
  summary: 'Make it the default profile',
  arguments: [argument('<name>')],
  effect: 'local',
  examples: ['farelock config profile use staging'],
});

export const configProfileRemove = command({
  name: 'config profile remove',
  summary: 'Remove a profile',
  arguments: [argument('<name>')],
  effect: 'local',
  examples: ['farelock config profile remove staging'],
});
