import { command, option } from '../../spec/define.ts';

export const walletLimitsShow = command({
  name: 'wallet limits show',
  summary: 'Show the limits and what is left for today',
  isDefault: true,
  effect: 'reads',
  examples: ['farelock wallet limits'],
  result: { schema: async () => (await import('./result.ts')).walletLimitsShow },
  load: async () => (await import('./run.ts')).limitsShow,
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
  result: { schema: async () => (await import('./result.ts')).walletLimitsSet },
  load: async () => (await import('./run.ts')).limitsSet,
});
