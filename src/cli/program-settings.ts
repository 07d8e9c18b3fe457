import type { Command as Commander } from 'commander';
import type { ConfigKeyOptions, ConfigListOptions, ConfigSetOptions } from './commands/config.ts';
import type { ProfileAddOptions, ProfileNameOptions } from './commands/config-profile.ts';
import type { Command } from './context.ts';

type Runs = <O extends object>(
  load: () => Promise<Command<O>>,
) => (this: Commander, ...given: unknown[]) => void;

const settings = () => import('./commands/config.ts');
const profiles = () => import('./commands/config-profile.ts');

/** `config`: settings and profiles. */
export function addConfigCommands(program: Commander, runs: Runs): void {
  const config = program.command('config').description('Settings and profiles');
  config
    .command('list')
    .description('The settings in effect')
    .option('--show-origin', 'the flag, variable or file that each comes from')
    .action(runs<ConfigListOptions>(async () => (await settings()).configList));
  config
    .command('get <key>')
    .description('One setting in effect')
    .action(runs<ConfigKeyOptions>(async () => (await settings()).configGet));
  config
    .command('set <key> <value>')
    .description('Set it in the profile in use; a key only with - from standard input')
    .action(runs<ConfigSetOptions>(async () => (await settings()).configSet));
  config
    .command('unset <key>')
    .description('Take a setting of the profile in use away')
    .action(runs<ConfigKeyOptions>(async () => (await settings()).configUnset));

  const profile = config.command('profile').description('Services that commands can be pointed at');
  profile
    .command('list', { isDefault: true })
    .description('The profiles that there are')
    .action(runs<object>(async () => (await profiles()).profileList));
  profile
    .command('add <name>')
    .description('Add a profile; --keypair names its wallet')
    .option('--flights-url <url>', 'address of the flight service')
    .option('--partner-url <url>', 'address of the partner service')
    .option('--rpc-url <url>', 'address of the Solana cluster')
    .option('--cluster <moniker>', 'mainnet-beta, devnet, testnet, localhost, or solana-config')
    .option('--api-key-file <path>', 'file with the API key of the partner service')
    .option('--customer-token-file <path>', 'file with the token of one customer')
    .option('--operator-key-file <path>', 'file with the key of the operator API')
    .option('--use', 'make it the profile in use')
    .action(runs<ProfileAddOptions>(async () => (await profiles()).profileAdd));
  profile
    .command('use <name>')
    .description('Make it the profile of commands that name none')
    .action(runs<ProfileNameOptions>(async () => (await profiles()).profileUse));
  profile
    .command('remove <name>')
    .description('Remove a profile')
    .action(runs<ProfileNameOptions>(async () => (await profiles()).profileRemove));
}
