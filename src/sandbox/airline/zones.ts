import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kernel/clock.ts';
import RULES from './zones.json' with { type: 'json' };

/** The rules of zones.json, whose rows are a standard offset in minutes, its rule, and the zones. */
type Rule = 'fixed' | 'eu' | 'us' | 'au' | 'nz' | 'cl' | 'eg' | 'il' | 'ma';

/** When Morocco leaves its summer time for Ramadan. Another year's is asked of Intl. */
const RAMADAN: readonly (readonly [fromMs: number, toMs: number])[] = [
  [Date.UTC(2026, 1, 15, 2), Date.UTC(2026, 2, 22, 2)],
  [Date.UTC(2027, 1, 7, 2), Date.UTC(2027, 2, 14, 2)],
  [Date.UTC(2028, 0, 23, 2), Date.UTC(2028, 2, 5, 2)],
];

const ramadanOf = (year: number) => RAMADAN.find(([fromMs]) => new Date(fromMs).getUTCFullYear() === year);

/** The value of a key, made when it is first asked for. */
export function known<K, T>(values: Map<K, T>, key: K, make: () => T): T {
  const before = values.get(key);
  if (before !== undefined) return before;
  const made = make();
  values.set(key, made);
  return made;
}

/**
 * Offsets of IANA zones. The first `Intl.DateTimeFormat` of a process costs some 15 ms, more than a whole search, so
 * the zones whose rule is simple and old are written down; any other goes to Intl. A test compares every row with Intl.
 */
export function createZones() {
  const rules = new Map<string, readonly [number, Rule]>();
  for (const [minutes, rule, zones] of RULES as [number, Rule, string][]) {
    for (const zone of zones.split(' ')) rules.set(zone, [minutes, rule]);
  }
  const formats = new Map<string, Intl.DateTimeFormat>();
  const byHour = new Map<string, number>();

  const formatOf = (timeZone: string) =>
    known(
      formats,
      timeZone,
      () =>
        new Intl.DateTimeFormat('en-US', {
          timeZone,
          hourCycle: 'h23',
          year: 'numeric',
          month: 'numeric',
          day: 'numeric',
          hour: 'numeric',
          minute: 'numeric',
        }),
    );

  /** Asked once per zone and hour: no zone here changes within one. */
  const intlOffset = (timeZone: string, utcMs: number): number => {
    const hour = Math.floor(utcMs / HOUR_MS);
    return known(byHour, `${timeZone} ${hour}`, () => {
      const part: Record<string, number> = {};
      for (const { type, value } of formatOf(timeZone).formatToParts(hour * HOUR_MS)) part[type] = Number(value);
      const { year = 0, month = 1, day = 1, hour: hours = 0, minute = 0 } = part;
      return (Date.UTC(year, month - 1, day, hours, minute) - hour * HOUR_MS) / MINUTE_MS;
    });
  };

  const summers = new Map<string, Summer>();

  /** Minutes east of UTC at an instant. */
  const offsetMinutes = (timeZone: string, utcMs: number): number => {
    const found = rules.get(timeZone);
    if (!found) return intlOffset(timeZone, utcMs);
    const [minutes, rule] = found;
    if (rule === 'fixed') return minutes;
    const year = new Date(utcMs + minutes * MINUTE_MS).getUTCFullYear();
    if (rule === 'ma' && !ramadanOf(year)) return intlOffset(timeZone, utcMs);
    const { fromMs, toMs } = known(summers, `${rule}${minutes}.${year}`, () => summerTime(rule, minutes, year));
    const between = utcMs >= Math.min(fromMs, toMs) && utcMs < Math.max(fromMs, toMs);
    // South of the equator a year's summer time ends before it begins.
    return between === fromMs < toMs ? minutes + 60 : minutes;
  };

  return {
    offsetMinutes,
    /**
     * The instant of a local time, given as if it were UTC. A time that occurs twice is its first occurrence; one that
     * is skipped moves on by the gap, as clocks do.
     */
    toUtc(timeZone: string, localMs: number): number {
      const before = offsetMinutes(timeZone, localMs - DAY_MS);
      const guess = localMs - before * MINUTE_MS;
      const offset = offsetMinutes(timeZone, guess);
      if (offset === before) return guess;
      const later = localMs - offset * MINUTE_MS;
      // In a gap neither reading holds: the clock has moved on, so the old offset names the instant.
      return offsetMinutes(timeZone, later) === offset ? later : guess;
    },
  };
}

interface Summer {
  readonly fromMs: number;
  readonly toMs: number;
}

/** When summer time begins and ends in a year, for a zone whose standard offset is `standard` minutes. */
function summerTime(rule: Exclude<Rule, 'fixed'>, standard: number, year: number): Summer {
  const local = (dayMs: number, standardHour: number) => dayMs + standardHour * HOUR_MS - standard * MINUTE_MS;
  switch (rule) {
    case 'eu':
      return { fromMs: last(year, 2, 0) + HOUR_MS, toMs: last(year, 9, 0) + HOUR_MS };
    case 'us':
      // Ends at 02:00 summer time, which is 01:00 standard time.
      return { fromMs: local(sundayFrom(year, 2, 8), 2), toMs: local(sundayFrom(year, 10, 1), 1) };
    case 'au':
      return { fromMs: local(sundayFrom(year, 9, 1), 2), toMs: local(sundayFrom(year, 3, 1), 2) };
    case 'nz':
      return { fromMs: local(last(year, 8, 0), 2), toMs: local(sundayFrom(year, 3, 1), 2) };
    case 'cl':
      return { fromMs: sundayFrom(year, 8, 2) + 4 * HOUR_MS, toMs: sundayFrom(year, 3, 2) + 3 * HOUR_MS };
    case 'eg':
      // From the last Friday of April to the end of the last Thursday of October, summer time.
      return { fromMs: local(last(year, 3, 5), 0), toMs: local(last(year, 9, 4) + DAY_MS, -1) };
    case 'il':
      // From the Friday before the last Sunday of March.
      return { fromMs: local(last(year, 2, 0) - 2 * DAY_MS, 2), toMs: local(last(year, 9, 0), 1) };
    case 'ma': {
      const ramadan = ramadanOf(year);
      return { fromMs: ramadan?.[1] ?? 0, toMs: ramadan?.[0] ?? -1 };
    }
  }
}

/** Midnight, as UTC, of the first Sunday of a month (0 = January) on or after a day of it. */
function sundayFrom(year: number, month: number, day: number): number {
  const from = Date.UTC(year, month, day);
  return from + ((7 - new Date(from).getUTCDay()) % 7) * DAY_MS;
}

/** Midnight, as UTC, of a month's last such weekday (0 = Sunday). */
function last(year: number, month: number, weekday: number): number {
  const end = Date.UTC(year, month + 1, 0);
  return end - ((new Date(end).getUTCDay() - weekday + 7) % 7) * DAY_MS;
}
