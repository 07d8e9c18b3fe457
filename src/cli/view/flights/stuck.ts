import { formatUsdc } from '../../../kernel/money.ts';
import { fieldLines, tableLines } from '../../../terminal/table.ts';
import type { Screen, View } from '../../../terminal/terminal.ts';
import { wrap } from '../../../terminal/text.ts';
import { fromNow, utcTime } from '../../../terminal/times.ts';
import type { Stuck, StuckItem } from '../../../wire/flights/index.ts';

type Row = readonly [kind: string, id: string, why: string, since: string];

/** Every kind in one list, what concerns money that travellers wait for first. */
const rowsOf = (found: Stuck): Row[] => [
  ...found.bookings.map((one): Row => ['booking', one.intent_id, one.last_error ?? '–', one.updated_at]),
  ...found.refund_requests.map((one): Row => ['refund', one.request_id, one.status, one.requested_at]),
  ...found.affiliate_payouts.map(
    (one): Row => ['pay-out', one.payout_id, one.last_error ?? '–', one.created_at],
  ),
  // A service of an earlier version does not list these.
  ...(found.partner_orders ?? []).map(
    (one): Row => ['ramp-order', one.order_id, one.last_error ?? '–', one.updated_at],
  ),
  ...found.effects.map(
    (one): Row => [`effect ${one.kind}`, one.effect_id, one.error ?? one.state, one.created_at],
  ),
];

/** Work that waits for a person. */
export const stuckView = (nowMs: number): View<Stuck> => ({
  lines: (found, { paint, width }) => {
    const rows = rowsOf(found);
    if (rows.length === 0) return ['Nothing is waiting for a decision.'];
    return tableLines(
      [{ title: 'Kind' }, { title: 'Id' }, { title: 'Why', cuts: true }, { title: 'Since' }],
      // The kind of an effect is on its own screen: ids fit from 60 columns on.
      rows.map(([kind, id, why, since]) => [kind.replace(/ .*/, ''), id, why, fromNow(since, nowMs)]),
      paint.dim,
      width,
    );
  },
  rows: (found) => rowsOf(found).map((row) => [...row]),
});

const REFUSALS: Readonly<Record<string, string>> = {
  escrow_refunded: 'the escrow was already refunded',
  escrow_captured: 'the escrow is captured',
  escrow_missing: 'there is no escrow on chain',
  escrow_unfunded: 'the escrow holds less than the ticket costs',
  airline_ticketed: 'the airline has a ticket: cancel it there first, or keep it',
  airline_has_no_order: 'the airline says that it has no such order',
  airline_cancelled: 'the airline no longer has a ticket',
  cancelled_by_airline: 'the airline cancelled it itself: approve the request again, for the whole amount',
  capture_under_way: 'a capture may still land',
  refund_under_way: 'a refund may still land',
  payment_unsettled: 'the outcome of the payment is not known yet',
  other_kind: 'it ends with its booking or its refund',
};

/** One of them on one screen: how it stands, and what each decision would do. */
export function stuckLines(one: StuckItem, nowMs: number, { paint, width }: Screen): string[] {
  const usdc = (amount: number | null) => (amount === null ? null : `${formatUsdc(BigInt(amount))} USDC`);
  return [
    `${paint.bold(one.id)}  ${one.is_stuck ? paint.bad('stuck') : paint.good(one.state)}`,
    ...fieldLines(
      [
        ['Kind', one.kind.replace('_', ' ')],
        ['Stuck in', one.stuck_in],
        ['Why', one.reason],
        ['Since', `${utcTime(one.since)} (${fromNow(one.since, nowMs)})`],
        ['Intent', one.intent_id === one.id ? null : one.intent_id],
        ['Amount', usdc(one.amount)],
        ['Escrow', one.escrow && `${one.escrow.state}, holds ${usdc(one.escrow.held_amount)}`],
        [
          'Anyone can refund',
          one.escrow &&
            `after ${utcTime(one.escrow.refund_after)} (${fromNow(one.escrow.refund_after, nowMs)})`,
        ],
        [
          'Airline says',
          one.airline && [one.airline.status, one.airline.booking_reference].filter(Boolean).join(' '),
        ],
        // A service of an earlier version does not say these.
        ['Its code', one.airline?.code ?? null],
        ['Its request', one.airline?.request_id ?? null],
        [
          'Decided',
          one.decided && `${one.decided.decision}, by ${one.decided.by}, ${utcTime(one.decided.at)}`,
        ],
      ],
      paint.dim,
    ),
    ...(one.ask == null ? [] : ['', ...wrap(one.ask, width).map(paint.warn)]),
    ...one.decisions.flatMap(({ decision, refusal, steps }) => [
      '',
      `${paint.bold(decision.replace('_', '-'))}${refusal === null ? '' : paint.dim(`  not now: ${REFUSALS[refusal] ?? refusal}`)}`,
      ...(refusal === null ? steps.flatMap((step) => wrap(step, width - 4).map((line) => `  ${line}`)) : []),
    ]),
  ];
}

/** A decision that was carried out: what changed, and how much it was about. */
export function resolvedLines(one: StuckItem, { paint, width }: Screen): string[] {
  const decided = one.decided ? `${one.decided.decision.replace('_', '-')}: ` : '';
  const amount = one.amount === null ? '' : `, ${formatUsdc(BigInt(one.amount))} USDC`;
  const [first, ...more] = wrap(`${one.id} ${decided}${one.state}${amount}`, width - 2);
  return [`${paint.good('✓')} ${first}`, ...more.map((line) => `  ${line}`)];
}
