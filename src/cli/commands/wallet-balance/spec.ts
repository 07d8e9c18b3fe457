import { command } from '../../spec/define.ts';

export const walletBalance = command({
  name: 'wallet balance',
  summary: 'Show the SOL and USDC on the cluster',
  effect: 'reads',
  examples: ['farelock wallet balance --json usdc'],
  result: { schema: async () => (await import('./result.ts')).walletBalance },
  load: async () => (await import('./run.ts')).walletBalance,
});
