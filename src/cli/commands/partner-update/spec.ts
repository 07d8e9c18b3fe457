import { ORDER_STATUSES } from '../../../kernel/domain/order-moves.ts';
import { argument, command, option } from '../../spec/define.ts';
import { decimalOption, namedOption } from '../../spec/options.ts';
import { ACTING_PARTNER, IN_LIVE } from '../../spec/partner-options.ts';

const status = namedOption('--status', ORDER_STATUSES);

export const partnerOrdersUpdate = command({
  name: 'partner orders update',
  summary: 'Update an order; without a change, shows what is allowed',
  arguments: [argument('<order-id>')],
  options: [
    option('--status <status>', ORDER_STATUSES.join(', '), status),
    option('--source-transaction-id <id>', 'transaction that brought the funds'),
    option('--destination-transaction-id <id>', 'transaction that paid the customer'),
    option('--reason <text>', 'why; required for ERROR'),
    option('--customer-facing-reason <text>', 'why, in words for the customer'),
    option('--to-amount <decimal>', 'what the customer receives', decimalOption('--to-amount')),
    option('--deposit-instructions <file>', 'JSON file, - for standard input'),
    option('--return-reason <text>', 'why funds were returned'),
    option('--refund-reference-id <id>', 'your reference of the refund'),
    option('--if-match <version>', 'only if the order still has this version'),
    option('--idempotency-key <key>', 'repeat safely: the same key returns the first answer'),
    ACTING_PARTNER,
    IN_LIVE,
  ],
  effect: 'changes',
  examples: ['farelock partner orders update rmp_… --status FUNDS_RECEIVED'],
  result: { schema: async () => (await import('./result.ts')).partnerOrdersUpdate },
  cutOff: { said: 'The order may have been updated.', look: 'partner orders show {orderId}' },
  load: async () => (await import('./run.ts')).orderUpdate,
});
