import { formatUsdc } from '../../../kernel/money.ts';
import {
  counted,
  dayAndMonth,
  dayName,
  fromNow,
  type Paint,
  type Screen,
  tableLines,
  type View,
} from '../../../terminal/index.ts';
import type { RefundCaseSummary, RefundQueue } from '../../../wire/flights/index.ts';
import { routeText } from './refund.ts';

/** The queue: route, departure, rule, paid, proposed pay-out, age, who has it; as much of it as there is room for. */

export const queueView = (nowMs: number): View<RefundQueue> => ({
  lines: ({ refund_requests: cases, next_cursor }, screen) => {
    if (cases.length === 0) return ['Nothing is waiting for a decision.'];
    const rows = cases.map((one, index) => ({ ...one, number: String(index + 1) }));
    return [
      ...queueLines(rows, nowMs, screen),
      screen.paint.dim(`${counted(cases.length, 'request')}, amounts in USDC`),
      ...(next_cursor === null ? [] : [screen.paint.dim(`More: --cursor ${next_cursor}`)]),
    ];
  },
  rows: ({ refund_requests: cases }) =>
    cases.map((one) => [
      one.request_id,
      one.intent_id,
      one.requested_at,
      one.journey_date,
      formatUsdc(BigInt(one.captured_amount)),
      one.status,
      one.claimed_by,
      one.route,
      one.refund_rule.kind,
      amountText(proposedOf(one)),
    ]),
});

/** A row of the queue; the live desk has a mark in place of the number. */
type QueueRow = RefundCaseSummary & { readonly number: string };

interface Column {
  readonly title: string;
  readonly align?: 'right';
  readonly cuts?: boolean;
  /** Shown from this width on. */
  readonly from?: number;
  /** Shown below this width. */
  readonly below?: number;
  cell(one: QueueRow, nowMs: number, paint: Paint): string;
}

const AMOUNTS = 60;
const WORDS = 80;
const DAYS = 100;
const IDS = 132;

const COLUMNS: readonly Column[] = [
  { title: '#', cell: ({ number }) => number },
  { title: 'Route', below: WORDS, cell: ({ route }) => route.replace('-', '→') },
  { title: 'Route', from: WORDS, cell: routeText },
  { title: 'Departs', below: DAYS, cell: ({ journey_date }) => dayAndMonth(journey_date) },
  { title: 'Departs', from: DAYS, cell: ({ journey_date }) => dayName(journey_date) },
  { title: 'Refund rule', from: WORDS, cell: ruleText },
  { title: 'Paid', align: 'right', from: AMOUNTS, cell: (one) => amountText(one.captured_amount) },
  { title: 'Pay-out', align: 'right', cell: payoutText },
  { title: 'Age', from: AMOUNTS, cell: (one, nowMs) => fromNow(one.requested_at, nowMs).replace(/ ago$/, '') },
  { title: 'Who has it', cuts: true, cell: holderText },
  { title: 'Request', from: IDS, cell: (one, _nowMs, paint) => paint.dim(one.request_id) },
];

/** A heading and a line for each case, none wider than the screen. Amounts are USDC. */
export function queueLines(rows: readonly QueueRow[], nowMs: number, { paint, width }: Screen): string[] {
  const columns = COLUMNS.filter(({ from = 0, below = Infinity }) => width >= from && width < below);
  const cells = rows.map((one) => columns.map((column) => column.cell(one, nowMs, paint)));
  return tableLines(columns, cells, paint.dim, width);
}

const amountText = (amount: number | null): string => (amount === null ? '–' : formatUsdc(BigInt(amount)));

const proposedOf = (one: RefundCaseSummary): number | null => one.payout_amount ?? one.refund_rule.payout_amount;

/** An amount, and in words where the fare rule gives none. */
function payoutText(one: RefundCaseSummary): string {
  if (one.payout_amount !== null) return amountText(one.payout_amount);
  const { kind, payout_amount } = one.refund_rule;
  return kind === 'non_refundable' ? 'none' : kind === 'undisclosed' ? 'ask' : amountText(payout_amount);
}

function ruleText({ refund_rule: { kind, penalty_amount } }: RefundCaseSummary): string {
  if (kind === 'non_refundable') return 'not refundable';
  if (kind === 'undisclosed') return 'ask the airline';
  if (kind === 'cancelled_by_airline') return 'airline cancelled';
  return penalty_amount === 0 ? 'free' : `${amountText(penalty_amount)} penalty`;
}

/** Who has it, behind how it stands where that is no longer open. */
function holderText({ status, claimed_by }: RefundCaseSummary, _nowMs: number, paint: Paint): string {
  if (status === 'received') return claimed_by ?? 'nobody';
  const said = status === 'stuck' ? paint.bad(status) : status;
  return claimed_by === null ? said : `${said}, ${claimed_by}`;
}
