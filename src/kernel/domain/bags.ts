/** The price of carrying bags, for the service, its airlines and the tool. */

export type BagType = 'checked' | 'carry_on';

/** Bags wanted for each traveller. */
export interface Bags {
  readonly checked: number;
  readonly carry_on: number;
}

/** A bag sold to one traveller for the whole journey. `amount`: the price of one, in atomic units of 6 decimals. */
export interface SoldBag {
  readonly type: BagType | null;
  readonly most: number;
  readonly amount: bigint;
  readonly currency: string;
}

/** Bags of one traveller with a fare: the number included (null if undisclosed), and the bags for sale. */
export interface TravellerBags<B extends SoldBag = SoldBag> {
  readonly included: Readonly<Record<BagType, number | null>>;
  readonly sold: readonly B[];
}

/** A fare's price with the wanted bags; null amounts are unknown. */
export interface WithBags {
  /** `fare`: included, but not in a cheaper fare of the itinerary. `service`: extra bags are bought. */
  way: 'included' | 'fare' | 'service' | 'unknown';
  bags_amount_decimal: string | null;
  /** Atomic units. */
  total_amount: number | null;
  total_amount_decimal: string | null;
}

const TYPES: readonly BagType[] = ['checked', 'carry_on'];

export const wantsBags = (bags: Bags | null | undefined): bags is Bags =>
  bags != null && (bags.checked > 0 || bags.carry_on > 0);

/** True if a fare is known to include the bags. */
export const includesBags = (
  fare: { readonly checked_bags_included: number | null; readonly carry_on_bags_included: number | null },
  { checked, carry_on }: Bags,
): boolean => (fare.checked_bags_included ?? 0) >= checked && (fare.carry_on_bags_included ?? 0) >= carry_on;

/**
 * Chooses the cheapest bags that give every traveller the wanted ones. An undisclosed allowance counts as none, so a
 * price is never too low. Returns null if the seller does not price all of them in the fare's currency.
 */
export function bagsToBuy<B extends SoldBag>(
  travellers: readonly TravellerBags<B>[],
  currency: string,
  wanted: Bags,
): { readonly amount: bigint; readonly bought: readonly { readonly bag: B; readonly quantity: number }[] } | null {
  if (travellers.length === 0) return null;
  const bought: { bag: B; quantity: number }[] = [];
  for (const { included, sold } of travellers) {
    for (const type of TYPES) {
      let missing = wanted[type] - (included[type] ?? 0);
      const fitting = sold
        .filter((bag) => bag.type === type && bag.currency === currency)
        .sort((a, b) => (a.amount < b.amount ? -1 : a.amount > b.amount ? 1 : 0));
      for (const bag of fitting) {
        const quantity = Math.min(missing, bag.most);
        if (quantity <= 0) continue;
        bought.push({ bag, quantity });
        missing -= quantity;
      }
      if (missing > 0) return null;
    }
  }
  return { amount: bought.reduce((sum, { bag, quantity }) => sum + bag.amount * BigInt(quantity), 0n), bought };
}

export const countedBags = (
  bought: readonly { readonly bag: SoldBag; readonly quantity: number }[],
): { type: BagType; quantity: number }[] =>
  TYPES.flatMap((type) => {
    const quantity = bought.reduce((sum, one) => sum + (one.bag.type === type ? one.quantity : 0), 0);
    return quantity > 0 ? [{ type, quantity }] : [];
  });

/** Gives each traveller of a fare the same bags. */
export const alike = <B extends SoldBag>(
  count: number,
  fare: { readonly checked_bags_included: number | null; readonly carry_on_bags_included: number | null },
  sold: readonly B[],
): TravellerBags<B>[] =>
  Array.from({ length: count }, () => ({
    included: { checked: fare.checked_bags_included, carry_on: fare.carry_on_bags_included },
    sold,
  }));
