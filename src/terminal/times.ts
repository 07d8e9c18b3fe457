import { DAY_MS } from '../kernel/clock.ts';

/** Times and spans as the screen writes them. Local times come without an offset and stay as they are. */

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Minutes on the local calendar since 1970, to compare with others of the same airport. */
export const localMinutes = (local: string): number => Math.floor(Date.parse(`${local}Z`) / 60_000);

/** Minutes of an ISO 8601 duration such as PT3H30M. */
export function durationMinutes(duration: string): number {
  const match = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?)?$/.exec(duration);
  return Number(match?.[1] ?? 0) * 1440 + Number(match?.[2] ?? 0) * 60 + Number(match?.[3] ?? 0);
}

/** `3h30`, `0h55`, `26h05`. */
export const hoursAndMinutes = (minutes: number): string =>
  `${Math.floor(minutes / 60)}h${String(minutes % 60).padStart(2, '0')}`;

const clockTime = (local: string): string => local.slice(11, 16);

/** Whole days between two local dates: 1 if the arrival is on the next day. */
const daysBetween = (from: string, to: string): number =>
  Math.round((Date.parse(`${to.slice(0, 10)}Z`) - Date.parse(`${from.slice(0, 10)}Z`)) / DAY_MS);

/** `06:35–11:05`, with `+1` where it lands on the next day. */
export function fromTo(departing: string, arriving: string): string {
  const days = daysBetween(departing, arriving);
  return `${clockTime(departing)}–${clockTime(arriving)}${days === 0 ? '' : days > 0 ? `+${days}` : days}`;
}

/** `Sun 20 Dec 2026` */
export function dayName(date: string): string {
  const day = new Date(`${date.slice(0, 10)}T00:00:00Z`);
  return `${DAYS[day.getUTCDay()]} ${day.getUTCDate()} ${MONTHS[day.getUTCMonth()]} ${day.getUTCFullYear()}`;
}

/** An instant in UTC to the second: `2026-11-21 09:00:00 UTC`; `–` if a deployment does not give it. */
export const utcTime = (instant: string | null | undefined): string =>
  isInstant(instant) ? `${instant.slice(0, 19).replace('T', ' ')} UTC` : instant || '–';

/** An instant in UTC to the minute, under a heading that names the zone: `2026-11-21 09:00`. */
export const utcMinute = (instant: string): string => utcTime(instant).replace(/(:\d\d)? UTC$/, '');

const isInstant = (text: string | null | undefined): text is string => !Number.isNaN(Date.parse(text ?? ''));

/** `20 Dec`, for a date less than a year ahead. */
export const dayAndMonth = (date: string): string => dayName(date).split(' ').slice(1, 3).join(' ');

/** An instant, and how far it is from now: `2026-11-21 09:00:00 UTC (in 29 min)`. */
export const momentText = (instant: string | null | undefined, nowMs: number): string =>
  `${utcTime(instant)} (${fromNow(instant, nowMs)})`;

/** The time between now and an instant: `in 29 min`, `3 min ago`. */
export function fromNow(instant: string | null | undefined, nowMs: number): string {
  if (!isInstant(instant)) return '–';
  const seconds = Math.round((Date.parse(instant) - nowMs) / 1000);
  if (seconds === 0) return 'just now';
  const said = spanText(Math.abs(seconds));
  return seconds >= 0 ? `in ${said}` : `${said} ago`;
}

/** Seconds as a person says them: `29 min`, `2 days`. */
export const spanText = (seconds: number): string =>
  seconds < 90
    ? `${seconds} s`
    : seconds < 5400
      ? `${Math.round(seconds / 60)} min`
      : Math.round(seconds / 3600) < 48
        ? `${Math.round(seconds / 3600)} h`
        : `${Math.round(seconds / 86_400)} days`;
