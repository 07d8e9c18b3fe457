import { ORDER_STATUSES } from '../../../kernel/domain/order-moves.ts';
import {
  ACTING_PARTNER,
  argument,
  capitals,
  command,
  decimalOption,
  durationOption,
  FOR_CUSTOMER,
  IN_LIVE,
  integerOption,
  namedOption,
  option,
  required,
} from '../../spec/index.ts';

const status = namedOption(ORDER_STATUSES);

export const partnerOrdersList = command({
  name: 'partner orders list',
  summary: 'List orders, newest first',
  options: [
    option('--status <status>', ORDER_STATUSES.join(', '), status),
    option('--limit <n>', 'how many to show', integerOption(1, 100_000), 50),
    option('--page-token <token>', 'nextPageToken of the previous page'),
    ACTING_PARTNER,
  ],
  effect: 'reads',
  examples: ['farelock partner orders list --status AWAITING_FUNDS'],
  list: 'orders',
});

export const partnerOrdersShow = command({
  name: 'partner orders show',
  summary: 'Show an order and the statuses that it can go to',
  arguments: [argument('<order-id>')],
  options: [option('--history', 'show every change'), ACTING_PARTNER],
  effect: 'reads',
  examples: ['farelock partner orders show rmp_… --history'],
});

/** The options that describe an exchange; the same for offers and for an order. */
const EXCHANGE = [
  required('--country <code>', 'country of the customer, three letters, such as BRA', capitals),
  required('--ramp <direction>', 'ONRAMP, OFFRAMP', namedOption(['ONRAMP', 'OFFRAMP'])),
  required('--from <currency>', 'fiat for ONRAMP, crypto for OFFRAMP', capitals),
  required('--to <currency>', 'crypto for ONRAMP, fiat for OFFRAMP', capitals),
  required('--amount <decimal>', 'what the customer pays', decimalOption),
  required('--method <code>', 'payment method, such as BRA_PIX', capitals),
] as const;

export const partnerOrdersCreate = command({
  name: 'partner orders create',
  summary: 'Create an order with this partner for a customer',
  arguments: [argument('<partner-id>')],
  options: [
    ...EXCHANGE,
    option('--network <network>', 'blockchain network', capitals),
    option('--payment-details-data-id <id>', "the customer's payment details"),
    option('--wallet-data-id <id>', "the customer's wallet"),
    option('--wallet-address <address>', "the customer's wallet, for a redirect partner"),
    option('--customer-ip <address>', "the end user's IP address; required for a redirect partner"),
    FOR_CUSTOMER,
    ACTING_PARTNER,
    option('--idempotency-key <key>', 'repeat safely: the same key makes no second order'),
    IN_LIVE,
  ],
  effect: 'changes',
  examples: [
    'farelock partner orders create par_sandbox_pix --country BRA --ramp ONRAMP --from BRL --to SOLANA_USDC --amount 250.00 --method BRA_PIX',
  ],
  cutOff: { said: 'The order may have been made.', look: 'partner orders list' },
});

export const partnerOffers = command({
  name: 'partner offers',
  summary: 'List offers for an amount and a payment method, best first',
  options: [
    ...EXCHANGE,
    option('--type <types>', 'INTEGRATION, REDIRECT', (value: string, _before: unknown, flag: string) =>
      value.split(',').map((one) => namedOption(['INTEGRATION', 'REDIRECT'])(one, undefined, flag)),
    ),
    ACTING_PARTNER,
  ],
  effect: 'reads',
  examples: [
    'farelock partner offers --country BRA --ramp ONRAMP --from BRL --to SOLANA_USDC --amount 250.00 --method BRA_PIX',
  ],
  list: 'partners',
});

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
    option('--to-amount <decimal>', 'what the customer receives', decimalOption),
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
  cutOff: { said: 'The order may have been updated.', look: 'partner orders show {orderId}' },
});

export const partnerOrdersApply = command({
  name: 'partner orders apply',
  summary: 'Update many orders from CSV or NDJSON, - for standard input; each row once',
  arguments: [argument('<file>')],
  options: [
    option('--results <file>', 'where to write a line for each row (<file>.results.ndjson)'),
    option('--concurrency <n>', 'how many orders at once', integerOption(1, 64), 8),
    option('--retry-failed', 'also send rows that were refused or held back before'),
    ACTING_PARTNER,
    IN_LIVE,
  ],
  effect: 'changes',
  examples: ['farelock partner orders apply updates.csv --dry-run'],
});

export const partnerOrdersWatch = command({
  name: 'partner orders watch',
  summary: 'Print a line for each change until the order ends; exit 8 unless the payment was processed',
  arguments: [argument('<order-id>')],
  options: [option('--every <time>', 'time between two checks', durationOption, 1000), ACTING_PARTNER],
  effect: 'reads',
  examples: ['farelock partner orders watch rmp_… --json'],
});
