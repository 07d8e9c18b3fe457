import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BookOutcome, Purchase } from '../../../src/airlines/fulfiller.ts';
import type { SiteScenario } from '../../../src/sandbox/carrier-site/scenarios.ts';
import { rounds, upTo } from '../../rounds.ts';
import { type Buyer, bookedFor, chromium, openBuyer, type Waits } from './buyer.ts';
import { type Served, serveSite } from './served.ts';

/**
 * Tills that pay by themselves, that pay again, and that answer 100 seconds later, after the time of a visit: each of a
 * hundred purchases is paid once. A late till has its own test in
 * test/airlines/browser/journey.test.ts.
 */

interface Till {
  readonly scenario: SiteScenario;
  readonly times: number;
  readonly ends: readonly BookOutcome['kind'][];
  readonly waits?: Waits;
}

/** Gives up before the till answers, and reads no mail: only a person can find out then. */
const IMPATIENT: Waits = { confirmsWithinMs: 60_000, readsMails: false };

const TILLS: Readonly<Record<string, Till>> = {
  'pays by itself': { scenario: 'pays_itself', times: rounds(0, 34), ends: ['booked'] },
  // The page says nothing any more: the mail does.
  'pays again': { scenario: 'pays_again', times: rounds(0, 33), ends: ['pending', 'booked'] },
  'answers late, and is waited for': {
    ...{ scenario: 'answers_late', times: rounds(0, 23), ends: ['booked'] },
    waits: { confirmsWithinMs: 180_000 },
  },
  'answers too late': {
    ...{ scenario: 'answers_late', times: rounds(0, 10), waits: IMPATIENT },
    ends: ['payment_pressed_no_confirmation'],
  },
};

const AT_ONCE = 5;
/** As often as the worker tries. */
const MOST_TRIES = 4;
const LATE_MS = 100_000;

describe.runIf(chromium)('a till that', () => {
  let site: Served;
  let buyer: Buyer;
  let wanted: Omit<Purchase, 'reference'>;
  let posts = 0;
  beforeAll(async () => {
    site = await serveSite({ mailMs: 100, slowMs: 1_500, lateMs: LATE_MS });
    site.onRequest = (request) => {
      if (request === 'POST /pay') posts += 1;
    };
    buyer = await openBuyer(site, { mostBrowsers: AT_ONCE, mailWaitMs: 60_000 });
    wanted = await buyer.wanted('Cabin');
  });
  afterAll(async () => {
    process.stdout.write(`visits made again: ${JSON.stringify(buyer?.failures)}\n`);
    await buyer?.close();
    await site?.close();
  });

  /** Buys once, and answers with how it ended. */
  async function bought({ scenario, waits, ends }: Till, turn: number): Promise<string> {
    const reference = `bkg_${scenario}_${ends.at(-1)}_${turn}`;
    const fulfiller = buyer.at(scenario, waits);
    const first = await buyer.book(fulfiller, { ...wanted, reference }, MOST_TRIES);
    const last = await buyer.settled(fulfiller, reference, 180_000);
    if (scenario === 'answers_late') {
      // The till's own answer, and what comes of asking after it.
      await expect.poll(() => isConfirmed(reference), { timeout: LATE_MS }).toBe(true);
      expect((await buyer.book(fulfiller, { ...wanted, reference })).kind).toBe(last?.kind);
    }
    const { presses, sales } = await bookedFor(site, reference);
    const story = JSON.stringify({ first, last, presses, sales, failures: buyer.failures });
    expect(presses, story).toMatchObject([{ outcome: 'sold' }]);
    expect(sales, story).toHaveLength(1);
    expect(Number(sales[0]?.paid_amount_decimal), story).toBe(Number(wanted.amountDecimal));
    if (last?.kind === 'booked') expect(last.bookingReference).toBe(sales[0]?.booking_reference);
    // Its card is not ended: it was charged.
    const row = await buyer.store
      .selectFrom('browser_purchases')
      .select('card')
      .where('reference', '=', reference)
      .executeTakeFirst();
    expect(row, story).toEqual({ card: 'issued' });
    return `${first.kind}, then ${last?.kind}`;
  }

  const isConfirmed = async (reference: string) =>
    (await bookedFor(site, reference)).sales.some(({ confirmed }) => confirmed);

  test.each(Object.entries(TILLS))(
    '%s is paid once, and the purchase ends as the carrier has it',
    async (name, till) => {
      const before = posts;
      const turns = upTo(till.times);
      const ends: string[] = [];
      const buyers = upTo(AT_ONCE).map(async () => {
        for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) ends.push(await bought(till, turn));
      });
      await Promise.all(buyers);
      const [first, last = first] = till.ends;
      expect(ends).toEqual(upTo(till.times).map(() => `${first}, then ${last}`));
      expect(posts - before).toBe(till.times);
      process.stdout.write(`${name}: ${till.times} purchases, ${posts - before} POSTs; ${ends[0]}\n`);
    },
  );
});
