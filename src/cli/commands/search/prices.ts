import type { PaymentReceipt } from '../../../client/base/index.ts';
import { type Clock, DAY_MS } from '../../../kernel/clock.ts';
import { byPrice } from '../../../kernel/domain/offers.ts';
import { canonicalJson, sha256Hex } from '../../../kernel/json.ts';
import type { Offer, SearchRequestInput } from '../../../wire/flights/index.ts';
import { openNotebook } from '../../session/index.ts';

/** The days around a journey, as YYYY-MM-DD. Only the calendar is used: no time zone moves a day. */

/** A journey that a price is wanted for. */
export interface JourneyDays {
  readonly depart_date: string;
  /** null: one way. */
  readonly return_date: string | null;
}

/** The grid: the departures across, the returns down (null: one row). */
export interface DayGrid {
  readonly departures: readonly string[];
  readonly returns: readonly string[] | null;
  /** The days to search, nearest to the days asked for first. */
  readonly journeys: readonly JourneyDays[];
}

/** How far ahead a search may be (CONTRACT, section 3). */
const FARTHEST_DAYS = 360;

const dayNumber = (date: string): number => Date.parse(`${date}T00:00:00Z`) / DAY_MS;

const addDays = (date: string, days: number): string =>
  new Date((dayNumber(date) + days) * DAY_MS).toISOString().slice(0, 10);

const daysFrom = (from: string, to: string): number => dayNumber(to) - dayNumber(from);

/** Up to `flex` days either side of both dates, without what is past, too far ahead, or back before it left. */
export function flexDays(asked: JourneyDays, flex: number, today: string): DayGrid {
  const around = (date: string) =>
    Array.from({ length: 2 * flex + 1 }, (_none, index) => addDays(date, index - flex)).filter((day) =>
      isSold(day, today),
    );
  const departures = around(asked.depart_date);
  const returns = asked.return_date === null ? null : around(asked.return_date);
  const journeys = departures.flatMap((depart_date) =>
    (returns ?? [null])
      .filter((return_date) => return_date === null || return_date >= depart_date)
      .map((return_date) => ({ depart_date, return_date })),
  );
  return { departures, returns, journeys: nearestFirst(journeys, asked) };
}

/** Every day of the month of the departure; a return keeps as many days behind it. */
export function monthDays(asked: JourneyDays, today: string): DayGrid {
  const month = asked.depart_date.slice(0, 7);
  const stay = asked.return_date === null ? null : daysFrom(asked.depart_date, asked.return_date);
  const departures = Array.from({ length: 31 }, (_none, index) => addDays(`${month}-01`, index)).filter(
    (day) => day.startsWith(month) && isSold(stay === null ? day : addDays(day, stay), today) && day >= today,
  );
  const journeys = departures.map((depart_date) => ({
    depart_date,
    return_date: stay === null ? null : addDays(depart_date, stay),
  }));
  return { departures, returns: null, journeys: nearestFirst(journeys, asked) };
}

const isSold = (day: string, today: string): boolean => day >= today && daysFrom(today, day) <= FARTHEST_DAYS;

/** Who stops it early has the days that matter most. */
function nearestFirst(journeys: readonly JourneyDays[], asked: JourneyDays): JourneyDays[] {
  const away = (day: JourneyDays) =>
    Math.abs(daysFrom(asked.depart_date, day.depart_date)) +
    (day.return_date === null || asked.return_date === null
      ? 0
      : Math.abs(daysFrom(asked.return_date, day.return_date)));
  return journeys.toSorted((a, b) => away(a) - away(b) || (a.depart_date < b.depart_date ? -1 : 1));
}

export const isSameJourney = (a: JourneyDays, b: JourneyDays): boolean =>
  a.depart_date === b.depart_date && a.return_date === b.return_date;

/** The result of a search: paid for, and good for a while. */
export type Remembered<T> = T & { readonly atMs: number };

/** The searches of the last minutes: who runs the same search again does not pay for it again. */
export interface SearchMemory<T> {
  find(request: SearchRequestInput): Remembered<T> | null;
  /** @returns what is remembered, with the moment that it was found at */
  remember(request: SearchRequestInput, found: T): Remembered<T>;
}

interface MemoryGiven<T> {
  readonly path: string;
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly warn: (text: string) => void;
  /** Default: 10 minutes. An offer that has expired before is not had for longer. */
  readonly goodForMs?: number;
  /** What can still be had of it; null: nothing. */
  readonly alive: (found: T, nowMs: number) => T | null;
}

/** Kept in a file of the home, replaced whole; offers alone, and nothing of a person. */
export function openSearchMemory<T extends object>(given: MemoryGiven<T>): SearchMemory<T> {
  const { path, baseUrl, clock, warn, goodForMs = 600_000 } = given;
  const file = openNotebook<Record<string, Remembered<T>>>(path, warn);
  const keyOf = (request: SearchRequestInput) => sha256Hex(canonicalJson({ baseUrl, request })).slice(0, 32);
  const alive = (found: Remembered<T>): Remembered<T> | null => {
    const nowMs = clock.now();
    // A clock that was set back makes nothing younger.
    if (found.atMs > nowMs || nowMs - found.atMs > goodForMs) return null;
    const left = given.alive(found, nowMs);
    return left && { ...left, atMs: found.atMs };
  };
  const read = (): [string, Remembered<T>][] =>
    Object.entries(file.read() ?? {}).flatMap(([key, found]) => {
      const left = found ? alive(found) : null;
      return left ? [[key, left]] : [];
    });
  return {
    find(request) {
      const key = keyOf(request);
      return read().find(([one]) => one === key)?.[1] ?? null;
    },
    remember(request, found) {
      const entry = { ...found, atMs: clock.now() };
      file.write({ ...Object.fromEntries(read()), [keyOf(request)]: entry });
      return entry;
    },
  };
}

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
  const isAsked = (day: FoundDay) => day.depart_date === asked.depart_date && day.return_date === asked.return_date;
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
