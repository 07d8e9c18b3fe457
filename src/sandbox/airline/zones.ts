import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kernel/clock.ts';
import RULES from './zones.json' with { type: 'json' };

/** Summer time rules. Rows of zones.json: standard offset in minutes, rule, zones. */
type Rule = 'fixed' | 'eu' | 'us' | 'au' | 'nz' | 'cl' | 'eg' | 'il' | 'ma';

/** Morocco's clock changes for Ramadan; other years come from Intl. */
const RAMADAN: readonly (readonly [fromMs: number, toMs: number])[] = [
  [Date.UTC(2026, 1, 15, 2), Date.UTC(2026, 2, 22, 2)],
  [Date.UTC(2027, 1, 7, 2), Date.UTC(2027, 2, 14, 2)],
  [Date.UTC(2028, 0, 23, 2), Date.UTC(2028, 2, 5, 2)],
];

const ramadanOf = (year: number) => RAMADAN.find(([fromMs]) => new Date(fromMs).getUTCFullYear() === year);

/** Returns a value, making it first if it is missing. */
export function known<K, T>(values: Map<K, T>, key: K, make: () => T): T {
  const before = values.get(key);
  if (before !== undefined) return before;
  const made = make();
  values.set(key, made);
  return made;
}

/**
 * Computes the offsets of simple zones from a table: the first `Intl.DateTimeFormat` costs 15 ms, more than a search.
 * Other zones use Intl; a test compares all.
 */
export function createZones() {
  const rules = new Map<string, { readonly minutes: number; readonly rule: Rule; readonly spans: Span[] }>();
  for (const [minutes, rule, zones] of RULES as [number, Rule, string][]) {
    for (const zone of zones.split(' ')) rules.set(zone, { minutes, rule, spans: [] });
  }
  const formats = new Map<string, Intl.DateTimeFormat>();
  const byHour = new Map<string, number>();

  const numeric = 'numeric' as const;
  const parts = { year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric };
  const formatOf = (timeZone: string) =>
    known(formats, timeZone, () => new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...parts }));

  /** Caches by the hour: no zone here changes within one. */
  const intlOffset = (timeZone: string, utcMs: number): number => {
    const hour = Math.floor(utcMs / HOUR_MS);
    return known(byHour, `${timeZone} ${hour}`, () => {
      const part: Record<string, number> = {};
      for (const { type, value } of formatOf(timeZone).formatToParts(hour * HOUR_MS)) part[type] = Number(value);
      const { year = 0, month = 1, day = 1, hour: hours = 0, minute = 0 } = part;
      return (Date.UTC(year, month - 1, day, hours, minute) - hour * HOUR_MS) / MINUTE_MS;
    });
  };

  /** Minutes east of UTC. */
  const offsetMinutes = (timeZone: string, utcMs: number): number => {
    const zone = rules.get(timeZone);
    if (!zone) return intlOffset(timeZone, utcMs);
    const { minutes, rule, spans } = zone;
    if (rule === 'fixed') return minutes;
    for (const span of spans) if (utcMs >= span.fromMs && utcMs < span.toMs) return span.offset;
    const year = new Date(utcMs + minutes * MINUTE_MS).getUTCFullYear();
    if (rule === 'ma' && !ramadanOf(year)) return intlOffset(timeZone, utcMs);
    const made = spanOf(rule, minutes, year, utcMs);
    spans.push(made);
    return made.offset;
  };

  return {
    offsetMinutes,
    /** Converts a local time given as UTC. A repeated time means its first turn; a skipped one moves past the gap. */
    toUtc(timeZone: string, localMs: number): number {
      const before = offsetMinutes(timeZone, localMs - DAY_MS);
      const guess = localMs - before * MINUTE_MS;
      const offset = offsetMinutes(timeZone, guess);
      if (offset === before) return guess;
      const later = localMs - offset * MINUTE_MS;
      // A skipped time takes the old offset.
      return offsetMinutes(timeZone, later) === offset ? later : guess;
    },
  };
}

/** A time with one offset, in minutes. */
interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly offset: number;
}

/** The stretch of a year (standard time) around `utcMs` without a clock change. */
function spanOf(rule: Exclude<Rule, 'fixed'>, standard: number, year: number, utcMs: number): Span {
  const summer = summerTime(rule, standard, year);
  const first = Math.min(summer.fromMs, summer.toMs);
  const second = Math.max(summer.fromMs, summer.toMs);
  const isBetween = utcMs >= first && utcMs < second;
  // In the south, summer time ends before it begins within a year.
  const offset = isBetween === summer.fromMs < summer.toMs ? standard + 60 : standard;
  if (isBetween) return { fromMs: first, toMs: second, offset };
  const newYear = (of: number) => Date.UTC(of, 0, 1) - standard * MINUTE_MS;
  return utcMs < first
    ? { fromMs: newYear(year), toMs: first, offset }
    : { fromMs: Math.max(second, newYear(year)), toMs: newYear(year + 1), offset };
}

/** A year's summer time. @param standard the offset in minutes */
function summerTime(
  rule: Exclude<Rule, 'fixed'>,
  standard: number,
  year: number,
): { readonly fromMs: number; readonly toMs: number } {
  const local = (dayMs: number, standardHour: number) => dayMs + standardHour * HOUR_MS - standard * MINUTE_MS;
  switch (rule) {
    case 'eu':
      return { fromMs: last(year, 2, 0) + HOUR_MS, toMs: last(year, 9, 0) + HOUR_MS };
    case 'us':
      // Ends at 02:00 summer time, 01:00 standard.
      return { fromMs: local(sundayFrom(year, 2, 8), 2), toMs: local(sundayFrom(year, 10, 1), 1) };
    case 'au':
      return { fromMs: local(sundayFrom(year, 9, 1), 2), toMs: local(sundayFrom(year, 3, 1), 2) };
    case 'nz':
      return { fromMs: local(last(year, 8, 0), 2), toMs: local(sundayFrom(year, 3, 1), 2) };
    case 'cl':
      return { fromMs: sundayFrom(year, 8, 2) + 4 * HOUR_MS, toMs: sundayFrom(year, 3, 2) + 3 * HOUR_MS };
    case 'eg':
      // From the last Friday of April to the end of October's last Thursday.
      return { fromMs: local(last(year, 3, 5), 0), toMs: local(last(year, 9, 4) + DAY_MS, -1) };
    case 'il':
      // The Friday before March's last Sunday.
      return { fromMs: local(last(year, 2, 0) - 2 * DAY_MS, 2), toMs: local(last(year, 9, 0), 1) };
    case 'ma': {
      const ramadan = ramadanOf(year);
      return { fromMs: ramadan?.[1] ?? 0, toMs: ramadan?.[0] ?? -1 };
    }
  }
}

/** UTC midnight of the first Sunday from a day on (month 0 = January). */
function sundayFrom(year: number, month: number, day: number): number {
  const from = Date.UTC(year, month, day);
  return from + ((7 - new Date(from).getUTCDay()) % 7) * DAY_MS;
}

/** UTC midnight of a month's last such weekday (0 = Sunday). */
function last(year: number, month: number, weekday: number): number {
  const end = Date.UTC(year, month + 1, 0);
  return end - ((new Date(end).getUTCDay() - weekday + 7) % 7) * DAY_MS;
}
