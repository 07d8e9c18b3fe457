import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kernel/clock.ts';
import { type Airline, readAirlines } from './airlines.ts';
import { type Airport, readAirports } from './airports.ts';
import { type Aircraft, createFleet, type FleetRole } from './fleet.ts';
import { createDice, type Dice } from './random.ts';

/** The fixed facts of one seed. Everything else is looked up from them. */
export interface World {
  readonly seed: string;
  readonly dice: Dice;
  readonly zones: Zones;
  readonly airports: readonly Airport[];
  readonly airlines: readonly Airline[];
  readonly fleet: Record<FleetRole, readonly Aircraft[]>;
  /** Airports that some airline calls home, in table order. */
  readonly hubs: readonly Airport[];
  byCode(iata: string): Airport | undefined;
  /** Airlines at home at an airport. */
  atHome(airport: Airport): readonly Airline[];
  /** Countries of an airline's hubs. */
  homeCountries(airline: Airline): readonly string[];
}

export function createWorld(seed: string): World {
  const airports = readAirports();
  const airlines = readAirlines();
  const codes = new Map(airports.map((airport) => [airport.iata, airport]));
  const homes = new Map<string, Airline[]>();
  for (const airline of airlines) {
    for (const hub of airline.hubs) {
      const there = homes.get(hub);
      if (there) there.push(airline);
      else homes.set(hub, [airline]);
    }
  }
  const countries = airlines.map((airline) => airline.hubs.map((hub) => codes.get(hub)?.country ?? ''));
  const nobody: readonly Airline[] = [];
  return {
    seed,
    dice: createDice(seed),
    zones: createZones(),
    airports,
    airlines,
    fleet: createFleet(),
    hubs: airports.filter((airport) => homes.has(airport.iata)),
    byCode: (iata) => codes.get(iata),
    homeCountries: (airline) => countries[airline.index] ?? [],
    atHome: (airport) => homes.get(airport.iata) ?? nobody,
  };
}

/**
 * Offsets of IANA zones. The first `Intl.DateTimeFormat` of a process costs some 15 ms, more than a whole search, so
 * the zones whose rule is simple and old are written down here; a zone that is not goes to Intl. A test holds every
 * row against Intl.
 */
interface Zones {
  /** Minutes east of UTC at an instant. */
  offsetMinutes(timeZone: string, utcMs: number): number;
  /**
   * The instant of a local time, given as if it were UTC. A time that occurs twice is its first occurrence; one that
   * is skipped moves on by the gap, as clocks do.
   */
  toUtc(timeZone: string, localMs: number): number;
}

type Rule = 'fixed' | 'eu' | 'us' | 'au' | 'nz' | 'cl' | 'eg' | 'il' | 'ma';

/** Standard offset in minutes, rule, and the zones. */
const RULES: readonly (readonly [minutes: number, rule: Rule, zones: string])[] = [
  [-60, 'eu', 'Atlantic/Azores'],
  [0, 'eu', 'Europe/London Europe/Dublin Europe/Lisbon Atlantic/Canary Atlantic/Madeira Atlantic/Faroe'],
  [
    60,
    'eu',
    'Europe/Paris Europe/Amsterdam Europe/Brussels Europe/Luxembourg Europe/Berlin Europe/Zurich Europe/Vienna Europe/Copenhagen Europe/Stockholm Europe/Oslo Europe/Madrid Europe/Rome Europe/Malta Europe/Warsaw Europe/Prague Europe/Budapest Europe/Belgrade Europe/Zagreb Europe/Tirane Arctic/Longyearbyen',
  ],
  [
    120,
    'eu',
    'Europe/Helsinki Europe/Athens Europe/Bucharest Europe/Sofia Europe/Riga Europe/Tallinn Europe/Vilnius Asia/Nicosia',
  ],
  [-600, 'fixed', 'Pacific/Honolulu Pacific/Tahiti'],
  [-540, 'us', 'America/Anchorage'],
  [-480, 'us', 'America/Los_Angeles America/Vancouver America/Tijuana'],
  [-420, 'us', 'America/Denver America/Edmonton'],
  [-420, 'fixed', 'America/Phoenix'],
  [-360, 'us', 'America/Chicago'],
  [-360, 'fixed', 'America/Mexico_City America/Monterrey America/Guatemala America/Costa_Rica Pacific/Galapagos'],
  [-300, 'us', 'America/New_York America/Detroit America/Toronto'],
  [-300, 'fixed', 'America/Cancun America/Panama America/Jamaica America/Bogota America/Guayaquil America/Lima'],
  [-240, 'us', 'America/Halifax Atlantic/Bermuda'],
  [-240, 'fixed', 'America/Santo_Domingo America/Puerto_Rico America/Barbados America/La_Paz America/Manaus'],
  [-210, 'us', 'America/St_Johns'],
  [
    -180,
    'fixed',
    'America/Asuncion America/Montevideo America/Argentina/Buenos_Aires America/Argentina/Ushuaia America/Sao_Paulo America/Bahia America/Recife America/Fortaleza',
  ],
  [0, 'fixed', 'Atlantic/Reykjavik Africa/Accra Africa/Abidjan Africa/Dakar'],
  [60, 'fixed', 'Africa/Algiers Africa/Tunis Africa/Lagos'],
  [120, 'fixed', 'Africa/Kigali Africa/Lusaka Africa/Harare Africa/Johannesburg Africa/Windhoek'],
  [
    180,
    'fixed',
    'Europe/Istanbul Asia/Qatar Asia/Bahrain Asia/Kuwait Asia/Riyadh Asia/Amman Africa/Addis_Ababa Africa/Nairobi Africa/Kampala Africa/Dar_es_Salaam',
  ],
  [
    240,
    'fixed',
    'Asia/Dubai Asia/Muscat Asia/Tbilisi Asia/Yerevan Asia/Baku Indian/Mauritius Indian/Reunion Indian/Mahe',
  ],
  [300, 'fixed', 'Asia/Tashkent Asia/Almaty Asia/Karachi Indian/Maldives'],
  [330, 'fixed', 'Asia/Kolkata Asia/Colombo'],
  [345, 'fixed', 'Asia/Kathmandu'],
  [360, 'fixed', 'Asia/Dhaka Asia/Thimphu'],
  [390, 'fixed', 'Asia/Yangon'],
  [420, 'fixed', 'Asia/Bangkok Asia/Ho_Chi_Minh Asia/Phnom_Penh Asia/Jakarta'],
  [
    480,
    'fixed',
    'Asia/Shanghai Asia/Hong_Kong Asia/Macau Asia/Taipei Asia/Ulaanbaatar Asia/Singapore Asia/Kuala_Lumpur Asia/Kuching Asia/Makassar Asia/Manila Asia/Brunei Australia/Perth',
  ],
  [540, 'fixed', 'Asia/Seoul Asia/Tokyo'],
  [570, 'fixed', 'Australia/Darwin'],
  [570, 'au', 'Australia/Adelaide'],
  [600, 'fixed', 'Australia/Brisbane Pacific/Port_Moresby Pacific/Guam'],
  [600, 'au', 'Australia/Sydney Australia/Melbourne Australia/Hobart'],
  [660, 'fixed', 'Pacific/Noumea'],
  [720, 'fixed', 'Pacific/Fiji'],
  [720, 'nz', 'Pacific/Auckland'],
  [780, 'fixed', 'Pacific/Apia'],
  [-360, 'cl', 'Pacific/Easter'],
  [-240, 'cl', 'America/Santiago'],
  [0, 'ma', 'Africa/Casablanca'],
  [120, 'eg', 'Africa/Cairo'],
  [120, 'il', 'Asia/Jerusalem'],
];

/** When Morocco leaves its summer time for Ramadan. Another year's is asked of Intl. */
const RAMADAN: readonly (readonly [fromMs: number, toMs: number])[] = [
  [Date.UTC(2026, 1, 15, 2), Date.UTC(2026, 2, 22, 2)],
  [Date.UTC(2027, 1, 7, 2), Date.UTC(2027, 2, 14, 2)],
  [Date.UTC(2028, 0, 23, 2), Date.UTC(2028, 2, 5, 2)],
];

const ramadanOf = (year: number) => RAMADAN.find(([fromMs]) => new Date(fromMs).getUTCFullYear() === year);

export function createZones(): Zones {
  const rules = new Map<string, readonly [number, Rule]>();
  for (const [minutes, rule, zones] of RULES) {
    for (const zone of zones.split(' ')) rules.set(zone, [minutes, rule]);
  }
  const formats = new Map<string, Intl.DateTimeFormat>();
  const byHour = new Map<string, number>();

  /** Asked once per zone and hour: no zone here changes within one. */
  const intlOffset = (timeZone: string, utcMs: number): number => {
    const hour = Math.floor(utcMs / HOUR_MS);
    const key = `${timeZone} ${hour}`;
    const known = byHour.get(key);
    if (known !== undefined) return known;
    let format = formats.get(timeZone);
    if (!format) {
      format = new Intl.DateTimeFormat('en-US', {
        timeZone,
        hourCycle: 'h23',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
      });
      formats.set(timeZone, format);
    }
    const part: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(hour * HOUR_MS)) part[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour: hours = 0, minute = 0 } = part;
    const minutes = (Date.UTC(year, month - 1, day, hours, minute) - hour * HOUR_MS) / MINUTE_MS;
    byHour.set(key, minutes);
    return minutes;
  };

  const summers = new Map<string, Summer>();
  const summerOf = (rule: Exclude<Rule, 'fixed'>, standard: number, year: number): Summer => {
    const key = `${rule}${standard}.${year}`;
    let summer = summers.get(key);
    if (!summer) {
      summer = summerTime(rule, standard, year);
      summers.set(key, summer);
    }
    return summer;
  };

  const offsetMinutes = (timeZone: string, utcMs: number): number => {
    const found = rules.get(timeZone);
    if (!found) return intlOffset(timeZone, utcMs);
    const [minutes, rule] = found;
    if (rule === 'fixed') return minutes;
    const year = new Date(utcMs + minutes * MINUTE_MS).getUTCFullYear();
    if (rule === 'ma' && !ramadanOf(year)) return intlOffset(timeZone, utcMs);
    const { fromMs, toMs } = summerOf(rule, minutes, year);
    const between = utcMs >= Math.min(fromMs, toMs) && utcMs < Math.max(fromMs, toMs);
    // South of the equator a year's summer time ends before it begins.
    return between === fromMs < toMs ? minutes + 60 : minutes;
  };

  return {
    offsetMinutes,
    toUtc(timeZone, localMs) {
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
