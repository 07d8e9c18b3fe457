import { type AirlineQuote, quotedDollars, quoteText } from '../../domain/airline-quote.ts';
import { refundRuleOf } from '../../domain/refund-rule.ts';
import { formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import { isDeskOrder } from '../desk/desk-orders.ts';
import { lockedOffer } from '../intents/intent-record.ts';
import type { FlightsPorts } from '../ports.ts';
import type { RefundRequestRow } from '../rows.ts';
import type { ApproveRequest, RefundPlan } from '../wire.ts';
import type { OpenedCase } from './cases.ts';

/**
 * What an approval would move (atomic units): from the fare rule or the operator's own amount, and for a case that was
 * approved before what was approved.
 * @param quoteOf what the airline says that it gives back; asked once the rest of the plan holds
 * @throws Problem `case_already_decided`, `payout_undecided`
 */
export async function planRefund(
  ports: FlightsPorts,
  { row, intent }: OpenedCase,
  request: ApproveRequest,
  quoteOf: () => Promise<AirlineQuote | null>,
): Promise<RefundPlan> {
  const captured = BigInt(intent.amount);
  if (!['received', 'approved', 'stuck'].includes(row.state)) throw alreadyDecided(row);
  const { payout, overridden } = payoutOf({ row, intent }, request);
  const { associatedTokenAddress } = await import('../../solana/token.ts');
  const treasuryAccount = await associatedTokenAddress(ports.treasury, ports.mint);
  const order = await ports.store
    .selectFrom('orders')
    .select(['order_id', 'provider_order_id'])
    .where('intent_id', '=', intent.intent_id)
    .executeTakeFirst();
  const quote = await quoteOf();
  return {
    request_id: row.request_id,
    intent_id: intent.intent_id,
    dry_run: true,
    captured_amount: intent.amount,
    penalty_amount: Number(captured - payout),
    payout_amount: Number(payout),
    overridden,
    treasury_wallet: ports.treasury,
    treasury_amount: Number((await ports.cluster.tokenBalance(treasuryAccount)) ?? 0n),
    refund_wallet: intent.refund_wallet,
    mint: ports.mint,
    airline_quote: quote,
    steps: stepsOf(ports, { row, intent }, payout, { order, quote }),
  };
}

/** What was approved before, the operator's own amount, or the fare rule's. */
function payoutOf(
  { row, intent }: OpenedCase,
  request: ApproveRequest,
): { readonly payout: bigint; readonly overridden: boolean } {
  const captured = BigInt(intent.amount);
  const approved = row.state === 'received' ? null : row.payout_amount;
  if (approved !== null) return { payout: BigInt(approved), overridden: false };
  if (request.payout_amount !== undefined) {
    checkOverride(request, captured);
    return { payout: BigInt(request.payout_amount), overridden: true };
  }
  const { payout } = refundRuleOf(lockedOffer(intent), captured);
  if (payout === null) throw problem('payout_undecided');
  return { payout, overridden: false };
}

function stepsOf(
  { treasury }: FlightsPorts,
  { row, intent }: OpenedCase,
  payout: bigint,
  { order, quote }: { readonly order: KeptOrder | undefined; readonly quote: AirlineQuote | null },
): string[] {
  const captured = BigInt(intent.amount);
  return [
    isDeskOrder(order?.provider_order_id ?? '') || quote?.quote_id === null
      ? `Wait for you to cancel order ${order?.order_id} with the airline: then farelock stuck resolve ${row.request_id} cancelled.`
      : `Cancel order ${order?.order_id ?? '–'} with the airline (${order?.provider_order_id ?? '–'}).`,
    ...(quote && quote.quote_id !== null ? [`Get back from the airline: ${quoteText(quote)}.`] : []),
    ...lossStep(payout, quote),
    `Pay ${formatUsdc(payout)} USDC from the treasury ${treasury} to the refund wallet ${intent.refund_wallet}.`,
    keptStep(captured, payout, refundRuleOf(lockedOffer(intent), captured).payout),
    'End the intent as refunded, and e-mail the lead passenger.',
  ];
}

interface KeptOrder {
  readonly order_id: string;
  readonly provider_order_id: string;
}

/** Said where more is paid out than comes back. What is not known is not compared. */
function lossStep(payout: bigint, quote: AirlineQuote | null): string[] {
  const back = quotedDollars(quote);
  if (back === null || parseUsdc(back) >= payout) return [];
  return [
    `Lose ${formatUsdc(payout - parseUsdc(back))} USDC: the pay-out is more than the airline gives back.`,
  ];
}

/** What is not paid out: the carrier's penalty, or the rest of an amount that an operator named. */
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
    ...(request.note === undefined
      ? [{ path: 'note', message: 'is required when you set the amount yourself.' }]
      : []),
  ];
  if (issues.length > 0) throw problem('invalid_request', { detail: { issues } });
}

/** @throws Problem `plan_changed`, `payout_is_zero`, `treasury_insufficient` */
export function checkPlan(planned: RefundPlan, request: ApproveRequest): void {
  const expected = request.expected_payout_amount;
  if (expected !== undefined && expected !== planned.payout_amount) {
    throw problem('plan_changed', { detail: { expected, payout_amount: planned.payout_amount } });
  }
  if (planned.payout_amount === 0) throw problem('payout_is_zero');
  if (planned.treasury_amount < planned.payout_amount) {
    const { treasury_amount, payout_amount } = planned;
    throw problem('treasury_insufficient', { detail: { treasury_amount, payout_amount } });
  }
}
