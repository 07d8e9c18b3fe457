import { argument, command } from '../../spec/define.ts';

export const paymentsResume = command({
  name: 'payments resume',
  summary: 'Send an unanswered payment again; nothing new is signed',
  arguments: [argument('<payment-id>')],
  effect: 'pays',
  examples: ['farelock payments resume pay_…'],
  result: { schema: async () => (await import('./result.ts')).paymentsResume },
  load: async () => (await import('./run.ts')).paymentsResume,
});
