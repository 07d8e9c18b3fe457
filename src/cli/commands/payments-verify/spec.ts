import { argument, command, option } from '../../spec/define.ts';
import { integerOption } from '../../spec/options.ts';

export const paymentsVerify = command({
  name: 'payments verify',
  summary: 'Check one payment, or the newest, on the cluster',
  arguments: [argument('[payment-id]')],
  options: [option('--limit <n>', 'how many to check', integerOption('--limit', 1, 1_000_000), 100)],
  effect: 'reads',
  examples: ['farelock payments verify', 'farelock payments verify pay_…'],
  result: { list: 'payments', schema: async () => (await import('./result.ts')).paymentsVerify },
  load: async () => (await import('./run.ts')).paymentsVerify,
});
