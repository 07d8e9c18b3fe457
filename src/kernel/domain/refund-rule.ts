import { parseUsdc } from '../money.ts';

/** A fare as its refund depends on it: an offer of the wire, or what the tool has kept of one. */
interface RefundableFare {
  readonly total_currency: string;
  readonly conditions: {
    readonly refund_allowed: boolean | null;
    readonly refund_penalty_amount: string | null;
    readonly refund_penalty_currency: string | null;
  } | null;
}

/** The refund that a fare allows, and what follows from it for one captured amount (atomic units). */
interface RefundRule {
  /**
   * `undisclosed`: the airline did not say; a person has to ask it. `cancelled_by_airline`: the fare's rule is for
   * customers who cancel, and this order was cancelled by the airline.
   */
  readonly kind: 'refundable' | 'non_refundable' | 'undisclosed' | 'cancelled_by_airline';
  /** What the carrier keeps; null while undisclosed. */
  readonly penalty: bigint | null;
  /** What is paid out unless an operator decides otherwise; null while undisclosed. */
  readonly payout: bigint | null;
}

/**
 * The rule of a fare, by which the service pays out and the tool says what to expect. The penalty is for all travellers
 * together and never more than the fare. A non-refundable fare keeps everything. A penalty in another currency than the
 * fare's can't be computed: undisclosed. Where the airline cancelled the order itself, nothing is kept.
 */
export function refundRuleOf(
  fare: RefundableFare,
  captured: bigint,
  cancelledBy: 'airline' | null = null,
): RefundRule {
  if (cancelledBy === 'airline') return { kind: 'cancelled_by_airline', penalty: 0n, payout: captured };
  const { conditions } = fare;
  if (conditions?.refund_allowed === false) {
    return { kind: 'non_refundable', penalty: captured, payout: 0n };
  }
  const amount = conditions?.refund_penalty_amount ?? null;
  const isFree = amount !== null && parseUsdc(amount) === 0n;
  const sameCurrency = isFree || conditions?.refund_penalty_currency === fare.total_currency;
  if (conditions?.refund_allowed !== true || amount === null || !sameCurrency) {
    return { kind: 'undisclosed', penalty: null, payout: null };
  }
  const penalty = parseUsdc(amount) < captured ? parseUsdc(amount) : captured;
  return { kind: 'refundable', penalty, payout: captured - penalty };
}
