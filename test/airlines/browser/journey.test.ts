import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bought, buy, priceDiffers } from '../../../src/airlines/browser/buy.ts';
import { evidenceOf } from '../../../src/airlines/browser/exits.ts';
import { keptOffer } from '../../../src/airlines/browser/looking.ts';
import type { Visit } from '../../../src/airlines/browser/page/visit.ts';
import { Misfit } from '../../../src/airlines/browser/page/walk.ts';
import * as purchases from '../../../src/airlines/browser/purchases.ts';
import type { Recipe } from '../../../src/airlines/browser/recipes/index.ts';
import { loadRecipes } from '../../../src/airlines/browser/recipes/index.ts';
import type { Step } from '../../../src/airlines/browser/recipes/steps.ts';
import type { BookOutcome, Purchase } from '../../../src/airlines/fulfiller.ts';
import { HttpResponse } from '../../../src/kernel/http.ts';
import { isProblem } from '../../../src/kernel/problems.ts';
import { createSandboxCards } from '../../../src/sandbox/carrier-site/cards.ts';
import type { SiteScenario } from '../../../src/sandbox/carrier-site/scenarios.ts';
import { worldClock } from '../../clock.ts';
import { proofTest } from '../../proof-only.ts';
import { LATE_MS, type OpenedShop, openShop, purchaseOf, RECIPE, TRAVELLER } from './shop.ts';
import { chromium, visitTo } from './site.ts';

function* filesIn(folder: string): Generator<string> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* filesIn(path);
    else yield path;
  }
}

/** Kills the browsers that this process has started, as a machine without memory would. */
function killBrowsers(): number {
  const mine = `--user-data-dir=/dev/shm/farelock-visit-${process.pid}-`;
  const pids = readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      return words.some((word) => word.startsWith(mine)) && !words.some((word) => word.startsWith('--type='));
    } catch {
      return false;
    }
  });
  for (const pid of pids) process.kill(Number(pid), 'SIGKILL');
  return pids.length;
}

/** What a terminal obeys. */
const ESCAPES = '\u001b[2J\u009b2K\u202e';

describe.runIf(chromium)('on a carrier’s site', () => {
  let shop: OpenedShop;
  let agreed: Purchase;
  /** What a page says after the press, in place of the site; null: the site answers. */
  let said: string | null = null;
  const pressesOf = async (reference: string) => {
    const { presses } = (await shop.sales()) as { presses: { reference: string }[] };
    return presses.filter((press) => press.reference === reference).length;
  };
  beforeAll(async () => {
    shop = await openShop((request) =>
      said !== null && request.method === 'POST' && new URL(request.url).pathname === '/pay'
        ? new HttpResponse(200, `<title>x</title><h1>${said}</h1>`, { 'content-type': 'text/html; charset=utf-8' })
        : null,
    );
    agreed = await purchaseOf(shop, 'int_first');
  }, 120_000);
  afterAll(() => shop.close());

  /** The example recipe, changed, in a file of its own. */
  function recipeFile(name: string, change: (recipe: Recipe) => Partial<Recipe>): string {
    const [recipe] = loadRecipes([RECIPE]);
    if (!recipe) throw new Error('no recipe');
    const file = join(shop.home, `${name}.json`);
    writeFileSync(file, JSON.stringify({ ...recipe, ...change(recipe) }));
    return file;
  }

  const recipeAt = (scenario: SiteScenario): string =>
    recipeFile(scenario, ({ search }) => ({
      search: {
        ...search,
        steps: search.steps.map((step) => (step.do === 'open' ? { ...step, path: `/?scenario=${scenario}` } : step)),
      },
    }));

  /** A visit that a page has stopped before the button bought nothing: it is made again, as the worker does. */
  async function bought(purchase: Purchase, by = shop.fulfiller): Promise<BookOutcome> {
    for (let visits = 1; ; visits++) {
      try {
        return await by.book(purchase);
      } catch (error) {
        if (visits === 3 || !isProblem(error, 'provider_failed')) throw error;
      }
    }
  }

  /** Buys on a visit of its own, with what happens as it is about to press; a stopped visit is made again, as above. */
  async function boughtBy(
    reference: string,
    press: (visit: Visit) => Promise<boolean>,
    { agreedCurrency = 'USD', file = RECIPE } = {},
  ): Promise<Bought> {
    const [recipe] = loadRecipes([file], { X9: shop.base });
    const kept = recipe && (await keptOffer({ store: shop.store, recipes: [recipe] }, agreed.offerId));
    if (!recipe || !kept) throw new Error('no offer');
    const given = {
      purchase: { ...agreed, reference },
      kept: { ...kept, offer: { ...kept.offer, total_currency: agreedCurrency } },
      mailAddress: null,
      issue: () =>
        createSandboxCards().issue({
          ...{ reference, amountDecimal: agreed.amountDecimal },
          ...{ currency: 'USD', merchant: 'Sandbox Hopper' },
        }),
      release: async () => undefined,
      code: async () => null,
    };
    for (let visits = 1; ; visits++) {
      const visit = await visitTo(recipe, 60_000);
      try {
        return await buy(visit, { ...given, press: () => press(visit) });
      } catch (error) {
        if (visits === 3 || !(error instanceof Misfit)) throw error;
      } finally {
        await visit.close();
      }
    }
  }

  proofTest('a till that asks the agreed number in another currency is never paid', async () => {
    const outcome = await boughtBy('int_currency', async () => true, { agreedCurrency: 'EUR' });
    expect(outcome).toEqual({ kind: 'price_differs', foundAmountDecimal: agreed.amountDecimal });
    expect(await pressesOf('int_currency')).toBe(0);
  });

  test('a fare is bought by what it contains, for its price; nothing of it lies open on the disk', async () => {
    const outcome = await bought(agreed);
    expect(outcome).toMatchObject({ kind: 'booked', paidAmountDecimal: agreed.amountDecimal });
    expect(await shop.fulfiller.book(agreed)).toEqual(outcome);
    expect(await shop.fulfiller.find('int_first')).toEqual(outcome);
    const { presses, sales } = (await shop.sales()) as { presses: unknown[]; sales: unknown[] };
    expect(presses).toHaveLength(1);
    expect(sales).toEqual([
      expect.objectContaining({
        booking_reference: outcome.kind === 'booked' ? outcome.bookingReference : '',
        fare: agreed.fare.brand,
        paid_amount_decimal: agreed.amountDecimal,
      }),
    ]);

    const all = await evidenceOf({ ...shop, clock: worldClock }, ['int_first']);
    const kept = all.find((one) => one.outcome === 'booked');
    expect(kept).toMatchObject({ outcome: 'booked', carrier: 'X9', recipe_version: 1 });
    expect(
      Buffer.from(kept?.screenshot ?? '', 'base64')
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    const said = `${kept?.text}${shop.logged.join('')}`.toLowerCase();
    const card = await createSandboxCards().issue({
      ...{ reference: 'int_first', amountDecimal: agreed.amountDecimal },
      ...{ currency: 'USD', merchant: 'Sandbox Hopper' },
    });
    const { given_name, family_name, passport_number = '', email } = TRAVELLER;
    for (const value of [given_name, family_name, passport_number, email, card.number]) {
      expect(said).not.toContain(value.toLowerCase());
      for (const file of filesIn(shop.home)) {
        // The carrier's own books and mails know whom it flies.
        if (/books\.db|\/mails\//.test(file)) continue;
        expect(readFileSync(file).includes(value), `${value} in ${file}`).toBe(false);
      }
    }
  });

  test('no total but the agreed one is paid', () => {
    const errand = { purchase: agreed, kept: { offer: { total_currency: 'USD' } } } as Parameters<
      typeof priceDiffers
    >[1];
    const asked = (decimal: string, currency = 'USD') => priceDiffers({ decimal, currency }, errand);
    expect(asked(agreed.amountDecimal)).toBeNull();
    for (const total of [asked('0.01'), asked(`${agreed.amountDecimal}1`), asked(agreed.amountDecimal, 'EUR')])
      expect(total).toMatchObject({ kind: 'price_differs' });
  });

  proofTest('a total that moves at the till is never paid', async () => {
    const outcome = await boughtBy('int_moves', async () => true, { file: recipeAt('total_moves') });
    expect(outcome).toMatchObject({ kind: 'price_differs' });
    expect(await pressesOf('int_moves')).toBe(0);
  });

  test('what is missing to buy is named, and a browser without its sandbox is logged', () => {
    expect(() => shop.open({ chromium: '/nonexistent/chromium' })).toThrow(
      expect.objectContaining({ code: 'browser_missing', message: expect.stringContaining('/nonexistent/chromium') }),
    );
    const said = shop.logged.some((line) => line.includes('browser_unsandboxed'));
    expect(said).toBe(process.getuid?.() === 0);
  });

  test('the site of a real carrier is looked at, and nothing is bought there with a made-up card', async () => {
    const real = shop.open({ sites: { X9: 'https://www.carrier.invalid' } });
    const purchase = { ...agreed, reference: 'int_real' };
    expect(await shop.fulfiller.offer(agreed.offerId)).toMatchObject({ isUnpayable: false });
    expect(await real.offer(agreed.offerId)).toMatchObject({ isUnpayable: true });
    await expect(real.book(purchase)).rejects.toMatchObject({ code: 'provider_failed' });
    // It has not so much as begun.
    expect(await shop.store.selectFrom('browser_purchases').selectAll().execute()).not.toContainEqual(
      expect.objectContaining({ reference: 'int_real' }),
    );
    await real.close();
  });

  proofTest('what lies over the button at the last moment is cleared away, and it is pressed once', async () => {
    // Neither inline styles nor handlers: the site's policy forbids them.
    const covered = `(() => {
      const chat = document.createElement('dialog');
      chat.setAttribute('aria-label', 'Chat');
      const close = chat.appendChild(document.createElement('button'));
      close.textContent = 'Close chat';
      close.addEventListener('click', () => chat.remove());
      Object.assign(chat.style, { position: 'fixed', inset: 0, width: '100%', height: '100%', zIndex: 99 });
      document.body.append(chat);
      chat.show();
      // And something that no recipe knows, which goes by itself.
      const cover = document.body.appendChild(document.createElement('div'));
      Object.assign(cover.style, { position: 'fixed', inset: 0, zIndex: 98 });
      setTimeout(() => cover.remove(), 4000);
    })()`;
    const bought = await boughtBy('int_covered', async ({ page }) => {
      await page.evaluate(covered);
      return true;
    });
    expect(bought).toMatchObject({ kind: 'confirmed', confirmed: { paid: { decimal: agreed.amountDecimal } } });
    expect(await pressesOf('int_covered')).toBe(1);
  });

  proofTest('nothing is pressed where somebody else has the purchase by then', async () => {
    expect(await boughtBy('int_taken', async () => false)).toEqual({ kind: 'taken_over' });
    expect(await pressesOf('int_taken')).toBe(0);
  });

  proofTest('a visit’s time begins again with the press: a till that answers after it is waited for', async () => {
    const file = recipeAt('answers_late');
    const press = async (visit: Visit) => {
      visit.extend(LATE_MS / 2);
      return true;
    };
    expect(await boughtBy('int_late', press, { file })).toMatchObject({
      kind: 'confirmed',
      confirmed: { paid: { decimal: agreed.amountDecimal } },
    });
    expect(await pressesOf('int_late')).toBe(1);
  });

  proofTest(
    'what a page says after the press is kept without the traveller’s name and the card, in log and database',
    async () => {
      const file = recipeFile('spoken', ({ confirmation }) => ({
        confirmation: { ...confirmation, within_ms: 1_000 },
      }));
      const fulfiller = shop.open({ recipes: [file], mailFolder: null });
      const card = await createSandboxCards().issue({
        ...{ reference: 'int_spoken', amountDecimal: agreed.amountDecimal },
        ...{ currency: 'USD', merchant: 'Sandbox Hopper' },
      });
      const spread = card.number.replace(/(.{4})/g, '$1\u200b');
      said = `Sorry ${TRAVELLER.family_name}, ${spread} ${ESCAPES}`;
      const outcome = await bought({ ...agreed, reference: 'int_spoken' }, fulfiller);
      said = null;
      expect(outcome).toEqual({ kind: 'payment_pressed_no_confirmation' });
      const rows = await shop.store.selectFrom('browser_evidence').selectAll().execute();
      const kept = rows.map(({ text_sealed: _text, screenshot_sealed: _screen, ...row }) => row);
      expect(kept).toContainEqual(
        expect.objectContaining({ subject: 'int_spoken', outcome: 'payment_pressed_no_confirmation' }),
      );
      const written = `${shop.logged.join('\n')}${JSON.stringify(kept)}`;
      expect(written).toContain('Sorry');
      for (const secret of [TRAVELLER.family_name, card.number, card.number.slice(0, 12)])
        expect(written.replaceAll('\u200b', '').toLowerCase()).not.toContain(secret.toLowerCase());
      expect(written).not.toMatch(/\\u001b|\\u009b|\u009b|\\u202e|\u202e/i);
      await fulfiller.close();
    },
  );

  proofTest(
    'a step that touches the pay button by other words is stopped at the button itself: nothing is pressed',
    async () => {
      const presses: Step = { do: 'click', at: { css: '#pay-form button' } };
      const file = recipeFile('presses', ({ till }) => ({ till: { ...till, card: [...till.card, presses] } }));
      const purchase = { ...agreed, reference: 'int_by_element' };
      const fulfiller = shop.open({ recipes: [file] });
      await expect(fulfiller.book(purchase)).rejects.toMatchObject({
        message: expect.stringContaining('that is the button that pays'),
      });
      // Its till waited unpaid: nothing was bought, and a recipe that was mended may buy.
      expect(await fulfiller.find('int_by_element')).toBeNull();
      // The third visit is the last one that gives the site the traveller's data; the second one is left out here.
      const { run = '' } = (await purchases.rowOf(shop, 'int_by_element')) ?? {};
      expect(await purchases.misfit({ ...shop, clock: worldClock }, 'int_by_element', run)).toBe(2);
      for (let asked = 0; asked < 2; asked++) expect(await fulfiller.book(purchase)).toEqual({ kind: 'site_changed' });
      const ended = shop.logged.filter((line) => line.includes('int_by_element'));
      expect(ended.filter((line) => line.includes('browser_visit_ended'))).toHaveLength(2);
      expect(await pressesOf('int_by_element')).toBe(0);
      await fulfiller.close();
    },
  );

  // The pretend carrier's own tests kill and race it further (test/sandbox/carrier-site/).
  proofTest('two that buy the same at once press once', async () => {
    const purchase = { ...agreed, reference: 'int_twice' };
    const other = shop.open();
    const ended = await Promise.allSettled([shop.fulfiller.book(purchase), other.book(purchase)]);
    expect(ended.some(({ status }) => status === 'fulfilled')).toBe(true);
    expect(await pressesOf('int_twice')).toBe(1);
    await expect.poll(() => other.find('int_twice'), { timeout: 20_000 }).toMatchObject({ kind: 'booked' });
    await other.close();
  });

  proofTest(
    'a browser that dies after the button leaves it open, and is never followed by a second press',
    async () => {
      const purchase = { ...agreed, reference: 'int_dies_after' };
      const failures: unknown[] = [];
      const deaf = shop.open({ mailFolder: null });
      const buying = deaf.book(purchase);
      buying.catch((error: unknown) => failures.push(error));
      // The carrier has it, and the page that says so is on its way.
      await expect.poll(() => failures.length || pressesOf('int_dies_after'), { timeout: 55_000, interval: 5 }).toBe(1);
      expect(failures).toEqual([]);
      killBrowsers();
      const outcome = await buying;
      expect(['payment_pressed_no_confirmation', 'booked']).toContain(outcome.kind);
      expect((await deaf.book(purchase)).kind).toBe(outcome.kind);
      expect(await pressesOf('int_dies_after')).toBe(1);
      // Its mail is signed, and names the purchase.
      await shop.site.deliverDue();
      await expect
        .poll(() => shop.site.deliverDue().then(() => shop.fulfiller.find('int_dies_after')), { timeout: 10_000 })
        .toMatchObject({ kind: 'booked', paidAmountDecimal: agreed.amountDecimal });
      await deaf.close();
    },
  );
});
