import { argument, command, option } from '../../spec/define.ts';
import { integerOption } from '../../spec/options.ts';

export const paymentsList = command({
  name: 'payments list',
  summary: 'Payments made from here, newest first',
  options: [option('--limit <n>', 'how many', integerOption('--limit', 1, 1_000_000), 100)],
  effect: 'reads',
  examples: ['farelock payments list --limit 20'],
  result: {
    fields: [
      'payment_id',
      'state',
      'open',
      'answer_kept',
      'host',
      'resource',
      'wallet',
      'amount',
      'asset',
      'pay_to',
      'network',
      'transaction',
      'error_code',
      'created_at',
      'updated_at',
    ],
    schema: async () => (await import('./result.ts')).paymentsList,
  },
  load: async () => (await import('./run.ts')).paymentsList,
});

export const paymentsShow = command({
  name: 'payments show',
  summary: 'One payment',
  arguments: [argument('<payment-id>')],
  effect: 'reads',
  examples: ['farelock payments show pay_…'],
  result: {
    fields: [],
    schema: async () => (await import('./result.ts')).paymentsShow,
  },
  load: async () => (await import('./run.ts')).paymentsShow,
});
