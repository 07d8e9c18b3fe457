import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OfferQuery, Scenario } from '../../../src/airlines/provider.ts';
import { createSandboxProvider, type SandboxProvider } from '../../../src/sandbox/airline/index.ts';
import type { Passenger } from '../../../src/wire/flights/index.ts';
import { queryOf } from '../../airlines/queries.ts';
import { type ManualClock, manualClock } from '../../clock.ts';

/** Saturday 2026-11-21, 09:00 UTC: the day on which all of these tests happen. */
export const NOW_MS = Date.UTC(2026, 10, 21, 9);

export interface Sandbox {
  readonly clock: ManualClock;
  readonly orders: string;
  readonly provider: SandboxProvider;
  /** A provider of its own on the same airline, as a second process would have. */
  another(scenario?: Scenario): SandboxProvider;
  close(): Promise<void>;
}

export function openSandbox(scenario: Scenario = 'none', seed = 'test'): Sandbox {
  const folder = mkdtempSync(join(tmpdir(), 'farelock-sandbox-'));
  const clock = manualClock(NOW_MS);
  const orders = join(folder, 'airline.db');
  const opened: SandboxProvider[] = [];
  const another = (other: Scenario = scenario) => {
    const provider = createSandboxProvider({ seed, clock, scenario: other, ticketingMs: 2000, orders });
    opened.push(provider);
    return provider;
  };
  return {
    clock,
    orders,
    provider: another(),
    another,
    async close() {
      for (const provider of opened) await provider.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const query = (
  origin: string,
  destination: string,
  departDate = '2026-12-21',
  more: Partial<Omit<OfferQuery, 'slices'>> & { readonly returnDate?: string } = {},
): OfferQuery => queryOf({ origin, destination, departDate, ...more });

export const passenger = (givenName = 'Ada'): Passenger => ({
  given_name: givenName,
  family_name: 'Lovelace',
  born_on: '1990-12-10',
  title: 'ms',
  gender: 'f',
  email: 'ada@example.com',
  phone_number: '+442079460000',
});

/** The instant of a local time in a zone, by Intl alone: what the sandbox is held against. */
export function instantOf(localTime: string, timeZone: string, earlierOf = true): number {
  const asUtc = Date.parse(`${localTime}Z`);
  const readings = [-86_400_000, 86_400_000]
    .map((aside) => asUtc - intlOffsetMinutes(timeZone, asUtc + aside) * 60_000)
    .filter((ms) => ms + intlOffsetMinutes(timeZone, ms) * 60_000 === asUtc);
  if (readings.length === 0) throw new Error(`${localTime} does not exist in ${timeZone}`);
  return earlierOf ? Math.min(...readings) : Math.max(...readings);
}

const formats = new Map<string, Intl.DateTimeFormat>();

export function intlOffsetMinutes(timeZone: string, utcMs: number): number {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  formats.set(timeZone, format);
  const part: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(utcMs)) part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return (Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(utcMs / 1000) * 1000) / 60_000;
}
