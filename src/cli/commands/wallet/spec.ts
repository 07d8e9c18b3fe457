import { command, option, solOption, usdcOption } from '../../spec/index.ts';

export const walletNew = command({
  name: 'wallet new',
  summary: 'Create a wallet (keypair file)',
  effect: 'local',
  examples: ['farelock wallet new'],
});

export const walletShow = command({
  name: 'wallet show',
  summary: 'Show the address, file and network of the wallet',
  options: [option('--qr [usdc]', 'show a QR code of the address, or of a request to pay this amount', usdcOption)],
  effect: 'reads',
  examples: ['farelock wallet show', 'farelock wallet show --qr', 'farelock wallet show --qr 25'],
});

export const walletBalance = command({
  name: 'wallet balance',
  summary: 'Show the SOL and USDC on the cluster',
  effect: 'reads',
  examples: ['farelock wallet balance --json usdc'],
});

export const walletAirdrop = command({
  name: 'wallet airdrop',
  summary: 'Get play money from the faucet of the embedded cluster',
  options: [
    option('--sol <amount>', 'SOL (default 1)', solOption),
    option('--usdc <amount>', 'USDC (default 1000)', usdcOption),
  ],
  effect: 'changes',
  examples: ['farelock wallet airdrop --usdc 500'],
  cutOff: { said: 'The play money may have been given.', look: 'wallet balance' },
});

export const walletLimitsShow = command({
  name: 'wallet limits show',
  summary: 'Show the limits and what is left for today',
  isDefault: true,
  effect: 'reads',
  examples: ['farelock wallet limits'],
});

export const walletLimitsSet = command({
  name: 'wallet limits set',
  summary: 'Set limits for every profile, or for the one named with --profile',
  options: [
    option('--per-call <usdc>', 'pay up to this per call without asking, or none'),
    option('--per-day <usdc>', 'sign at most this in 24 hours, or none'),
    option('--booking <usdc>', 'pay at most this for a booking, or none'),
    option('--hosts <hosts>', 'pay only these hosts, separated by commas, or none'),
  ],
  effect: 'local',
  examples: ['farelock wallet limits set --per-day 25'],
});
