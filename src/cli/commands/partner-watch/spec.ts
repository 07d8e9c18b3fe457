import { argument, command, option } from '../../spec/define.ts';
import { durationOption } from '../../spec/options.ts';
import { ACTING_PARTNER } from '../../spec/partner-options.ts';

export const partnerOrdersWatch = command({
  name: 'partner orders watch',
  summary: 'Print a line for each change until the order ends; exit 8 unless the payment was processed',
  arguments: [argument('<order-id>')],
  options: [option('--every <time>', 'time between two checks', durationOption, 1000), ACTING_PARTNER],
  effect: 'reads',
  examples: ['farelock partner orders watch rmp_… --json'],
  result: { schema: async () => (await import('./result.ts')).partnerOrdersWatch },
  load: async () => (await import('./run.ts')).orderWatch,
});
