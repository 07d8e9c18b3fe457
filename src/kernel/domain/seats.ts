/** Seats that are chosen with a fare, for the service, its airlines and the tool. Positions count from 0. */

/** A traveller's seat on one flight. The indexes count the offer's travellers, and the flights of all directions. */
export interface WantedSeat {
  readonly passenger_index: number;
  readonly segment_index: number;
  readonly designator: string;
}

/** A seat's price for one traveller. `amount`: atomic units of 6 decimals. */
export interface SoldSeat {
  readonly passenger_index: number;
  readonly amount: bigint;
  readonly currency: string;
}

export interface Seat<S extends SoldSeat = SoldSeat> {
  /** `12A` */
  readonly designator: string;
  readonly name: string | null;
  /** The airline's own terms for this seat. */
  readonly disclosures: readonly string[];
  /** At most one price per traveller; empty if the seat is taken. */
  readonly sold: readonly S[];
}

export const OTHER_ELEMENTS = [
  ...(['empty', 'exit_row', 'bassinet', 'lavatory'] as const),
  ...(['galley', 'closet', 'stairs'] as const),
] as const;
export type OtherElement = (typeof OTHER_ELEMENTS)[number];

export interface SeatCabin<S extends SoldSeat = SoldSeat> {
  /** 1 is an upper deck. */
  readonly deck: number;
  readonly cabin_class: string | null;
  /** From front to back; aisles lie between the sections of a row. */
  readonly rows: readonly (readonly (readonly (Seat<S> | OtherElement)[])[])[];
}

export interface SeatMap<S extends SoldSeat = SoldSeat> {
  readonly segment_index: number;
  readonly cabins: readonly SeatCabin<S>[];
}

export interface BoughtSeat<S extends SoldSeat = SoldSeat> {
  readonly wanted: WantedSeat;
  readonly sold: S;
  readonly disclosures: readonly string[];
}

export const seatsOn = <S extends SoldSeat>({ cabins }: SeatMap<S>): Seat<S>[] =>
  cabins.flatMap(({ rows }) => rows.flat(2)).filter((element) => typeof element !== 'string');

/** Prices the chosen seats. `missing`: seats that are taken, or not sold to the traveller in the fare's currency. */
export function seatsToBuy<S extends SoldSeat>(
  maps: readonly SeatMap<S>[],
  currency: string,
  wanted: readonly WantedSeat[],
): { readonly amount: bigint; readonly bought: readonly BoughtSeat<S>[]; readonly missing: readonly WantedSeat[] } {
  const bought: BoughtSeat<S>[] = [];
  const missing: WantedSeat[] = [];
  for (const one of wanted) {
    const map = maps.find(({ segment_index }) => segment_index === one.segment_index);
    const seat = map && seatsOn(map).find(({ designator }) => designator === one.designator);
    const sold = seat?.sold.find(
      (price) => price.passenger_index === one.passenger_index && price.currency === currency,
    );
    if (seat && sold) bought.push({ wanted: one, sold, disclosures: seat.disclosures });
    else missing.push(one);
  }
  return { amount: bought.reduce((sum, { sold }) => sum + sold.amount, 0n), bought, missing };
}

/** Finds a fault in chosen seats without a seat map; null if there is none. @param infants indexes of lap infants */
export function seatsFault(
  wanted: readonly WantedSeat[],
  {
    travellers,
    infants,
    segments,
  }: { readonly travellers: number; readonly infants: readonly number[]; readonly segments: number },
): { readonly path: string; readonly message: string } | null {
  const seen = new Set<string>();
  for (const [at, { passenger_index: passenger, segment_index: segment, designator }] of wanted.entries()) {
    const fault = (field: string, message: string) => ({ path: `seats.${at}.${field}`, message });
    if (passenger >= travellers)
      return fault('passenger_index', `must be less than ${travellers}, the number of travellers.`);
    if (segment >= segments) return fault('segment_index', `must be less than ${segments}, the number of flights.`);
    if (infants.includes(passenger)) return fault('passenger_index', 'is an infant, who sits on the lap of an adult.');
    if (seen.has(`${segment} ${designator}`)) return fault('designator', 'is chosen twice on this flight.');
    if (seen.has(`${segment} of ${passenger}`)) return fault('passenger_index', 'has another seat on this flight.');
    seen.add(`${segment} ${designator}`).add(`${segment} of ${passenger}`);
  }
  return null;
}
