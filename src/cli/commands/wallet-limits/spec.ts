import { command, option } from '../../spec/define.ts';

export const walletLimitsShow = command({
  name: 'wallet limits show',
  summary: 'The limits, and what is left of the day',
  isDefault: true,
  effect: 'reads',
  examples: ['farelock wallet limits'],
  result: { schema: async () => (await import('./result.ts')).walletLimitsShow },
  load: async () => (await import('./run.ts')).limitsShow,
});

export const walletLimitsSet = command({
  name: 'wallet limits set',
  summary: 'Set limits for every profile, or for the one that --profile names',
  options: [
    option('--per-call <usdc>', 'pay a call up to this without a question, or none'),
    option('--per-day <usdc>', 'sign no more than this in 24 hours, or none'),
    option('--booking <usdc>', 'pay a booking up to this, or none'),
    option('--hosts <hosts>', 'pay only these, separated by commas, or none'),
  ],
  effect: 'local',
  examples: ['farelock wallet limits set --per-day 25'],
  result: { schema: async () => (await import('./result.ts')).walletLimitsSet },
  load: async () => (await import('./run.ts')).limitsSet,
});
