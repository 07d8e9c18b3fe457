import { argument, command, option } from '../../spec/define.ts';
import { integerOption } from '../../spec/options.ts';
import { ACTING_PARTNER, IN_LIVE } from '../../spec/partner-options.ts';

export const partnerOrdersApply = command({
  name: 'partner orders apply',
  summary: 'Update many orders from CSV or NDJSON, - for standard input; each row once',
  arguments: [argument('<file>')],
  options: [
    option('--results <file>', 'where to write a line for each row (<file>.results.ndjson)'),
    option('--concurrency <n>', 'how many orders at once', integerOption('--concurrency', 1, 64), 8),
    option('--retry-failed', 'also send rows that were refused or held back before'),
    ACTING_PARTNER,
    IN_LIVE,
  ],
  effect: 'changes',
  examples: ['farelock partner orders apply updates.csv --dry-run'],
  result: { schema: async () => (await import('./result.ts')).partnerOrdersApply },
  load: async () => (await import('./run.ts')).ordersApply,
});
