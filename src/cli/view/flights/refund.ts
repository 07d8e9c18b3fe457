import type { RefundCase, RefundCaseSummary, RefundQueue } from '../../../flights/wire.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import type { Screen, View } from '../../screen/terminal.ts';
import type { Paint } from '../paint.ts';
import { fieldLines, tableLines } from '../table.ts';
import { cut, wrap } from '../text.ts';
import { fromNow, utcTime } from '../times.ts';

const usdc = (amount: number | null): string =>
  amount === null ? '–' : `${formatUsdc(BigInt(amount))} USDC`;

/** The queue: age, journey date, amount, status, who has it. */
export const queueView = (nowMs: number): View<RefundQueue> => ({
  list: 'refund_requests',
  lines: ({ refund_requests: cases, next_cursor }, { paint, width }) => {
    if (cases.length === 0) return ['Nothing waits for a decision.'];
    return [
      ...tableLines(
        [
          { title: 'Request' },
          { title: 'Age' },
          { title: 'Journey' },
          { title: 'USDC', align: 'right' },
          { title: 'Status' },
          { title: 'Claimed by', cuts: true },
        ],
        cases.map((one) => [
          one.request_id,
          fromNow(one.requested_at, nowMs).replace(/ ago$/, ''),
          one.journey_date,
          formatUsdc(BigInt(one.captured_amount)),
          statusText(one, paint),
          one.claimed_by ?? '–',
        ]),
        paint.dim,
        width,
      ),
      ...(next_cursor === null ? [] : [paint.dim(`More: --cursor ${next_cursor}`)]),
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
    ]),
});

function statusText({ status }: Pick<RefundCaseSummary, 'status'>, paint: Paint): string {
  if (status === 'refunded') return paint.good(status);
  return status === 'stuck' ? paint.bad(status) : status;
}

const RULES = {
  refundable: 'refundable',
  non_refundable: 'not refundable: the carrier keeps everything',
  undisclosed: 'not disclosed: ask the airline, then name an amount',
} as const;

/** One case on one screen: what is asked, what the fare says, what happened, what was decided. */
export function caseLines(one: RefundCase, nowMs: number, { paint, width }: Screen): string[] {
  const quoted = (text: string | null) =>
    text === null ? ['  –'] : wrap(text, width - 4).map((line) => `  ${line}`);
  return [
    `${paint.bold(one.request_id)}  ${statusText(one, paint)}`,
    ...fieldLines(
      [
        ['Intent', one.intent_id],
        ['Order', one.order_id ?? '–'],
        ['Journey', `${one.route.replace('-', ' → ')} ${one.journey_date}`],
        ['Passengers', String(one.passenger_count)],
        ['Requested', `${utcTime(one.requested_at)} (${fromNow(one.requested_at, nowMs)})`],
        ['Claimed by', one.claimed_by ?? '–'],
        ['Fare', `${one.fare.owner_name}, ${one.fare.fare_brand_name ?? '–'}`],
        ['Refund rule', RULES[one.refund_rule.kind]],
        ['Captured', usdc(one.captured_amount)],
        ['Penalty', usdc(one.decision?.penalty_amount ?? one.refund_rule.penalty_amount)],
        ['Pay-out', paint.bold(usdc(one.decision?.payout_amount ?? one.refund_rule.payout_amount))],
        ['Refunds to', one.refund_wallet],
        ['Paid by', one.payout_tx_hash],
        ['Decided', one.decision && `${one.decision.by}, ${utcTime(one.decision.at)}`],
        ['Last error', one.last_error],
        ['Contact', one.contact ?? '–'],
      ],
      paint.dim,
    ),
    '',
    paint.dim('Reason'),
    ...quoted(one.reason),
    ...(one.decision?.words ? ['', paint.dim('Decision'), ...quoted(one.decision.words)] : []),
    ...(one.notes.length === 0 ? [] : ['', paint.dim('Notes')]),
    ...one.notes.flatMap((note) => quoted(`${utcTime(note.at)}  ${note.by}: ${note.text}`)),
    '',
    paint.dim('Timeline'),
    ...one.timeline.map((entry) =>
      cut(
        `  ${utcTime(entry.at)}  ${entry.event}${entry.detail ? `  ${paint.dim(entry.detail)}` : ''}`,
        width,
      ),
    ),
  ];
}
