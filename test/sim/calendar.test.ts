import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { DaysDocument } from '../../src/cli/commands/search/result.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import type { CreatedIntent, Intent, Offer, Order, SearchResponse } from '../../src/wire/flights/index.ts';
import { ANA, type MemoryOptions, runInMemory, temporaryHome } from '../cli/memory.ts';
import { clockFrom, WORLD_STARTS_MS } from '../clock.ts';
import { proofTest } from '../proof-only.ts';
import { isProof } from '../rounds.ts';
import { calendarDates } from './dates.mjs';

/**
 * What the tests of one world assert, on other dates: ends of months and years, changes of clocks, a leap day. Each in
 * another time zone of the machine: all of them in the proof, one in the gate. `npm run calendar` runs every test of all folders with the machine's clock moved.
 */

const ZONES = ['UTC', 'Europe/Lisbon', 'America/New_York', 'Asia/Kolkata', 'Pacific/Auckland'];
const IN_THE_GATE = ['summer time ends in Europe'];
const DATES = calendarDates(WORLD_STARTS_MS)
  .filter(
    ({ name }) => !['today', 'in 2 days', 'in 7 days', 'in 40 days', 'summer time ends in America'].includes(name),
  )
  .map((date, index) => ({
    ...date,
    at: new Date(date.ms).toISOString().slice(0, 16),
    zone: ZONES[index % ZONES.length] ?? 'UTC',
  }))
  .filter(({ name }) => isProof || IN_THE_GATE.includes(name));

const zoneBefore = process.env.TZ;
const open: { close(): void }[] = [];
afterEach(() => {
  if (zoneBefore === undefined) delete process.env.TZ;
  else process.env.TZ = zoneBefore;
  for (const place of open.splice(0)) place.close();
});

/** A home of its own, and its clock, which a test moves ahead. */
function newHome({ ms, zone }: { ms: number; zone: string }) {
  process.env.TZ = zone;
  const place = temporaryHome();
  open.push(place);
  const running = clockFrom(ms);
  let aheadMs = 0;
  const clock: Clock = {
    now: () => running.now() + aheadMs,
    sleep: (ms, signal) => running.sleep(Math.min(ms, 100), signal),
  };
  const environment = { FARELOCK_HOME: place.home, FARELOCK_TICKETING_MS: '20', FARELOCK_LOWCOST_MS: '20' };
  const run = async (args: readonly string[], exitCode: number, options: MemoryOptions = {}) => {
    const ran = await runInMemory(args, { clock, environment, ...options });
    expect(ran.exitCode, `${args.join(' ')}\n${ran.stdout}${ran.stderr}`).toBe(exitCode);
    return ran;
  };
  return {
    home: place.home,
    run,
    json: async <T>(line: string, exitCode = 0, options: MemoryOptions = {}) =>
      (await run(`${line} --json`.split(' '), exitCode, options)).json() as T,
    later: (forMs: number) => {
      aheadMs += forMs;
    },
  };
}
type Home = ReturnType<typeof newHome>;

const PASSENGERS = { stdin: JSON.stringify([ANA]) };
const search = 'search LIS BER --depart +30d --no-wait --all-fares --limit 500';
const usdc = async ({ json }: Home) => Number((await json<{ usdc_atomic: string }>('wallet balance')).usdc_atomic);
const sold = ({ offers }: SearchResponse): Offer => {
  const found = offers.find((offer) => offer.total_currency === 'USD' && !offer.identity_documents_required);
  if (!found) throw new Error('nothing is sold in USD');
  return found;
};

describe.each(DATES)('$name ($at, $zone)', (date) => {
  test('a flight is found, locked, paid, ticketed, and in a calendar', async () => {
    const home = newHome(date);
    const before = await usdc(home);
    const offer = sold(await home.json<SearchResponse>(search));
    const created = await home.json<CreatedIntent>(`intent create ${offer.offer_id}`);
    const booked = await home.json<Intent>(`book ${created.intent_id} --passengers - --yes`, 0, PASSENGERS);
    expect(booked.status).toBe('booked');
    const ics = join(home.home, 'trip.ics');
    const order = await home.json<Order>(`order ${created.intent_id} --ics ${ics}`);
    expect(order.slices.map(({ departing_at }) => departing_at)).toEqual([offer.departing_at]);
    expect(before - (await usdc(home))).toBe(100_000 + 100_000 + created.escrow.amount + 10_000);
  });

  test('the days around one, and those of a whole month, are known at the lower price', async () => {
    const home = newHome(date);
    const around = await home.json<DaysDocument>('search LIS BER --depart +40d --flex 2 --no-wait');
    expect([around.departures.length, around.searches, around.paid_amount]).toEqual([5, 5, '0.50']);
    home.later(61_000);
    const far = await home.json<DaysDocument>('search LIS VIE --depart +359d --flex 1 --no-wait');
    expect(far.days.map(({ status }) => status).filter((status) => status === 'failed')).toEqual([]);
    const plan = await home.json<{ searches: number }>('search LIS HEL --depart +45d --cheapest-day --dry-run');
    expect([28, 29, 30, 31]).toContain(plan.searches);
  });

  proofTest('a lock that runs out while passengers are typed is locked or searched again', async () => {
    const home = newHome(date);
    const offer = sold(await home.json<SearchResponse>(search));
    const where = ['lisbon', 'ber', '+30d', '', '1'];
    const pick = ['Search', offer.owner_name, offer.fare_brand_name ?? '–', 'Lock it'];
    const who = ['Ana', 'Moreira', '1990-04-12', 'ms', 'f', 'ana@example.com', '+351912345678'];
    let isLate = false;
    const run = await home.run([], 0, {
      terminal: true,
      columns: 100,
      onStderr(text) {
        if (isLate || !text.startsWith('Passengers')) return;
        isLate = true;
        home.later(46 * 60_000);
      },
      answers: [...where, ...pick, ...who, 'Not this time', 'Search again', ...pick, 'Pay ', 'No'],
    });
    expect(run.stderr).toMatch(/The lock has expired: the fare could be booked until/);
    expect(run.asked.filter((question) => question.includes('Given names'))).toHaveLength(1);
    expect(run.stdout).toMatch(/booked/);
  });
});
