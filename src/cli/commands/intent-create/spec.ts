import { argument, command, option } from '../../spec/define.ts';
import { addressOption } from '../../spec/options.ts';

export const intentCreate = command({
  name: 'intent create',
  summary: 'Lock a fare and open its escrow (paid, 0.10 USDC); `intent <offer-id>` for short',
  isDefault: true,
  arguments: [argument('<offer-id>')],
  options: [
    option(
      '--refund-wallet <address>',
      'where refunds go (default: the paying wallet)',
      addressOption('--refund-wallet'),
    ),
    option('--referrer <code>', 'affiliate code'),
  ],
  effect: 'pays',
  examples: [
    'farelock intent 1',
    'farelock intent create off_… --refund-wallet 7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU',
  ],
  result: { schema: async () => (await import('./result.ts')).intentCreate },
  load: async () => (await import('./run.ts')).intentCreate,
});
