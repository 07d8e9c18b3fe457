import type { PaymentReceipt } from '../../client/types.ts';
import { byPrice } from '../../kernel/domain/offer-order.ts';
import type { Offer } from '../../wire/flights/index.ts';
import type { DayGrid, JourneyDays } from './calendar.ts';

/** The price of a journey on its days, as far as it is known. */
export type DayPrice = JourneyDays &
  (
    | {
        readonly status: 'found';
        readonly total_amount_decimal: string;
        readonly total_currency: string;
        readonly offer_id: string;
        readonly owner_name: string;
        readonly stops: number;
        readonly duration: string;
        readonly searched_at: string;
        /** Slower sellers had not all answered. */
        readonly is_complete: boolean;
      }
    | { readonly status: 'none'; readonly searched_at: string; readonly is_complete: boolean }
    | { readonly status: 'failed'; readonly error: { readonly code: string; readonly message: string } }
    | { readonly status: 'not_searched'; readonly reason?: string }
  );

type FoundDay = Extract<DayPrice, { status: 'found' }>;

/** The document of `search --flex` and `search --cheapest-day`. */
export interface DaysDocument {
  readonly origin_iata: string;
  readonly destination_iata: string;
  /** As asked. */
  readonly depart_date: string;
  readonly return_date: string | null;
  readonly departures: readonly string[];
  /** null: one row. */
  readonly returns: readonly string[] | null;
  /** Decimal prices: a row for each return, a column for each departure; null where none is known. */
  readonly prices: readonly (readonly (string | null)[])[];
  readonly days: readonly DayPrice[];
  readonly cheapest: FoundDay | null;
  /** Searches that were paid for now, and what they cost together. */
  readonly searches: number;
  readonly paid_amount: string;
  readonly payments: readonly PaymentReceipt[];
}

/** The cheapest offer in the currency that is compared; ties go by offer id, as in every list. */
export const cheapestOffer = (offers: readonly Offer[]): Offer | null => offers.toSorted(byPrice)[0] ?? null;

const isFound = (day: DayPrice): day is FoundDay => day.status === 'found';

/** The cheapest day, the earliest of several; prices of another currency don't compare with those of the first. */
export function cheapestDay(days: readonly DayPrice[], asked: JourneyDays): FoundDay | null {
  const found = days.filter(isFound);
  const currency = found.some((day) => day.total_currency === 'USD') ? 'USD' : found[0]?.total_currency;
  const isAsked = (day: FoundDay) =>
    day.depart_date === asked.depart_date && day.return_date === asked.return_date;
  return (
    found
      .filter((day) => day.total_currency === currency)
      .toSorted(
        (a, b) =>
          Number(a.total_amount_decimal) - Number(b.total_amount_decimal) ||
          Number(isAsked(b)) - Number(isAsked(a)) ||
          (a.depart_date + (a.return_date ?? '') < b.depart_date + (b.return_date ?? '') ? -1 : 1),
      )[0] ?? null
  );
}

/** The cell of a departure and a return, where there is one. */
export const dayAt = (
  days: readonly DayPrice[],
  depart: string,
  back: string | null | undefined,
): DayPrice | undefined =>
  days.find((day) => day.depart_date === depart && (back === undefined || day.return_date === back));

export const pricesOf = ({ departures, returns }: DayGrid, days: readonly DayPrice[]): (string | null)[][] =>
  (returns ?? [undefined]).map((back) =>
    departures.map((depart) => {
      const day = dayAt(days, depart, back);
      return day?.status === 'found' ? day.total_amount_decimal : null;
    }),
  );
