import type { Command as Commander } from 'commander';
import type { ConfigKeyOptions, ConfigListOptions, ConfigSetOptions } from '../commands/config/run.ts';
import type { ProfileAddOptions, ProfileNameOptions } from '../commands/config-profile/run.ts';
import type { PaymentsResumeOptions } from '../commands/payments-resume/run.ts';
import type { PaymentsVerifyOptions } from '../commands/payments-verify/run.ts';
import type { WalletHistoryOptions } from '../commands/wallet-history/run.ts';
import type { LimitsSetOptions } from '../commands/wallet-limits/run.ts';
import type { Command } from './context.ts';
import { integerOption } from './options.ts';

type Runs = <O extends object>(
  load: () => Promise<Command<O>>,
) => (this: Commander, ...given: unknown[]) => void;

const settings = () => import('../commands/config/run.ts');
const profiles = () => import('../commands/config-profile/run.ts');

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

/** `wallet limits` and `wallet history`: what may be signed, and what was. */
export function addLimitCommands(wallet: Commander, runs: Runs): void {
  wallet
    .command('history')
    .description('What moved the USDC of the wallet, as the cluster has it')
    .option('--limit <n>', 'how many', integerOption('--limit', 1, 1000), 20)
    .action(
      runs<WalletHistoryOptions>(
        async () => (await import('../commands/wallet-history/run.ts')).walletHistory,
      ),
    );
  const limits = wallet.command('limits').description('What may be signed without you, and at all');
  limits
    .command('show', { isDefault: true })
    .description('The limits, and what is left of the day')
    .action(runs<object>(async () => (await import('../commands/wallet-limits/run.ts')).limitsShow));
  limits
    .command('set')
    .description('Set limits for every profile, or for the one that --profile names')
    .option('--per-call <usdc>', 'pay a call up to this without a question, or none')
    .option('--per-day <usdc>', 'sign no more than this in 24 hours, or none')
    .option('--booking <usdc>', 'pay a booking up to this, or none')
    .option('--hosts <hosts>', 'pay only these, separated by commas, or none')
    .action(runs<LimitsSetOptions>(async () => (await import('../commands/wallet-limits/run.ts')).limitsSet));
}

/** `payments verify` and `payments resume`. */
export function addPaymentChecks(payments: Commander, runs: Runs): void {
  payments
    .command('verify [payment-id]')
    .description('Hold one payment, or the newest, against the cluster')
    .option('--limit <n>', 'how many', integerOption('--limit', 1, 1_000_000), 100)
    .action(
      runs<PaymentsVerifyOptions>(
        async () => (await import('../commands/payments-verify/run.ts')).paymentsVerify,
      ),
    );
  payments
    .command('resume <payment-id>')
    .description('Send an unanswered payment again; nothing new is signed')
    .action(
      runs<PaymentsResumeOptions>(
        async () => (await import('../commands/payments-resume/run.ts')).paymentsResume,
      ),
    );
}
