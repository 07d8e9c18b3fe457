import { ORDER_STATUSES } from '../../../kernel/domain/order-moves.ts';
import { argument, command, option } from '../../spec/define.ts';
import { integerOption, namedOption } from '../../spec/options.ts';
import { ACTING_PARTNER } from '../../spec/partner-options.ts';

const status = namedOption('--status', ORDER_STATUSES);

export const partnerOrdersList = command({
  name: 'partner orders list',
  summary: 'List orders, newest first',
  options: [
    option('--status <status>', ORDER_STATUSES.join(', '), status),
    option('--limit <n>', 'how many to show', integerOption('--limit', 1, 100_000), 50),
    option('--page-token <token>', 'nextPageToken of the previous page'),
    ACTING_PARTNER,
  ],
  effect: 'reads',
  examples: ['farelock partner orders list --status AWAITING_FUNDS'],
  result: { list: 'orders', schema: async () => (await import('./result.ts')).partnerOrdersList },
  load: async () => (await import('./run.ts')).ordersList,
});

export const partnerOrdersShow = command({
  name: 'partner orders show',
  summary: 'Show an order and the statuses that it can go to',
  arguments: [argument('<order-id>')],
  options: [option('--history', 'show every change'), ACTING_PARTNER],
  effect: 'reads',
  examples: ['farelock partner orders show rmp_… --history'],
  result: { schema: async () => (await import('./result.ts')).partnerOrdersShow },
  load: async () => (await import('./run.ts')).orderShow,
});
