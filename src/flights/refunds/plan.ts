import type { AirlineQuote } from '../../kernel/domain/refund-rule.ts';
import { isMoney, nothingToPay, quotedDollars, quoteText, refundRuleOf } from '../../kernel/domain/refund-rule.ts';
import { formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import { loadToken } from '../../solana/index.ts';
import type { ApproveRequest, RefundPlan } from '../../wire/flights/index.ts';
import { type FlightsPorts, type KeptOrder, lockedOffer, orderOf, type RefundRequestRow } from '../base/index.ts';
import { type CancelledBy, cancelledByNow, isDeskOrder } from '../bookings/index.ts';
import { agreementOf } from './airline-quote.ts';
import type { OpenedCase } from './cases.ts';

/**
 * Plans an approval: the operator's amount, else the approved one, else that of the rule (atomic units).
 * @param quoteOf the airline's quote; asked for once the rest of the plan is sound
 * @throws Problem `case_already_decided`, `payout_undecided`, `provider_failed`, `upstream_rate_limited`
 */
export async function planRefund(
  ports: FlightsPorts,
  { row, intent }: OpenedCase,
  request: ApproveRequest,
  quoteOf: () => Promise<AirlineQuote | null>,
): Promise<RefundPlan> {
  const captured = BigInt(intent.amount);
  if (!['received', 'approved', 'stuck'].includes(row.state)) throw alreadyDecided(row);
  const endedBy = await cancelledByNow(ports, intent.intent_id);
  const { payout, overridden } = payoutOf({ row, intent }, request, endedBy);
  const { associatedTokenAddress } = await loadToken();
  const treasuryAccount = await associatedTokenAddress(ports.treasury, ports.mint);
  const order = await orderOf(ports.store, intent.intent_id);
  const quote = await quoteOf();
  return {
    request_id: row.request_id,
    intent_id: intent.intent_id,
    dry_run: true,
    captured_amount: intent.amount,
    penalty_amount: Number(captured - payout),
    payout_amount: Number(payout),
    overridden,
    cancelled_by: endedBy,
    treasury_wallet: ports.treasury,
    treasury_amount: Number((await ports.cluster.tokenBalance(treasuryAccount)) ?? 0n),
    refund_wallet: intent.refund_wallet,
    mint: ports.mint,
    airline_quote: quote,
    steps: stepsOf(ports, { row, intent }, payout, { order, quote, endedBy }),
  };
}

function payoutOf({ row, intent }: OpenedCase, request: ApproveRequest, endedBy: CancelledBy) {
  const captured = BigInt(intent.amount);
  const approved = row.state === 'received' ? null : row.payout_amount;
  if (request.payout_amount !== undefined && request.payout_amount !== approved) {
    checkOverride(request, captured);
    return { payout: BigInt(request.payout_amount), overridden: true };
  }
  // An earlier approval followed another rule when the airline has cancelled since.
  const isOvertaken = endedBy !== null && agreementOf(row)?.cancelled_by !== endedBy;
  if (approved !== null && !isOvertaken) return { payout: BigInt(approved), overridden: false };
  const { payout } = refundRuleOf(lockedOffer(intent), captured, endedBy);
  if (payout === null) throw problem('payout_undecided');
  return { payout, overridden: false };
}

interface AirlineFacts {
  readonly order: KeptOrder | undefined;
  readonly quote: AirlineQuote | null;
  readonly endedBy: CancelledBy;
}

function stepsOf({ treasury }: FlightsPorts, { row, intent }: OpenedCase, payout: bigint, facts: AirlineFacts) {
  const captured = BigInt(intent.amount);
  const byRule = refundRuleOf(lockedOffer(intent), captured, facts.endedBy).payout;
  return [
    cancelStep(row, facts),
    ...quoteSteps(payout, byRule, facts.quote),
    `Pay ${formatUsdc(payout)} USDC from the treasury ${treasury} to the refund wallet ${intent.refund_wallet}.`,
    keptStep(captured, payout, byRule),
    'End the intent as refunded, and e-mail the lead passenger.',
  ];
}

function cancelStep(row: RefundRequestRow, { order, quote, endedBy }: AirlineFacts): string {
  const id = order?.order_id ?? '–';
  if (endedBy === 'airline') return `Cancel nothing: the airline has cancelled order ${id} itself. It keeps nothing.`;
  return isDeskOrder(order?.provider_order_id ?? '') || quote?.quote_id === null
    ? `Wait for you to cancel order ${id} with the airline: then farelock stuck resolve ${row.request_id} cancelled.`
    : `Cancel order ${id} with the airline (${order?.provider_order_id ?? '–'}).`;
}

/** Compares the airline's refund with the pay-out, where both are known. */
function quoteSteps(payout: bigint, byRule: bigint | null, quote: AirlineQuote | null): string[] {
  if (quote === null || quote.quote_id === null) return [];
  const told = `Get back from the airline: ${quoteText(quote)}.`;
  if (quote.refund_to !== null && !isMoney(quote)) {
    const lost = `Lose ${formatUsdc(payout)} USDC: what the airline gives back is not money.`;
    return payout === 0n ? [told] : [told, lost];
  }
  const dollars = quotedDollars(quote);
  if (dollars === null) return [told];
  const back = parseUsdc(dollars);
  if (back < payout) {
    const lost = formatUsdc(payout - back);
    return [told, `Lose ${lost} USDC: the pay-out is more than the airline gives back.`];
  }
  if (back === payout) return [told];
  const moreThanRule =
    byRule !== null && back > byRule
      ? ` The fare rule gives ${formatUsdc(byRule)}: the ticket may still be in its void window, in which airlines charge no penalty.`
      : '';
  return [
    told,
    `Gain ${formatUsdc(back - payout)} USDC: the airline gives back more than the pay-out.${moreThanRule} To pass it on: --amount ${dollars} --note <text>.`,
  ];
}

/** Explains the amount that is not paid out: the carrier's penalty, or the rest of a partial pay-out. */
function keptStep(captured: bigint, payout: bigint, byRule: bigint | null): string {
  if (payout === captured) return 'Keep nothing: the whole price goes back.';
  const kept = `Keep ${formatUsdc(captured - payout)} USDC of ${formatUsdc(captured)}`;
  return payout === byRule
    ? `${kept}: the penalty of the fare rule.`
    : `${kept}: this is a partial pay-out${byRule === null ? '' : `, and the fare rule gives ${formatUsdc(byRule)}`}.`;
}

export const alreadyDecided = (row: RefundRequestRow) =>
  problem('case_already_decided', {
    detail: { status: row.state, ...(row.decided_by_name ? { decided_by: row.decided_by_name } : {}) },
  });

function checkOverride(request: ApproveRequest, captured: bigint): void {
  const issues = [
    ...(BigInt(request.payout_amount ?? 0) > captured
      ? [{ path: 'payout_amount', message: `is more than the ${formatUsdc(captured)} USDC that was paid.` }]
      : []),
    ...(request.note === undefined ? [{ path: 'note', message: 'is required when you set the amount yourself.' }] : []),
  ];
  if (issues.length > 0) throw problem('invalid_request', { detail: { issues } });
}

export function checkPlan(planned: RefundPlan, request: ApproveRequest): void {
  const expected = request.expected_payout_amount;
  if (expected !== undefined && expected !== planned.payout_amount) {
    throw problem('plan_changed', { detail: { expected, payout_amount: planned.payout_amount } });
  }
  if (planned.payout_amount === 0) throw nothingToPay(planned.airline_quote);
  if (planned.treasury_amount < planned.payout_amount) {
    const { treasury_amount, payout_amount } = planned;
    throw problem('treasury_insufficient', { detail: { treasury_amount, payout_amount } });
  }
}
