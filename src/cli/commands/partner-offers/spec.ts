import { argument, command, option, required } from '../../spec/define.ts';
import { capitals, decimalOption, namedOption } from '../../spec/options.ts';
import { ACTING_PARTNER, FOR_CUSTOMER, IN_LIVE } from '../../spec/partner-options.ts';

const RAMPS = ['ONRAMP', 'OFFRAMP'] as const;

/** The subject of a trade, bought or sold: the same of an offer and of an order. */
const EXCHANGE = [
  required('--country <code>', 'country of the customer, three letters, such as BRA', capitals),
  required('--ramp <direction>', RAMPS.join(', '), namedOption('--ramp', RAMPS)),
  required('--from <currency>', 'fiat for ONRAMP, crypto for OFFRAMP', capitals),
  required('--to <currency>', 'crypto for ONRAMP, fiat for OFFRAMP', capitals),
  required('--amount <decimal>', 'what the customer pays', decimalOption('--amount')),
  required('--method <code>', 'payment method, such as BRA_PIX', capitals),
] as const;

const PARTNER_TYPES = ['INTEGRATION', 'REDIRECT'] as const;

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
  result: { schema: async () => (await import('./result.ts')).partnerOrdersCreate },
  cutOff: { said: 'The order may have been made.', look: 'partner orders list' },
  load: async () => (await import('./run.ts')).orderCreate,
});

export const partnerOffers = command({
  name: 'partner offers',
  summary: 'List offers for an amount and a payment method, best first',
  options: [
    ...EXCHANGE,
    option('--type <types>', PARTNER_TYPES.join(', '), (value: string) =>
      value.split(',').map(namedOption('--type', PARTNER_TYPES)),
    ),
    ACTING_PARTNER,
  ],
  effect: 'reads',
  examples: [
    'farelock partner offers --country BRA --ramp ONRAMP --from BRL --to SOLANA_USDC --amount 250.00 --method BRA_PIX',
  ],
  result: { list: 'partners', schema: async () => (await import('./result.ts')).partnerOffers },
  load: async () => (await import('./run.ts')).partnerOffers,
});
