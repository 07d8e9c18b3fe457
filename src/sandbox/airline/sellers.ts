/** Sellers of fares. The agencies are invented. Position 0 is the airline itself; offer ids name sellers by position. */
export interface Seller {
  /** null: the airline whose number the flight carries. */
  readonly name: string | null;
  readonly currency: 'USD' | 'EUR';
  /** The airport where its journeys begin; unset: anywhere. */
  readonly only?: string;
  /** Share of journeys that it sells. */
  readonly reach: number;
  /** Its markup on the airline's price, as a share: the least and the most. */
  readonly markup: readonly [least: number, most: number];
  /** Fields that it leaves undisclosed. */
  readonly silent: readonly ('conditions' | 'fare_basis' | 'brand' | 'bags' | 'tax' | 'refund')[];
}

export const DIRECT = 0;

export const SELLERS: readonly Seller[] = [
  { name: null, currency: 'USD', reach: 1, markup: [0, 0], silent: [] },
  { name: 'Farefinch', currency: 'USD', reach: 0.55, markup: [-0.015, 0.035], silent: [] },
  {
    name: 'Wayloft',
    currency: 'USD',
    reach: 0.42,
    markup: [-0.035, 0.05],
    silent: ['conditions', 'fare_basis', 'brand', 'bags'],
  },
  // Sells in euros, and in one city only: its offers cannot be escrowed (409 offer_unsupported).
  { name: 'Kompaso', currency: 'EUR', only: 'VIE', reach: 0.5, markup: [-0.02, 0.03], silent: ['tax', 'refund'] },
];

/** A fixed rate: the sandbox has no currency market. */
export const EUR_PER_USD = 0.92;
