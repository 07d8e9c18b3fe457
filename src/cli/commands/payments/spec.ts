import { argument, command, option } from '../../spec/define.ts';
import { integerOption } from '../../spec/options.ts';

export const paymentsList = command({
  name: 'payments list',
  summary: 'List payments made from here, newest first',
  options: [option('--limit <n>', 'how many to show', integerOption('--limit', 1, 1_000_000), 100)],
  effect: 'reads',
  examples: ['farelock payments list --limit 20'],
  result: { list: 'payments', schema: async () => (await import('./result.ts')).paymentsList },
  load: async () => (await import('./run.ts')).paymentsList,
});

export const paymentsShow = command({
  name: 'payments show',
  summary: 'Show one payment',
  arguments: [argument('<payment-id>')],
  effect: 'reads',
  examples: ['farelock payments show pay_…'],
  result: { schema: async () => (await import('./result.ts')).paymentsShow },
  load: async () => (await import('./run.ts')).paymentsShow,
});
