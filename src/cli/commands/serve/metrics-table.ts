/** A metric: its type, its labels, its meaning. Seconds and totals say so in their names. */
interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly says: string;
  /** Upper bounds; those of requests if absent. */
  readonly buckets?: readonly number[];
}

const JOB_KINDS =
  'booking, page, mail, refund, affiliate_payout, partner_order, attestation, and tasks of upkeep that are due (late_money, late_ticket, close_escrow, purge, order_watch, capture)';

/** Everything that /metrics prints beside the process's own (`process_*`, `nodejs_*`). */
export const METRICS = {
  farelock_build_info: {
    type: 'gauge',
    labels: ['version', 'node', 'database', 'network'],
    says: 'always 1; the labels say what runs',
  },
  farelock_http_request_duration_seconds: {
    type: 'histogram',
    labels: ['route', 'method', 'code'],
    says: 'requests and how long their answers took; the route is the declared path, `none` where there is none',
  },
  farelock_http_requests_in_flight: { type: 'gauge', labels: [], says: 'requests that are being answered' },
  farelock_http_requests_shed_total: {
    type: 'counter',
    labels: ['why'],
    says: 'unpaid requests turned away: too many `requests` in flight, or a slow `event_loop`',
  },
  farelock_payments_total: {
    type: 'counter',
    labels: ['outcome'],
    says: 'payments that were settled, refused before anything was sent, failed for certain, or left unknown for now (each is looked at again, and counted again by what comes of it)',
  },
  farelock_settlement_duration_seconds: {
    type: 'histogram',
    labels: ['outcome'],
    says: 'time from sending a payment to knowing what became of it',
    buckets: [0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30],
  },
  farelock_payments_open: {
    type: 'gauge',
    labels: ['state'],
    says: 'payments that are not finished: `claimed`, `performed` (nothing is sent), `settling` (sent, and the outcome is not known), `settled` (charged, and not answered)',
  },
  farelock_payments_oldest_age_seconds: { type: 'gauge', labels: ['state'], says: 'age of the oldest of them' },
  farelock_bookings_open: { type: 'gauge', labels: ['state'], says: 'bookings under way, and those that are `stuck`' },
  farelock_bookings_oldest_age_seconds: {
    type: 'gauge',
    labels: ['state'],
    says: 'time since the oldest of them was asked for',
  },
  farelock_refunds_open: {
    type: 'gauge',
    labels: ['state'],
    says: 'refund requests under way: `settling` (their fee), `approved` (to be paid out), `stuck`',
  },
  farelock_refunds_oldest_age_seconds: { type: 'gauge', labels: ['state'], says: 'age of the oldest of them' },
  farelock_effects_open: {
    type: 'gauge',
    labels: ['state'],
    says: 'acts on the chain or at an airline whose outcome is not known: `planned`, `sent`, `stuck` (waits for a person)',
  },
  farelock_effects_oldest_age_seconds: { type: 'gauge', labels: ['state'], says: 'age of the oldest of them' },
  farelock_jobs: { type: 'gauge', labels: ['kind'], says: `queued work: ${JOB_KINDS}` },
  farelock_jobs_overdue_seconds: {
    type: 'gauge',
    labels: ['kind'],
    says: 'time since the first of them was due; 0: none is',
  },
  farelock_rpc_duration_seconds: {
    type: 'histogram',
    labels: ['endpoint', 'method', 'result'],
    says: 'calls of a Solana cluster by host: `ok`, `refused` (a JSON-RPC error of the call), `no_answer`, `cancelled` (another address was quicker)',
  },
  farelock_cluster_slot_lag: {
    type: 'gauge',
    labels: ['endpoint'],
    says: 'slots that the last answer of an address was behind the newest known one; where several addresses are named',
  },
  farelock_airline_call_duration_seconds: {
    type: 'histogram',
    labels: ['airline', 'call', 'result'],
    says: 'calls of an airline: `ok`, or the code of the error',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
  },
  farelock_wallet_lamports: {
    type: 'gauge',
    labels: ['wallet'],
    says: "lamports of the operator's wallets that pay fees and rents",
  },
  farelock_wallet_usdc: { type: 'gauge', labels: ['wallet'], says: 'USDC of the treasury, in whole USDC' },
  farelock_database_connections: {
    type: 'gauge',
    labels: ['state'],
    says: 'connections to PostgreSQL: `in_use`, and statements `waiting` for one',
  },
  farelock_scrape_failed: {
    type: 'gauge',
    labels: ['part'],
    says: '1: the gauges of this part are missing, because `database`, `wallets` or `connections` could not be read',
  },
} as const satisfies Readonly<Record<string, Metric>>;
