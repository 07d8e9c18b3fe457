import type { ProviderOrder } from '../../airlines/index.ts';
import type { EscrowAccount } from '../../escrow/index.ts';
import { instant } from '../../kernel/clock.ts';
import { asInteger } from '../../kernel/money.ts';
import type { Offer, Slice } from '../../wire/flights/index.ts';
import type { FlightsPorts, IntentRow } from '../base/index.ts';
import type { LandedPayment } from './types.ts';

/** Rebuilds a lost intent from escrow and order, or returns null. Fare rules, affiliate and support code are lost. */
export function adoptedIntent(
  { options }: Pick<FlightsPorts, 'options'>,
  escrow: EscrowAccount,
  order: ProviderOrder,
  paid: LandedPayment | null,
): IntentRow | null {
  const [outbound] = order.slices;
  if (!outbound) return null;
  const refundAfterMs = Number(escrow.refundAfter) * 1000;
  const expiresAtMs = refundAfterMs - options.refundAfterMs;
  // A partial capture overwrites the time of opening.
  const openedAtMs = escrow.openedAt === null ? expiresAtMs - options.intentLifeMs : Number(escrow.openedAt) * 1000;
  return {
    intent_id: order.reference,
    status: 'active',
    offer_id: `forgotten:${order.providerOrderId}`,
    offer: JSON.stringify(offerOf(order, outbound, escrow.amount, expiresAtMs)),
    passenger_count: Math.max(1, order.documents.length),
    bags: null,
    seats: null,
    sale_key: null,
    funding_wallet: paid?.payer ?? escrow.refundOwner,
    refund_wallet: escrow.refundOwner,
    ...{ referrer: null, referrer_wallet: null, affiliate_amount: null, credit_due_at_ms: null, credited_at_ms: null },
    support_code_hmac: '',
    escrow_kind: escrow.kind === 'intent' ? 'opened' : 'authorized',
    escrow_address: escrow.address,
    vault_address: escrow.vault,
    mint: escrow.mint,
    amount: asInteger(escrow.amount),
    program_id: escrow.programId,
    authority: escrow.authority,
    refund_after_ms: refundAfterMs,
    fee_amount: asInteger((escrow.amount * BigInt(options.feeBasisPoints)) / 10_000n),
    observed_amount: asInteger(escrow.amount),
    opened_at_ms: openedAtMs,
    abandoned: 0,
    order_id: null,
    booking_requested_at_ms: paid?.atMs ?? openedAtMs,
    ticketed_at_ms: order.updatedAtMs,
    ...{ captured_at_ms: null, capture_tx_hash: null, refund_reason: null, refunded_at_ms: null, refund_tx_hash: null },
    ...{ payment_key: null, active_key: null, creating_key: null },
    expires_at_ms: expiresAtMs,
    created_at_ms: openedAtMs,
    updated_at_ms: openedAtMs,
  };
}

/** Rebuilds the offer from its order. Anything that the order does not say is undisclosed. */
function offerOf(order: ProviderOrder, outbound: Slice, amount: bigint, expiresAtMs: number): Offer {
  const { segments, ...flown } = outbound;
  return {
    ...flown,
    offer_id: `forgotten:${order.providerOrderId}`,
    comparison_key: order.providerOrderId,
    owner_name: segments[0]?.marketing_carrier_name ?? '–',
    slices: [...order.slices],
    cabin_class: 'economy',
    ...{ cabin_class_marketing_name: null, checked_bags_included: null, carry_on_bags_included: null },
    conditions: null,
    total_amount: asInteger(amount),
    total_amount_decimal: order.totalAmountDecimal,
    total_currency: order.totalCurrency,
    ...{ base_amount_decimal: null, tax_amount_decimal: null, total_emissions_kg: null },
    supported_loyalty_programmes: [],
    ...{ identity_documents_required: false, requires_instant_payment: true },
    expires_at: instant(expiresAtMs),
  };
}
