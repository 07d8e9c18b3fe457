import { parseUsdc } from '../../kernel/money.ts';
import type { Offer } from '../wire.ts';

/** What the fare says about a refund, and what follows from it for one captured amount (atomic units). */
interface RefundRule {
  /** `undisclosed`: the airline did not say; a person has to ask it. */
  readonly kind: 'refundable' | 'non_refundable' | 'undisclosed';
  /** What the carrier keeps; null while undisclosed. */
  readonly penalty: bigint | null;
  /** What is paid out unless an operator decides otherwise; null while undisclosed. */
  readonly payout: bigint | null;
}

/**
 * The rule of the locked offer. The penalty is for all travellers together and never more than the fare. A
 * non-refundable fare keeps everything. A penalty in another currency than the fare's can't be computed: undisclosed.
 */
export function refundRuleOf(offer: Offer, captured: bigint): RefundRule {
  const { conditions } = offer;
  if (conditions?.refund_allowed === false) {
    return { kind: 'non_refundable', penalty: captured, payout: 0n };
  }
  const amount = conditions?.refund_penalty_amount ?? null;
  const isFree = amount !== null && parseUsdc(amount) === 0n;
  const sameCurrency = isFree || conditions?.refund_penalty_currency === offer.total_currency;
  if (conditions?.refund_allowed !== true || amount === null || !sameCurrency) {
    return { kind: 'undisclosed', penalty: null, payout: null };
  }
  const penalty = parseUsdc(amount) < captured ? parseUsdc(amount) : captured;
  return { kind: 'refundable', penalty, payout: captured - penalty };
}
