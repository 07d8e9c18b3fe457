import { DAY_MS } from '../../kernel/clock.ts';

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
