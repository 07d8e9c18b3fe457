import { argument, command, option } from '../../spec/define.ts';
import { addressOption } from '../../spec/options.ts';

export const intentVerify = command({
  name: 'intent verify',
  summary: 'Check the escrow on chain, and that its refunds come to you',
  arguments: [argument('<intent-id>')],
  options: [
    option(
      '--refund-wallet <address>',
      'accept this refund wallet, even though it is not yours',
      addressOption('--refund-wallet'),
    ),
  ],
  effect: 'reads',
  examples: ['farelock intent verify int_…'],
  result: { schema: async () => (await import('./result.ts')).intentVerify },
  load: async () => (await import('./run.ts')).intentVerify,
});
