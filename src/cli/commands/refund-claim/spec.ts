import { argument, command, option } from '../../spec/define.ts';
import { addressOption } from '../../spec/options.ts';

export const refundClaim = command({
  name: 'refund claim',
  summary: 'Claim back an overdue escrow; operators: claim a case or release it',
  arguments: [argument('<id>', 'intent id; operators: row number in the queue, or id')],
  options: [
    option('--release', 'give it back'),
    option('--force', 'with --release: even if another operator has it'),
    option(
      '--refund-wallet <address>',
      'refund wallet of a closed escrow that was not created on this machine',
      addressOption('--refund-wallet'),
    ),
  ],
  effect: 'changes',
  examples: ['farelock refund claim int_…', 'farelock refund claim 1'],
  result: { schema: async () => (await import('./result.ts')).refundClaim },
  cutOff: { look: 'refund show {id}' },
  load: async () => (await import('./run.ts')).refundClaim,
});
