/** Amounts, days and times as the site writes them: in English, with the numbers of the continent. */

/** `1.234,50 US$` of US cents. */
export function shownMoney(cents: number): string {
  const whole = String(Math.floor(cents / 100)).replaceAll(/\B(?=(\d{3})+$)/g, '.');
  return `${whole},${String(cents % 100).padStart(2, '0')} US$`;
}

/** US cents of a decimal text of ours, such as `45.00` or `0`. */
export const centsOf = (decimal: string): number => Math.round(Number(decimal) * 100);

/** `06:10` of a local time in milliseconds. */
export const shownTime = (localMs: number): string => new Date(localMs).toISOString().slice(11, 16);

/** `2026-12-01T06:10` of a local time. */
export const localInstant = (localMs: number): string => new Date(localMs).toISOString().slice(0, 16);

/** `Tue 1 December 2026` of a local time. */
export function shownDay(localMs: number): string {
  const day = new Date(localMs);
  const words = (options: Intl.DateTimeFormatOptions) =>
    day.toLocaleDateString('en-GB', { ...options, timeZone: 'UTC' });
  return `${words({ weekday: 'short' })} ${words({ day: 'numeric' })} ${words({ month: 'long' })} ${words({ year: 'numeric' })}`;
}

/** `1 h 05 min` */
export const shownDuration = (minutes: number): string =>
  `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
