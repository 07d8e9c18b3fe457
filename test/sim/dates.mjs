// The dates that a calendar is likeliest to go wrong on, seen from any day. Used by calendar.mjs and calendar.test.ts.

const DAY_MS = 86_400_000;

/** Midnight, as UTC, of a month's last Sunday (month 0 = January). */
const lastSunday = (year, month) => {
  const end = new Date(Date.UTC(year, month + 1, 0));
  return end.getTime() - end.getUTCDay() * DAY_MS;
};
/** Midnight, as UTC, of a month's nth Sunday. */
const nthSunday = (year, month, n) => {
  const first = new Date(Date.UTC(year, month, 1));
  return first.getTime() + (((7 - first.getUTCDay()) % 7) + (n - 1) * 7) * DAY_MS;
};
const minutes = (n) => n * 60_000;

/** The next moment after `nowMs` that `momentOf` gives for a year. */
const next = (nowMs, momentOf) => {
  const year = new Date(nowMs).getUTCFullYear();
  const found = [year, year + 1, year + 2].map(momentOf).find((ms) => ms > nowMs);
  return found ?? nowMs;
};

/**
 * @param {number} nowMs
 * @returns {{ name: string, ms: number }[]} moments, a little before a clock or a day changes where one does
 */
export function calendarDates(nowMs) {
  const today = new Date(nowMs);
  const monthEnd = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 0, 23, 58);
  return [
    ...[0, 1, 2, 7, 40, 200].map((days) => ({
      name: days === 0 ? 'today' : `in ${days} days`,
      ms: nowMs + days * DAY_MS,
    })),
    { name: 'a month’s last minutes', ms: monthEnd },
    { name: 'a year’s last minutes', ms: next(nowMs, (year) => Date.UTC(year, 11, 31, 23, 58)) },
    { name: 'a leap day', ms: Date.UTC(2028, 1, 29, 12) },
    { name: 'summer time begins in Europe', ms: next(nowMs, (year) => lastSunday(year, 2) + minutes(58)) },
    { name: 'summer time ends in Europe', ms: next(nowMs, (year) => lastSunday(year, 9) + minutes(58)) },
    { name: 'summer time begins in America', ms: next(nowMs, (year) => nthSunday(year, 2, 2) + minutes(418)) },
    { name: 'summer time ends in America', ms: next(nowMs, (year) => nthSunday(year, 10, 1) + minutes(358)) },
  ];
}
