import { argument, command, option } from '../../spec/define.ts';
import { addressOption } from '../../spec/options.ts';

export const INTENT_FIELDS = [
  'intent_id',
  'status',
  'offer_id',
  'passenger_count',
  'funding_wallet',
  'refund_wallet',
  'referrer',
  'escrow',
  'expected_ticket_amount',
  'expected_ticket_amount_decimal',
  'expected_ticket_currency',
  'fee_amount',
  'order_id',
  'booking_requested_at',
  'ticketed_at',
  'captured_at',
  'capture_tx_hash',
  'refund_reason',
  'refunded_at',
  'refund_tx_hash',
  'refund_request',
  'operator_review_since',
  'expires_at',
  'created_at',
  'updated_at',
];

export const intentCreate = command({
  name: 'intent create',
  summary: 'Lock an offer and open its escrow (paid, 0.10 USDC); `intent <offer-id>` for short',
  isDefault: true,
  arguments: [argument('<offer-id>')],
  options: [
    option(
      '--refund-wallet <address>',
      'where refunds go (the paying wallet)',
      addressOption('--refund-wallet'),
    ),
    option('--referrer <code>', 'affiliate code'),
  ],
  effect: 'pays',
  examples: [
    'farelock intent 1',
    'farelock intent create off_… --refund-wallet 7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU',
  ],
  result: {
    fields: [...INTENT_FIELDS, 'customer_support_code', 'payment'],
    schema: async () => (await import('./result.ts')).intentCreate,
  },
  load: async () => (await import('./run.ts')).intentCreate,
});
