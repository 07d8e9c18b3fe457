import { argument, command, option } from '../../spec/define.ts';
import { addressOption } from '../../spec/options.ts';

export const refundClaim = command({
  name: 'refund claim',
  summary: 'Send an overdue escrow back from the chain; operators: take a case, or give it back',
  arguments: [argument('<id>', 'of the intent; operators: a number of the queue, or an id')],
  options: [
    option('--release', 'give it back'),
    option('--force', 'with --release: also when another operator has it'),
    option(
      '--refund-wallet <address>',
      'of a closed escrow: whose the money is, where this home did not make it',
      addressOption('--refund-wallet'),
    ),
  ],
  effect: 'changes',
  examples: ['farelock refund claim int_…', 'farelock refund claim 1'],
  result: { schema: async () => (await import('./result.ts')).refundClaim },
  cutOff: { look: 'refund show {id}' },
  load: async () => (await import('./run.ts')).refundClaim,
});
