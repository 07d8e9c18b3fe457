import { HttpResponse } from '../../kernel/http.ts';
import { decimalOf, unitsOf } from '../../kernel/money.ts';

/**
 * Behaviours of a partner (admin route) or an order (last four decimals, docs/sandbox.md). `once`: its first call only.
 */
export interface Behaviour {
  /** Refuses before any write. */
  readonly before?: { readonly status: 400 | 422 | 503; readonly retryAfterSeconds?: number; readonly once?: true };
  /** Spoils a written order's answer. */
  readonly answer?: { readonly kind: keyof typeof MISANSWERS; readonly once?: true };
  /** Refuses repetitions as duplicates, as careless platforms do. */
  readonly refusesRepeats?: true;
  /** The order's further way. */
  readonly outcome?: Outcome;
}

const HUGE_BYTES = 300 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };
const HTML_TYPE = { 'content-type': 'text/html' };

export const right = (answer: string) => new HttpResponse(200, answer, JSON_TYPE);

const changed = (change: object) => (answer: string) =>
  right(JSON.stringify({ ...(JSON.parse(answer) as object), ...change }));

/** Right answers, given late, torn, or with forbidden content. */
export const MISANSWERS = {
  slow: right,
  silent: right,
  /** Announces the whole answer and sends half. */
  torn: (answer) =>
    new HttpResponse(200, answer.slice(0, Math.floor(answer.length / 2)), {
      ...JSON_TYPE,
      'content-length': String(Buffer.byteLength(answer)),
    }),
  bad_gateway: () => new HttpResponse(502, '<html>Bad gateway</html>', HTML_TYPE),
  no_instructions: changed({ depositInstructions: undefined }),
  not_json: () => new HttpResponse(200, '<html>Thank you</html>', HTML_TYPE),
  huge: changed({ padding: 'x'.repeat(HUGE_BYTES) }),
  http_url: changed({ redirectUrl: 'http://redirecta.sandbox.farelock.invalid/start' }),
  bad_status: changed({ status: 'DONE' }),
  bad_amount: changed({ toAmount: '-1' }),
  redirect: () => new HttpResponse(307, null, { location: 'https://elsewhere.invalid/' }),
} as const satisfies Record<string, (answer: string) => HttpResponse>;

export type Outcome = keyof typeof STEPS;

export const BEHAVIOURS = {
  normal: {},
  invalid: { before: { status: 400 } },
  over_limit: { before: { status: 422 } },
  outage: { before: { status: 503 } },
  outage_once: { before: { status: 503, once: true } },
  slow: { answer: { kind: 'slow' } },
  silent: { answer: { kind: 'silent' } },
  silent_once: { answer: { kind: 'silent', once: true } },
  torn: { answer: { kind: 'torn' } },
  torn_once: { answer: { kind: 'torn', once: true } },
  duplicate: { answer: { kind: 'torn', once: true }, refusesRepeats: true },
  bad_gateway_once: { answer: { kind: 'bad_gateway', once: true } },
  no_instructions: { answer: { kind: 'no_instructions' } },
  not_json: { answer: { kind: 'not_json' } },
  huge: { answer: { kind: 'huge' } },
  http_url: { answer: { kind: 'http_url' } },
  bad_status: { answer: { kind: 'bad_status' } },
  bad_amount: { answer: { kind: 'bad_amount' } },
  redirect: { answer: { kind: 'redirect' } },
  ends_in_error: { outcome: 'error' },
  ends_canceled: { outcome: 'canceled' },
  ends_refunded: { outcome: 'refunded' },
  is_reviewed: { outcome: 'reviewed' },
  waits: { outcome: 'waiting' },
  paid_late: { outcome: 'paid_late' },
  paid_short: { outcome: 'paid_short' },
  paid_over: { outcome: 'paid_over' },
} as const satisfies Record<string, Behaviour>;

export type BehaviourName = keyof typeof BEHAVIOURS;
export const BEHAVIOUR_NAMES = Object.keys(BEHAVIOURS) as BehaviourName[];

/** The decimals' meanings: `150.4220` is refused as outside the limits. */
export const MAGIC_DECIMALS: Readonly<Record<string, BehaviourName>> = {
  '4000': 'invalid',
  '4220': 'over_limit',
  '5030': 'outage',
  '5031': 'outage_once',
  '5021': 'bad_gateway_once',
  '0001': 'slow',
  '0002': 'silent_once',
  '0003': 'torn_once',
  '0004': 'torn',
  '0005': 'silent',
  '0006': 'duplicate',
  '0010': 'no_instructions',
  '0011': 'not_json',
  '0012': 'huge',
  '0013': 'http_url',
  '0014': 'bad_status',
  '0015': 'bad_amount',
  '0016': 'redirect',
  '0020': 'ends_in_error',
  '0021': 'ends_canceled',
  '0022': 'ends_refunded',
  '0023': 'is_reviewed',
  '0024': 'waits',
  '0025': 'paid_late',
  '0026': 'paid_short',
  '0027': 'paid_over',
};

/** Needs exactly four decimals. */
export function behaviourOfAmount(amount: string): BehaviourName {
  const decimals = /\.(\d{4})$/.exec(amount)?.[1] ?? '';
  return Object.hasOwn(MAGIC_DECIMALS, decimals) ? (MAGIC_DECIMALS[decimals] ?? 'normal') : 'normal';
}

/** An update by the platform. */
export interface Step {
  readonly status: string;
  /** @param toAmount the order's promised decimal */
  readonly details: (orderId: string, toAmount: string) => Readonly<Record<string, unknown>>;
}

const plain = () => ({});
const halfOf = (amount: string): string => decimalOf(unitsOf(amount) / 2n);
const FUNDS: Step = { status: 'FUNDS_RECEIVED', details: (orderId) => ({ sourceTransactionId: `src_${orderId}` }) };
const PAID: readonly Step[] = [
  FUNDS,
  { status: 'PAYMENT_SUBMITTED', details: (orderId) => ({ destinationTransactionId: `dst_${orderId}` }) },
  { status: 'PAYMENT_PROCESSED', details: plain },
];

const FAILED = {
  reason: 'sandbox: the order was made to fail',
  customerFacingReason: 'The payment could not be made.',
};
const CANCELED: Step = { status: 'CANCELED', details: () => ({ customerFacingReason: 'No funds came in time.' }) };
const returned = (orderId: string, reason: string) => ({
  returnDetails: { reason, refundReferenceId: `ref_${orderId}` },
});

/** Steps after AWAITING_FUNDS, by outcome. */
export const STEPS = {
  processed: PAID,
  reviewed: [{ status: 'IN_REVIEW', details: plain }, ...PAID],
  error: [{ status: 'ERROR', details: () => FAILED }],
  canceled: [CANCELED],
  paid_late: [
    CANCELED,
    {
      status: 'REFUNDING',
      details: (id) => ({ ...FUNDS.details(id, ''), ...returned(id, 'The funds came after the order was canceled.') }),
    },
    { status: 'REFUNDED', details: plain },
  ],
  paid_short: [
    { ...FUNDS, details: (orderId, toAmount) => ({ ...FUNDS.details(orderId, toAmount), toAmount: halfOf(toAmount) }) },
    ...PAID.slice(1),
  ],
  paid_over: [
    ...PAID.slice(0, -1),
    { status: 'PAYMENT_PROCESSED', details: (orderId) => returned(orderId, 'More was paid than the order asked for.') },
  ],
  refunded: [
    FUNDS,
    { status: 'REFUNDING', details: (orderId) => returned(orderId, 'The account does not take it.') },
    { status: 'REFUNDED', details: plain },
  ],
  waiting: [],
} as const satisfies Record<string, readonly Step[]>;
