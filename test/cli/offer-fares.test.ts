import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bagFor, comparisonView } from '../../src/cli/commands/offer/fares.ts';
import type { ComparedFare, FareComparison } from '../../src/cli/commands/offer/result.ts';
import { plainPaint } from '../../src/terminal/paint.ts';
import { textWidth } from '../../src/terminal/text.ts';
import { type MemoryOptions, runInMemory, temporaryHome } from './memory.ts';

/** The fares of one itinerary side by side: `offer <id> --fares`. */

const fare = (changed: Partial<ComparedFare>): ComparedFare => ({
  number: '1',
  offer_id: 'off_light',
  fare_brand_name: 'Light',
  owner_name: 'Zephyr Atlantic',
  cabin_class: 'economy',
  total_amount_decimal: '151.20',
  total_currency: 'USD',
  checked_bags_included: 0,
  carry_on_bags_included: 1,
  conditions: {
    change_allowed: true,
    change_penalty_amount: '40.00',
    change_penalty_currency: 'USD',
    refund_allowed: false,
    refund_penalty_amount: null,
    refund_penalty_currency: null,
  },
  checked_bag: { price: '35.00', currency: 'USD' },
  with_bag: '186.20',
  ...changed,
});
const plus = fare({
  number: '1.2',
  offer_id: 'off_plus',
  fare_brand_name: 'Plus',
  total_amount_decimal: '181.50',
  checked_bags_included: 1,
  checked_bag: null,
  with_bag: null,
});
const comparison = (fares: ComparedFare[]): FareComparison => ({
  origin_iata: 'LIS',
  destination_iata: 'BER',
  departing_at: '2026-12-20T06:35:00',
  fares,
});
const drawn = (fares: ComparedFare[], width: number) =>
  comparisonView.lines(comparison(fares), { paint: plainPaint, width });

describe('side by side', () => {
  test('a column for each fare; the bare fare with a paid bag is held against the bundle', () => {
    const text = drawn([fare({}), plus], 80).join('\n');
    expect(text).toMatch(/1 Light +1\.2 Plus/);
    expect(text).toMatch(/Price +151\.20 USD +181\.50 USD/);
    expect(text).toMatch(/With that bag +186\.20 USD +–/);
    expect(text).toMatch(
      /With a bag: Light and a paid bag cost 186\.20 USD; Plus has 1 for 181\.50, 4\.70\nless\.|4\.70 less/,
    );
  });

  test.each([60, 80, 100, 140])(
    'no line is wider than %i columns, however many fares and however long their names',
    (width) => {
      const many = Array.from({ length: 7 }, (_none, index) =>
        fare({ number: `1.${index}`, fare_brand_name: 'Économie très confortable 東京', owner_name: 'S'.repeat(40) }),
      );
      expect(drawn(many, width).filter((line) => textWidth(line) > width)).toEqual([]);
    },
  );

  test('a bag in another currency is shown and not added', () => {
    const bag = { type: 'baggage', baggage_type: 'checked', maximum_weight_kg: 23, maximum_quantity: 1 };
    const sold = [{ ...bag, total_amount_decimal: '30.00', total_currency: 'EUR' }] as never;
    expect(bagFor(fare({}), sold)).toEqual({ checked_bag: { price: '30.00', currency: 'EUR' }, with_bag: null });
    expect(bagFor(fare({}), [])).toEqual({ checked_bag: null, with_bag: null });
  });
});

describe('offer --fares', () => {
  const place = temporaryHome();
  const run = (line: string, options: MemoryOptions = {}) =>
    runInMemory(line.split(' '), {
      ...options,
      environment: { FARELOCK_HOME: place.home, FARELOCK_LOWCOST_MS: '20', ...options.environment },
    });
  const numbered = () =>
    (JSON.parse(readFileSync(join(place.home, 'recent-offers.json'), 'utf8')) as { numbered: Record<string, string> })
      .numbered;
  beforeAll(async () => {
    await run('search LIS BER --depart +30d --no-wait --quiet');
  });
  afterAll(() => place.close());

  test('asks for every fare of the itinerary once, and says what that cost', async () => {
    const number = Object.keys(numbered())
      .find((one) => one.endsWith('.2'))
      ?.split('.')[0];
    const family = Object.keys(numbered()).filter((one) => one.split('.')[0] === number);
    const ran = await run(`offer ${number} --fares --json`);
    expect(ran.exitCode, ran.stdout).toBe(0);
    const shown = ran.json() as unknown as FareComparison & { paid_amount: string };
    expect(shown.fares).toHaveLength(family.length);
    expect(shown.paid_amount).toBe((family.length / 100).toFixed(2));
    const prices = shown.fares.map((one) => Number(one.total_amount_decimal));
    expect(prices).toEqual(prices.toSorted((a, b) => a - b));
    expect(shown.fares.some((one) => one.with_bag !== null)).toBe(true);
    const drawnOn = await run(`offer ${number} --fares`, { terminal: true, columns: 80 });
    expect(drawnOn.stdout).toMatch(/Checked bags[\s\S]*Refund[\s\S]*With that bag/);
    expect(drawnOn.stderr).toMatch(/Paid 0\.0\d USDC[\s\S]*Next: farelock intent /);
  });

  test('--dry-run says how many, and pays nothing', async () => {
    const number = Object.keys(numbered()).find((one) => one.endsWith('.2')) ?? '';
    const plan = (await run(`offer ${number} --fares --dry-run --json`)).json();
    expect(plan.dry_run).toBe(true);
    expect((plan.plan as string[]).join(' ')).toMatch(/Do the same for \d+ more fare/);
  });
});
