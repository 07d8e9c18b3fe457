import { PARTNER_JSON_FIELDS } from './json-partner.ts';

/** `--json [fields]`: which fields a command's document has, and the choice among them. */

const INTENT = [
  'intent_id',
  'status',
  'offer_id',
  'passenger_count',
  'funding_wallet',
  'refund_wallet',
  'referrer',
  'escrow',
  'expected_ticket_amount',
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
  'expires_at',
  'created_at',
  'updated_at',
];

const QUEUED = [
  'request_id',
  'intent_id',
  'status',
  'requested_at',
  'journey_date',
  'route',
  'captured_amount',
  'payout_amount',
  'claimed_by',
  'claimed_at',
];
const CASE = [
  ...QUEUED,
  'order_id',
  'passenger_count',
  'refund_wallet',
  'fare',
  'refund_rule',
  'reason',
  'contact',
  'decision',
  'payout_tx_hash',
  'last_error',
  'notes',
  'timeline',
];
const STUCK = [
  'id',
  'kind',
  'is_stuck',
  'state',
  'stuck_in',
  'reason',
  'attempts',
  'since',
  'intent_id',
  'amount',
  'escrow',
  'airline',
  'decisions',
  'decided',
];
const KEY = ['key_id', 'kind', 'name', 'created_at', 'last_used_at', 'revoked_at'];

/** The fields that `--json` can choose, by command; an unknown one is refused before anything is done. */
export const JSON_FIELDS: Readonly<Record<string, readonly string[]>> = {
  search: ['request_id', 'status', 'search_id', 'poll_after_ms', 'offers', 'total_offers', 'payment'],
  airports: ['iata', 'name', 'city', 'country', 'time_zone'],
  offer: ['offer', 'available_services', 'fare_menu', 'poll_after_ms', 'payment'],
  'intent create': [...INTENT, 'customer_support_code', 'payment'],
  'intent show': INTENT,
  'intent list': [
    'intent_id',
    'status',
    'offer_id',
    'amount',
    'created_at',
    'expires_at',
    'route',
    'order_id',
  ],
  'intent verify': ['intent_id', 'verified', 'checks', 'escrow'],
  book: [...INTENT, 'payment'],
  status: INTENT,
  order: [
    'order_id',
    'booking_reference',
    'status',
    'passenger_count',
    'total_amount_decimal',
    'total_currency',
    'documents',
    'slices',
    'created_at',
    'updated_at',
    'payment',
  ],
  'refund request': ['intent_id', 'requested_at', 'status', 'payment'],
  'refund queue': QUEUED,
  'refund show': CASE,
  'refund claim': CASE,
  'refund note': CASE,
  'refund approve': CASE,
  'refund reject': CASE,
  'stuck list': ['bookings', 'effects', 'refund_requests', 'affiliate_payouts'],
  'stuck show': STUCK,
  'stuck resolve': STUCK,
  switch: ['booking', 'lowcost'],
  'audit list': ['audit_id', 'at', 'operator', 'key_id', 'action', 'subject', 'request_id', 'detail'],
  'keys list': KEY,
  'keys issue': [...KEY, 'key'],
  'keys revoke': KEY,
  'wallet new': ['address', 'keypair_file', 'created'],
  'wallet show': ['address', 'keypair_file', 'network', 'usdc_mint', 'usdc_account'],
  'wallet balance': ['address', 'network', 'sol', 'lamports', 'usdc', 'usdc_atomic'],
  'wallet airdrop': ['address', 'sol', 'usdc', 'transactions'],
  'payments list': [
    'payment_id',
    'state',
    'open',
    'resource',
    'amount',
    'asset',
    'transaction',
    'network',
    'created_at',
  ],
  'payments show': [],
  'payments verify': ['payment_id', 'verdict', 'transaction', 'memo', 'checks'],
  'payments resume': ['payment', 'answer'],
  'wallet history': ['transaction', 'at', 'change', 'memo', 'payment_id', 'resource'],
  'wallet limits show': [
    'profile',
    'wallet',
    'network',
    'per_call',
    'per_day',
    'booking',
    'hosts',
    'signed_24h',
    'left_24h',
  ],
  'wallet limits set': ['profile', 'limits'],
  'affiliate create': ['code', 'wallet', 'created_at'],
  'affiliate show': [
    'code',
    'wallet',
    'created_at',
    'bookings_count',
    'pending_amount',
    'pending_amount_decimal',
    'paid_amount',
    'paid_amount_decimal',
    'owed_amount',
    'owed_amount_decimal',
  ],
  'config list': ['key', 'value', 'origin', 'source'],
  'config get': ['key', 'value', 'origin', 'source'],
  'config set': ['profile', 'key', 'value'],
  'config unset': ['profile', 'key', 'unset'],
  'config profile list': ['name', 'used', 'flights_url', 'partner_url', 'cluster'],
  'config profile add': ['profile', 'settings', 'used'],
  'config profile use': ['profile', 'used'],
  'config profile remove': ['profile', 'removed'],
  serve: ['flights_url', 'partner_url', 'rpc_url', 'network', 'operator_key_file'],
  demo: [],
  ...PARTNER_JSON_FIELDS,
  help: ['name', 'version', 'description', 'global_options', 'commands'],
  mcp: [],
  explain: ['code', 'message', 'fix', 'status', 'exit', 'retryable'],
};

/** A document, or the entries of its one list, reduced to the chosen fields. */
export function selectFields(document: unknown, fields: readonly string[] | null, list?: string): unknown {
  if (fields === null) return document;
  if (list !== undefined && isRecord(document)) {
    const entries = document[list];
    return { [list]: Array.isArray(entries) ? entries.map((entry) => pick(entry, fields)) : [] };
  }
  return pick(document, fields);
}

const pick = (value: unknown, fields: readonly string[]): unknown =>
  isRecord(value)
    ? Object.fromEntries(fields.filter((field) => field in value).map((field) => [field, value[field]]))
    : value;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
