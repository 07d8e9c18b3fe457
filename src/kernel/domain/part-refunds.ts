import { type RefundableFare, type RefundRule, refundRuleOf } from './refund-rule.ts';
import { ADULT_FROM, CHILD_FROM, type TravellerType, YOUTH_FROM } from './travel-ages.ts';

/** Refunds of some of a booking's travellers. Travellers are numbered from 1, in the order of the passengers. */

/** One traveller's share of a price: `amount` atomic units from offset `at`, where the share before it ends. */
export interface Share {
  readonly passenger: number;
  readonly type: TravellerType;
  readonly at: number;
  readonly amount: number;
}

/** The travellers of a refund request for a part of a booking, or for the rest of it. */
export interface Part {
  /** True if no traveller stays: the refund then ends the booking. */
  readonly ends: boolean;
  readonly of: readonly Share[];
}

const CENT = 10_000n;
const isInCents = (amount: bigint): boolean => amount % CENT === 0n;
const downToCent = (amount: bigint): bigint => amount - (amount % CENT);

/** The part of `total` for units `from` to `to` of `whole`, in cents if both are. Adjoining parts add up exactly. */
function slice(total: bigint, whole: bigint, from: bigint, to: bigint): bigint {
  if (whole === 0n) return 0n;
  const upTo = (place: bigint) => (total * place) / whole;
  if (!isInCents(total) || !isInCents(whole)) return upTo(to) - upTo(from);
  return downToCent(upTo(to)) - downToCent(upTo(from));
}

/**
 * Splits a price: each traveller bears the fare, the chosen seats, and an equal part of the rest (bags), which lap
 * infants do not share. @param fares null for an undisclosed fare; undefined if all are adults, who pay alike
 * @returns null if the shares are unknown
 */
export function sharesOf(
  total: bigint,
  types: readonly TravellerType[],
  fares: readonly (bigint | null)[] | undefined,
  chosenSeats: readonly bigint[] = [],
): Share[] | null {
  const known = types.map((_, index) => {
    const fare = fares ? (fares[index] ?? null) : 0n;
    return fare === null ? null : fare + (chosenSeats[index] ?? 0n);
  });
  const seated = types.map((type) => BigInt(fares && type === 'infant' ? 0 : 1));
  const seats = seated.reduce((sum, one) => sum + one, 0n);
  let rest = total;
  for (const fare of known) {
    if (fare === null) return null;
    rest -= fare;
  }
  if (rest < 0n || (rest > 0n && seats === 0n)) return null;
  let [fare, before, at] = [0n, 0n, 0n];
  return types.map((type, index) => {
    [fare, before] = [fare + (known[index] ?? 0n), before + (seated[index] ?? 0n)];
    const end = fare + (seats === 0n ? 0n : (rest * before) / seats);
    // Whole cents if the price is, so that a penalty in cents never exceeds a share.
    const next = isInCents(total) && index < types.length - 1 ? downToCent(end) : end;
    const share = { passenger: index + 1, type, at: Number(at), amount: Number(next - at) };
    at = next;
    return share;
  });
}

/** The price of a request's travellers (atomic units). */
export const stakeOf = (part: Part | null, price: bigint): bigint =>
  part === null ? price : part.of.reduce((sum, { amount }) => sum + BigInt(amount), 0n);

/** Applies the fare's rule to a request's travellers: each bears the penalty by share, and all parts add up to it. */
export function partRuleOf(
  part: Part | null,
  fare: RefundableFare,
  price: bigint,
  cancelledBy: 'airline' | null = null,
): RefundRule {
  const rule = refundRuleOf(fare, price, cancelledBy);
  const { penalty } = rule;
  if (part === null || penalty === null) return rule;
  const kept = part.of.reduce(
    (sum, { at, amount }) => sum + slice(penalty, price, BigInt(at), BigInt(at) + BigInt(amount)),
    0n,
  );
  return { ...rule, penalty: kept, payout: stakeOf(part, price) - kept };
}

/** Says why the staying travellers cannot fly alone; null if they can. @param staying ages when the last direction departs */
export function companionFault(staying: readonly number[]): string | null {
  const adults = staying.filter((age) => age >= ADULT_FROM).length;
  const infants = staying.filter((age) => age < CHILD_FROM).length;
  if (adults === 0 && staying.some((age) => age < YOUTH_FROM)) {
    return `A child under ${YOUTH_FROM} would fly without a traveller of ${ADULT_FROM} or over.`;
  }
  return infants > adults ? `An infant would have no adult's lap.` : null;
}
