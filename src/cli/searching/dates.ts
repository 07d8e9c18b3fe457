import { isRealDate } from '../../domain/calendar.ts';
import { problem } from '../../kernel/problems.ts';

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/**
 * A date as people type it, as YYYY-MM-DD: `2026-12-20`, `today`, `tomorrow`, `+30d`, `+2w`, or a weekday (`fri`:
 * the next one after today). Counted from the day that it is here.
 * @throws Problem `usage`
 */
export function parseDate(text: string, nowMs: number): string {
  const wanted = text.trim().toLowerCase();
  if (isRealDate(wanted)) return wanted;
  if (wanted === 'today') return dayFrom(nowMs, 0);
  if (wanted === 'tomorrow') return dayFrom(nowMs, 1);
  const ahead = /^\+(\d{1,3})([dw])$/.exec(wanted);
  if (ahead) return dayFrom(nowMs, Number(ahead[1]) * (ahead[2] === 'w' ? 7 : 1));
  const weekday = wanted.length >= 3 ? WEEKDAYS.findIndex((name) => name.startsWith(wanted)) : -1;
  if (weekday >= 0) {
    const days = (weekday - new Date(nowMs).getDay() + 7) % 7;
    return dayFrom(nowMs, days === 0 ? 7 : days);
  }
  throw problem('usage', {
    message: `"${text}" is not a date.`,
    fix: 'Write it as 2026-12-20, tomorrow, +30d or fri.',
  });
}

function dayFrom(nowMs: number, days: number): string {
  const here = new Date(nowMs);
  // Noon in UTC of the local date: no clock change can move it to another day.
  const noon = Date.UTC(here.getFullYear(), here.getMonth(), here.getDate() + days, 12);
  return new Date(noon).toISOString().slice(0, 10);
}

/** Seconds from `90`, `90s`, `5m` or `1h`, as milliseconds. */
export function parseDuration(text: string): number {
  const match = /^(\d{1,6})(ms|s|m|h)?$/.exec(text.trim());
  const unit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[match?.[2] ?? 's'];
  if (!match || unit === undefined || Number(match[1]) === 0) {
    throw problem('usage', { message: `"${text}" is not a time span.`, fix: 'Write it as 90s, 5m or 1h.' });
  }
  return Number(match[1]) * unit;
}
