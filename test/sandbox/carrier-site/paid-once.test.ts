import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Purchase } from '../../../src/flights/providers/fulfiller.ts';
import { isProof, rounds, upTo } from '../../rounds.ts';
import { type Buyer, bookedFor, chromium, openBuyer } from './buyer.ts';
import { type Served, serveSite } from './served.ts';

/** Tills that pay by themselves, that pay again, and that answer after the time of a visit: each purchase is paid once. */

const TILLS = ['pays_itself', 'pays_again', 'answers_late'] as const;
const AT_ONCE = 2;
/** The till answers later than a visit takes: what a visit has left after its way there is not enough. */
const VISIT_MS = isProof ? 40_000 : 25_000;
const LATE_MS = VISIT_MS + 1_000;
/** As often as the worker tries. */
const MOST_TRIES = 4;

describe.runIf(chromium)('whatever the till does once it has the card', () => {
  let site: Served;
  let buyer: Buyer;
  let wanted: Omit<Purchase, 'reference'>;
  let posts = 0;
  beforeAll(async () => {
    site = await serveSite({ mailMs: 100, slowMs: 1_500, lateMs: LATE_MS });
    site.onRequest = (request) => {
      if (request === 'POST /pay') posts += 1;
    };
    buyer = await openBuyer(site, { mostBrowsers: AT_ONCE, mailWaitMs: 60_000, visitMs: VISIT_MS });
    wanted = await buyer.wanted('Cabin');
  }, 180_000);
  afterAll(async () => {
    await buyer?.close();
    await site?.close();
  });

  async function isPaidOnce(till: (typeof TILLS)[number], turn: number): Promise<string> {
    const reference = `bkg_${till}_${turn}`;
    const fulfiller = buyer.at(till);
    const first = await buyer.book(fulfiller, { ...wanted, reference }, MOST_TRIES);
    const last = await buyer.settled(fulfiller, reference, 120_000);
    const { presses, sales } = await bookedFor(site, reference);
    const story = JSON.stringify({ first, last, presses, sales, failures: buyer.failures });
    expect(presses, story).toHaveLength(1);
    expect(sales, story).toHaveLength(1);
    expect(last, story).toMatchObject({
      kind: 'booked',
      bookingReference: sales[0]?.booking_reference,
    });
    return `${first.kind}, then ${last?.kind}`;
  }

  const each = isProof ? test : test.concurrent;
  each.each(TILLS)(
    '%s: it is paid once, and ends as the carrier has it',
    async (till) => {
      const before = posts;
      const turns = upTo(rounds(1, 34));
      const total = turns.length;
      const ends: string[] = [];
      const buyers = upTo(isProof ? AT_ONCE : 1).map(async () => {
        for (let turn = turns.shift(); turn !== undefined; turn = turns.shift())
          ends.push(await isPaidOnce(till, turn));
      });
      await Promise.all(buyers);
      if (isProof) {
        expect(posts - before).toBe(total);
        process.stdout.write(`${till}: ${JSON.stringify(ends.sort())}\n`);
      }
      // What the page itself says is read there, however late it comes.
      if (till !== 'pays_again') expect(new Set(ends)).toEqual(new Set(['booked, then booked']));
    },
    isProof ? undefined : 240_000,
  );
});
