import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BookOutcome, Purchase } from '../../../src/airlines/fulfiller.ts';
import { SITE_SCENARIO_NAMES, type SiteScenario } from '../../../src/sandbox/carrier-site/scenarios.ts';
import { rounds, upTo } from '../../rounds.ts';
import { type Buyer, bookedFor, chromium, type Ended, openBuyer } from './buyer.ts';
import { type Served, serveSite } from './served.ts';

/** Every scenario of the site, bought from by a real browser, held against the site's own books. */

/** A browser on a machine that is busy with much else. */
const PATIENCE_MS = 180_000;
const AT_ONCE = 4;
/** Some wait in vain. */
const MAIL_WAIT_MS = 4_500;

interface Expected {
  /** At once, of `book`. */
  readonly first: readonly Ended['kind'][];
  /** Once nothing is under way any more. */
  readonly last: BookOutcome['kind'] | null;
  readonly presses: number;
  readonly sales: readonly number[];
}

const nothing = (kind: BookOutcome['kind']): Expected => ({ first: [kind], last: kind, presses: 0, sales: [0] });
const misfit: Expected = { first: ['failed'], last: null, presses: 0, sales: [0] };
const booked: Expected = { first: ['booked'], last: 'booked', presses: 1, sales: [1] };
const later: Expected = { first: ['pending'], last: 'booked', presses: 1, sales: [1] };
/** On a machine that is busy the wait for a mail may be over before the first answer. */
const unknown = (...sales: number[]): Expected => ({
  first: ['pending', 'payment_pressed_no_confirmation'],
  last: 'payment_pressed_no_confirmation',
  presses: 1,
  sales,
});

const SWALLOWED: Expected = { ...unknown(0), presses: 0 };

const EXPECTED: Readonly<Record<SiteScenario, Expected>> = {
  none: booked,
  fare_check_failed: nothing('offer_gone'),
  price_differs_at_till: nothing('price_differs'),
  form_rejected: nothing('form_rejected'),
  captcha: nothing('captcha'),
  account_wall: nothing('account_wall'),
  sold_out: nothing('offer_gone'),
  pay_pressed_no_confirmation: unknown(0, 1),
  late_confirmation: later,
  mail_only: later,
  slow_confirmation: booked,
  // The page promises a mail: it may come for a day.
  forged_mail: { first: ['pending'], last: 'pending', presses: 1, sales: [0] },
  wrong_amount: booked,
  card_declined: unknown(0),
  cookie_bar: booked,
  cookie_late: booked,
  layout_changed: misfit,
  two_buttons: misfit,
  insurance_sticks: nothing('price_differs'),
  total_moves: nothing('price_differs'),
  slow_page: booked,
  till_500: misfit,
  cut_with_sale: later,
  cut_without_sale: unknown(0),
  pays_itself: booked,
  pays_again: later,
  answers_late: booked,
  popup_over_pay: booked,
  popup_stuck: misfit,
  redirect_elsewhere: misfit,
};

describe.runIf(chromium)('the pretend carrier', () => {
  let site: Served;
  let buyer: Buyer;
  let wanted: Omit<Purchase, 'reference'>;
  beforeAll(async () => {
    site = await serveSite({ mailMs: 100, slowMs: 1_000, lateMs: 4_000 });
    buyer = await openBuyer(site, { mostBrowsers: AT_ONCE, mailWaitMs: MAIL_WAIT_MS });
    wanted = await buyer.wanted('Cabin');
  }, PATIENCE_MS);
  afterAll(async () => {
    process.stdout.write(`visits made again: ${JSON.stringify(buyer.failures)}\n`);
    await buyer.close();
    await site.close();
  });

  async function goesAsExpected(scenario: SiteScenario, round: number): Promise<void> {
    const reference = `bkg_${scenario}_${round}`;
    const fulfiller = buyer.at(scenario);
    const purchase = { ...wanted, reference };
    const first = await buyer.book(fulfiller, purchase, EXPECTED[scenario] === misfit ? 1 : 3);
    const last = await buyer.settled(fulfiller, reference, EXPECTED[scenario].last === 'pending' ? 1_500 : 60_000);
    const { presses, sales, elsewhere } = await bookedFor(site, reference);
    // The wall may come between the last look at the button and the press, and swallow it: a person decides then.
    const isSwallowed = last?.kind === 'payment_pressed_no_confirmation' && presses.length === 0;
    const expected = scenario === 'cookie_late' && isSwallowed ? SWALLOWED : EXPECTED[scenario];
    const seen = { first: first.kind, last: last?.kind ?? null, presses: presses.length, sales: sales.length };
    expect(seen, JSON.stringify({ scenario, first, last, presses })).toEqual({
      first: expect.toBeOneOf([...expected.first]),
      last: expected.last,
      presses: expected.presses,
      sales: expect.toBeOneOf([...expected.sales]),
    });
    expect(elsewhere).toEqual([]);
    for (const { amount_decimal: amount } of presses) expect(Number(amount)).toBe(Number(wanted.amountDecimal));
    if (last?.kind === 'booked') {
      expect(last.bookingReference).toBe(sales[0]?.booking_reference);
      if (scenario !== 'wrong_amount') expect(Number(last.paidAmountDecimal)).toBe(Number(wanted.amountDecimal));
      else expect(Number(last.paidAmountDecimal)).toBeCloseTo(Number(wanted.amountDecimal) + 9, 6);
    }
    if (first.kind === 'form_rejected') expect(first.fields).toEqual(['passport_number']);
    // Asked again, it never presses again.
    if (presses.length > 0) {
      expect((await buyer.book(fulfiller, purchase)).kind).toBe(last?.kind);
      expect((await bookedFor(site, reference)).presses).toHaveLength(1);
    }
  }

  test.each(SITE_SCENARIO_NAMES)('%s ends truly, each time', { timeout: 5 * PATIENCE_MS }, async (scenario) => {
    const turns = upTo(rounds(0, 20));
    const workers = upTo(AT_ONCE).map(async () => {
      for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) {
        await goesAsExpected(scenario, turn);
      }
    });
    await Promise.all(workers);
  });
});
