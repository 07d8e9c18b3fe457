import { command, option } from '../../spec/define.ts';
import { integerOption } from '../../spec/options.ts';

export const walletHistory = command({
  name: 'wallet history',
  summary: 'List USDC moving in and out of the wallet, from the cluster',
  options: [option('--limit <n>', 'how many to show', integerOption('--limit', 1, 1000), 20)],
  effect: 'reads',
  examples: ['farelock wallet history'],
  result: { list: 'history', schema: async () => (await import('./result.ts')).walletHistory },
  load: async () => (await import('./run.ts')).walletHistory,
});
