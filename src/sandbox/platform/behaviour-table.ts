import { HttpResponse } from '../../kernel/http.ts';
import { decimalOf, unitsOf } from '../../kernel/money.ts';

/**
 * A behaviour of a partner (by an admin route) or an order (by its last four decimals, docs/sandbox.md). `once`: only
 * at the order's first call.
 */
export interface Behaviour {
  /** Amounts with these four decimals get this behaviour. */
  readonly decimals?: string;
  /** Refuses before anything is written. */
  readonly before?: { readonly status: 400 | 422 | 503; readonly once?: true };
  /** Spoils the answer after the order was written. */
  readonly answer?: { readonly kind: keyof typeof MISANSWERS; readonly once?: true };
  /** Refuses repetitions as duplicates, as careless platforms do. */
  readonly refusesRepeats?: true;
  /** How the order goes on after it was accepted. */
  readonly outcome?: Outcome;
}

const HUGE_BYTES = 300 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };
const HTML_TYPE = { 'content-type': 'text/html' };

export const right = (answer: string) => new HttpResponse(200, answer, JSON_TYPE);

const changed = (change: object) => (answer: string) =>
  right(JSON.stringify({ ...(JSON.parse(answer) as object), ...change }));

/** Ways to give the right answer late, torn, or with forbidden content. */
export const MISANSWERS = {
  slow: right,
  silent: right,
  /** Announces the whole length and sends half. */
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
  invalid: { decimals: '4000', before: { status: 400 } },
  over_limit: { decimals: '4220', before: { status: 422 } },
  outage: { decimals: '5030', before: { status: 503 } },
  outage_once: { decimals: '5031', before: { status: 503, once: true } },
  slow: { decimals: '0001', answer: { kind: 'slow' } },
  silent: { decimals: '0005', answer: { kind: 'silent' } },
  silent_once: { decimals: '0002', answer: { kind: 'silent', once: true } },
  torn: { decimals: '0004', answer: { kind: 'torn' } },
  torn_once: { decimals: '0003', answer: { kind: 'torn', once: true } },
  duplicate: { decimals: '0006', answer: { kind: 'torn', once: true }, refusesRepeats: true },
  bad_gateway_once: { decimals: '5021', answer: { kind: 'bad_gateway', once: true } },
  no_instructions: { decimals: '0010', answer: { kind: 'no_instructions' } },
  not_json: { decimals: '0011', answer: { kind: 'not_json' } },
  huge: { decimals: '0012', answer: { kind: 'huge' } },
  http_url: { decimals: '0013', answer: { kind: 'http_url' } },
  bad_status: { decimals: '0014', answer: { kind: 'bad_status' } },
  bad_amount: { decimals: '0015', answer: { kind: 'bad_amount' } },
  redirect: { decimals: '0016', answer: { kind: 'redirect' } },
  ends_in_error: { decimals: '0020', outcome: 'error' },
  ends_canceled: { decimals: '0021', outcome: 'canceled' },
  ends_refunded: { decimals: '0022', outcome: 'refunded' },
  is_reviewed: { decimals: '0023', outcome: 'reviewed' },
  waits: { decimals: '0024', outcome: 'waiting' },
  paid_late: { decimals: '0025', outcome: 'paid_late' },
  paid_short: { decimals: '0026', outcome: 'paid_short' },
  paid_over: { decimals: '0027', outcome: 'paid_over' },
} as const satisfies Record<string, Behaviour>;

export type BehaviourName = keyof typeof BEHAVIOURS;
export const BEHAVIOUR_NAMES = Object.keys(BEHAVIOURS) as BehaviourName[];

/** Meanings of an amount's last four decimals: `150.4220` is refused as outside the limits. */
export const MAGIC_DECIMALS = Object.fromEntries(
  BEHAVIOUR_NAMES.flatMap((name) => {
    const { decimals }: Behaviour = BEHAVIOURS[name];
    return decimals === undefined ? [] : [[decimals, name]];
  }),
) as Readonly<Record<string, BehaviourName>>;

/** Only exactly four decimals count. */
export function behaviourOfAmount(amount: string): BehaviourName {
  return MAGIC_DECIMALS[/\.(\d{4})$/.exec(amount)?.[1] ?? ''] ?? 'normal';
}

/** An update that the platform sends. */
export interface Step {
  readonly status: string;
  /** @param toAmount the promised decimal */
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

/** The steps after AWAITING_FUNDS, by outcome. */
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
