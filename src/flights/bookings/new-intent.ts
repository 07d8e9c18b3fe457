import type { Address } from '@solana/kit';
import type { LiveOffer } from '../../airlines/provider.ts';
import { asInteger } from '../../kernel/money.ts';
import type { Payment } from '../../payments/terms.ts';
import type { CreateIntentRequest } from '../../wire/flights/index.ts';
import { ticketTotal } from '../offers/live-offer.ts';
import type { FlightsPorts } from '../ports.ts';
import type { IntentRow } from '../rows.ts';
import { activeKey, creatingKey } from './creations.ts';
import type { Escrows } from './escrows.ts';

/** The row of an intent that a payment asks for: not shown yet, and with no code. */
export async function newIntent(
  ports: FlightsPorts,
  escrows: Escrows,
  request: CreateIntentRequest,
  payment: Payment,
  { offer, passengerCount, saleKey }: LiveOffer,
): Promise<IntentRow> {
  const { clock, ids, options } = ports;
  const refundWallet = request.refund_wallet ?? payment.payer;
  const nowMs = clock.now();
  const { refundCommitment } = await import('../../escrow/commitment.ts');
  // The id names the refund owner, so that money which comes after the escrow was closed still reaches him.
  const intentId = ids.committed('int', (start) => refundCommitment(start, refundWallet as Address));
  const place = await escrows.place(intentId);
  const amount = ticketTotal(offer) ?? 0n;
  const fee = (amount * BigInt(options.feeBasisPoints)) / 10_000n;
  const referral =
    request.referrer === undefined
      ? null
      : await referred(ports, request.referrer, [payment.payer, refundWallet], fee, offer);
  const expiresAtMs = Math.min(Date.parse(offer.expires_at), nowMs + options.intentLifeMs);
  return {
    intent_id: intentId,
    status: 'active',
    offer_id: request.offer_id,
    offer: JSON.stringify(offer),
    passenger_count: passengerCount,
    sale_key: saleKey ?? null,
    funding_wallet: payment.payer,
    refund_wallet: refundWallet,
    referrer: referral?.code ?? null,
    referrer_wallet: referral?.wallet ?? null,
    affiliate_amount: referral ? asInteger(referral.amount) : null,
    credit_due_at_ms: referral?.creditDueAtMs ?? null,
    credited_at_ms: null,
    support_code_hmac: '',
    escrow_address: place.address,
    vault_address: place.vault,
    mint: ports.mint,
    amount: asInteger(amount),
    program_id: place.programId,
    refund_after_ms: Math.ceil((expiresAtMs + options.refundAfterMs) / 1000) * 1000,
    fee_amount: asInteger(fee),
    observed_amount: 0,
    opened_at_ms: null,
    abandoned: 0,
    order_id: null,
    booking_requested_at_ms: null,
    ticketed_at_ms: null,
    captured_at_ms: null,
    capture_tx_hash: null,
    refund_reason: null,
    refunded_at_ms: null,
    refund_tx_hash: null,
    payment_key: payment.key,
    active_key: activeKey(payment.payer, request.offer_id),
    creating_key: creatingKey.payer(payment.payer),
    expires_at_ms: expiresAtMs,
    created_at_ms: nowMs,
    updated_at_ms: nowMs,
  };
}

/** Loaded for an intent that names a code alone. */
async function referred(
  ports: FlightsPorts,
  code: string,
  wallets: readonly string[],
  fee: bigint,
  offer: LiveOffer['offer'],
) {
  const { resolveReferrer } = await import('../refunds/affiliates.ts');
  const { journeyEndMs } = await import('./journey-end.ts');
  const referral = await resolveReferrer(ports, code, wallets, fee);
  return referral && { ...referral, creditDueAtMs: journeyEndMs(offer.slices) };
}
