import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Purchase } from '../../../src/airlines/fulfiller.ts';
import { rounds, upTo } from '../../rounds.ts';
import { type Buyer, bookedFor, chromium, openBuyer } from './buyer.ts';
import { type Served, serveSite } from './served.ts';

/** Chromium is killed on its way through the site, and many buy at once: one press a reference, and the truth of it. */

/** The browsers of this process, by their profiles; each child of one is killed with it. */
function browsersOfMine(): number[] {
  const isMine = (pid: string) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return words.includes(`/farelock-visit-${process.pid}-`) && !words.includes('--type=');
    } catch {
      return false; // It has ended meanwhile.
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isMine(name))
    .map(Number);
}

/** The requests of a purchase, in their order; those of pictures and styles left out. */
const COUNTED = /^(GET|POST) \/(?!assets|sandbox)/;

describe.runIf(chromium && process.platform === 'linux')('a purchase', () => {
  let site: Served;
  let buyer: Buyer;
  let wanted: Omit<Purchase, 'reference'>;
  beforeAll(async () => {
    site = await serveSite({ mailMs: 100 });
    buyer = await openBuyer(site, { mostBrowsers: 4, mailWaitMs: 3_000 });
    wanted = await buyer.wanted('Hold');
  }, 180_000);
  afterAll(async () => {
    process.stdout.write(`visits made again: ${JSON.stringify(buyer?.failures)}\n`);
    await buyer?.close();
    await site?.close();
  });

  /** Buys while the browser is killed `delayMs` after a request; undefined: it isn't. */
  async function boughtUnderFire(reference: string, at: (request: string, count: number) => boolean, delayMs: number) {
    let count = 0;
    let kills = 0;
    site.onRequest = (request) => {
      if (!COUNTED.test(request) || kills > 0) return;
      count += 1;
      if (!at(request, count)) return;
      kills += 1;
      const kill = () => {
        for (const pid of browsersOfMine()) process.kill(pid, 'SIGKILL');
      };
      if (delayMs === 0) kill();
      else setTimeout(kill, delayMs);
    };
    const fulfiller = buyer.at('none');
    const purchase = { ...wanted, reference };
    const first = await buyer.book(fulfiller, purchase);
    site.onRequest = () => undefined;
    // Nothing was pressed: whoever asks again begins anew.
    if (first.kind === 'failed') await buyer.book(fulfiller, purchase, 3);
    const last = await buyer.settled(fulfiller, reference);
    const { presses, sales } = await bookedFor(site, reference);
    const story = JSON.stringify({ reference, delayMs, first, last, presses, sales });
    expect(presses.length, story).toBeLessThanOrEqual(1);
    // The signed mail comes for each sale: who was sold something learns of it, and nobody else does.
    expect(last?.kind, story).toBe(sales.length === 1 ? 'booked' : 'payment_pressed_no_confirmation');
    if (first.kind === 'failed') expect(last?.kind, story).toBe('booked');
    return { count, kills, first: first.kind, last: last?.kind };
  }

  test('whose browser is killed as it presses is neither lost nor made twice', async () => {
    const seen = await boughtUnderFire('bkg_at_press', (request) => request === 'POST /pay', 0);
    expect(seen).toMatchObject({ kills: 1, first: 'pending', last: 'booked' });
  });

  test('is made once, wherever on its way the browser is killed', async () => {
    const { count: requests } = await boughtUnderFire('bkg_whole', () => false, 0);
    expect(requests).toBeGreaterThan(15);
    const ends = new Map<string, number>();
    // At each request, then a little after each, then later: between the steps that make none.
    for (const kill of upTo(rounds(0, 3 * requests))) {
      const delayMs = [0, 70, 250][Math.floor(kill / requests) % 3] ?? 0;
      const at = (kill % requests) + 1;
      const { first, last } = await boughtUnderFire(`bkg_k${kill}`, (_, count) => count === at, delayMs);
      const end = `${first}, then ${last}`;
      ends.set(end, (ends.get(end) ?? 0) + 1);
    }
    process.stdout.write(`kills: ${JSON.stringify(Object.fromEntries(ends))}\n`);
  });

  test('is made a hundred times, four at once', async () => {
    const turns = upTo(rounds(0, 100));
    const total = turns.length;
    const seen: string[] = [];
    const workers = upTo(4).map(async () => {
      for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) {
        const reference = `bkg_many_${turn}`;
        await buyer.book(buyer.at('none'), { ...wanted, reference }, 3);
        const outcome = await buyer.settled(buyer.at('none'), reference);
        if (outcome?.kind === 'booked') seen.push(outcome.bookingReference);
        else seen.push(JSON.stringify(outcome));
      }
    });
    await Promise.all(workers);
    const books = await site.books();
    const mine = books.sales.filter(({ reference }) => reference.startsWith('bkg_many_'));
    expect([...seen].sort()).toEqual(mine.map((sale) => sale.booking_reference).sort());
    expect(new Set(mine.map(({ reference }) => reference)).size).toBe(total);
    expect(books.presses.filter(({ reference }) => reference.startsWith('bkg_many_'))).toHaveLength(total);
    for (const sale of mine) expect(Number(sale.paid_amount_decimal)).toBe(Number(wanted.amountDecimal));
  });
});
