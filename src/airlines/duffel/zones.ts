import { DAY_MS } from '../../kernel/clock.ts';
import { isoDuration } from '../../kernel/domain/offers.ts';

/** Time zones by name, each opened once: an answer names the same few a thousand times. */
export interface Zones {
  isKnown(zone: string): boolean;
  /** The minutes from one local time to another; null where a clock that was changed leaves it open. */
  minutesBetween(from: LocalMoment, to: LocalMoment): number | null;
}

interface LocalMoment {
  /** `2026-03-20T07:25:00` */
  readonly time: string;
  readonly zone: string;
}

export function createZones(): Zones {
  const opened = new Map<string, Intl.DateTimeFormat | null>();
  function formatOf(zone: string): Intl.DateTimeFormat | null {
    const known = opened.get(zone);
    if (known !== undefined) return known;
    const format = open(zone);
    opened.set(zone, format);
    return format;
  }

  /** The one instant with this local time; null where there is none, or two. */
  function instantOf({ time, zone }: LocalMoment): number | null {
    const format = formatOf(zone);
    if (!format) return null;
    const wallMs = Date.parse(`${time}Z`);
    const offsets = new Set([offsetMs(format, wallMs - DAY_MS), offsetMs(format, wallMs + DAY_MS)]);
    const fitting = [...offsets].filter((offset) => offsetMs(format, wallMs - offset) === offset);
    return fitting.length === 1 ? wallMs - (fitting[0] ?? 0) : null;
  }

  return {
    isKnown: (zone) => formatOf(zone) !== null,
    minutesBetween(from, to) {
      const [fromMs, toMs] = [instantOf(from), instantOf(to)];
      return fromMs === null || toMs === null || toMs <= fromMs ? null : (toMs - fromMs) / 60_000;
    },
  };
}

function open(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-GB', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
  } catch (error) {
    // Intl says so of a name that it doesn't know.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function offsetMs(format: Intl.DateTimeFormat, ms: number): number {
  const part = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000;
}

const DURATION = /^P(?:(\d{1,3})D)?(?:T(?:(\d{1,3})H)?(?:(\d{1,4})M)?(?:(\d{1,5})(?:\.\d+)?S)?)?$/;

/** `PT02H26M` and `P1DT` as the wire writes them; null for nothing, and for no time at all. */
export function readDuration(value: unknown): string | null {
  const match = typeof value === 'string' ? DURATION.exec(value) : null;
  if (!match) return null;
  const [days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0));
  const total = (days ?? 0) * 1440 + (hours ?? 0) * 60 + (minutes ?? 0) + Math.floor((seconds ?? 0) / 60);
  return total > 0 ? isoDuration(total) : null;
}
