/**
 * A total that was agreed to, shared out among the searches that it is for. A search may cost what is left divided by
 * the searches that are left, so that the total is never passed and there is always enough for the last one.
 * Amounts are atomic USDC.
 */
export interface Shares {
  /** The most that the next search may cost; it is set aside. */
  take(): bigint;
  /** A search has cost this much. */
  paid(share: bigint, amount: bigint): void;
  /** Nothing was signed: the search is still to come. */
  back(share: bigint): void;
}

export function openShares(total: bigint, searches: number): Shares {
  let left = total;
  let waiting = searches;
  return {
    take() {
      const share = left / BigInt(Math.max(1, waiting));
      left -= share;
      waiting--;
      return share;
    },
    paid(share, amount) {
      left += share - amount;
    },
    back(share) {
      left += share;
      waiting++;
    },
  };
}
