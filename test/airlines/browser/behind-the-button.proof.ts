import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { evidenceOf } from '../../../src/airlines/browser/exits.ts';
import { loadRecipes, type Recipe } from '../../../src/airlines/browser/recipes/index.ts';
import type { BookOutcome, Purchase } from '../../../src/airlines/fulfiller.ts';
import { HttpResponse } from '../../../src/kernel/http.ts';
import { isProblem } from '../../../src/kernel/problems.ts';
import { worldClock } from '../../clock.ts';
import { type OpenedShop, openShop, purchaseOf, RECIPE } from './shop.ts';
import { chromium } from './site.ts';

/** Behind the button: the bank's question, and the page's words for a purchase that came to nothing. */

const html = (body: string) => new HttpResponse(200, body, { 'content-type': 'text/html; charset=utf-8' });
const ASKED = '<h1>Your bank asks</h1><iframe title="bank" src="/bank"></iframe>';
const QUESTION = '<form action="/answer"><label>Code <input name="code"></label><button>Confirm</button></form>';
/** A till that hears a no without sending anything. */
const REFUSES = `document.querySelector('#pay')?.addEventListener('click', (event) => {
  event.preventDefault(); event.stopImmediatePropagation();
  document.querySelector('#pay').insertAdjacentHTML('afterend', '<p>This card cannot be used</p>');
}, true);`;

const SCRIPT = readFileSync('src/sandbox/carrier-site/site.js', 'utf8');

const frame = "iframe[title='bank']";
const challenge: Recipe['confirmation']['challenge'] = {
  seen: { role: 'heading', name: 'Your bank asks' },
  code: { from: 'person' },
  steps: [
    { do: 'fill', at: { label: 'Code', frame }, value: '{challenge.code}' },
    { do: 'click', at: { role: 'button', name: 'Confirm', frame } },
  ],
};

describe.runIf(chromium)('behind the button', () => {
  let shop: OpenedShop;
  let agreed: Purchase;
  let codeFolder = '';
  /** What the site does in place of its own. */
  let plays: 'itself' | 'asks' | 'refuses' | 'declines' = 'itself';
  let answered = '';
  beforeAll(async () => {
    shop = await openShop((request) => {
      const { pathname, searchParams } = new URL(request.url);
      if (plays === 'asks' && pathname === '/confirmation' && answered !== '424242') return html(ASKED);
      if (pathname === '/bank') return html(QUESTION);
      if (pathname === '/answer') {
        answered = searchParams.get('code') ?? '';
        return html("<script>parent.location = '/confirmation'</script>");
      }
      if (plays === 'declines' && pathname === '/confirmation') return html('<h1>Your bank said no</h1>');
      if (plays !== 'refuses' || pathname !== '/assets/site.js') return null;
      return new HttpResponse(200, `${SCRIPT}\n${REFUSES}`, { 'content-type': 'text/javascript' });
    });
    codeFolder = join(shop.home, 'codes');
    mkdirSync(codeFolder);
    agreed = await purchaseOf(shop, 'int_first');
  }, 120_000);
  afterAll(() => shop.close());

  async function bought(reference: string, change: (recipe: Recipe) => Partial<Recipe>): Promise<BookOutcome> {
    const [recipe] = loadRecipes([RECIPE]);
    if (!recipe) throw new Error('no recipe');
    const file = join(shop.home, `${reference}.json`);
    writeFileSync(file, JSON.stringify({ ...recipe, ...change(recipe) }));
    // Neither mail nor page of the booking answers for the page after the till.
    const by = shop.open({ recipes: [file], codeFolder, mailFolder: null });
    for (let visits = 1; ; visits++) {
      try {
        return await by.book({ ...agreed, reference });
      } catch (error) {
        if (visits === 3 || !isProblem(error, 'provider_failed')) throw error;
      }
    }
  }
  const pressesOf = async (reference: string) => {
    const { presses } = (await shop.sales()) as { presses: { reference: string }[] };
    return presses.filter((press) => press.reference === reference).length;
  };
  const stepOf = async (reference: string) =>
    (await evidenceOf({ ...shop, clock: worldClock }, [reference])).at(-1)?.step ?? '';

  test('the bank’s question in a frame is answered with the code that a person writes, and the booking comes', async () => {
    plays = 'asks';
    writeFileSync(join(codeFolder, 'int_code'), '111111');
    const written = setInterval(() => {
      const isAsked = shop.logged.some((line) => line.includes('browser_code_wanted') && line.includes('int_code'));
      if (isAsked) writeFileSync(join(codeFolder, 'int_code'), '424242\n');
    }, 50);
    try {
      const outcome = await bought('int_code', ({ confirmation }) => ({
        confirmation: { ...confirmation, challenge },
      }));
      expect(outcome).toMatchObject({ kind: 'booked', paidAmountDecimal: agreed.amountDecimal });
    } finally {
      clearInterval(written);
    }
    expect([answered, await pressesOf('int_code')]).toEqual(['424242', 1]);
  });

  test('a till that says no and has sent nothing since the press has sold nothing: it ends, with the page’s words', async () => {
    plays = 'refuses';
    const outcome = await bought('int_refused', ({ confirmation }) => ({
      confirmation: { ...confirmation, ended: [{ seen: { text: 'This card cannot be used' }, as: 'declined' }] },
    }));
    expect(outcome).toEqual({ kind: 'declined' });
    expect([await pressesOf('int_refused'), await stepOf('int_refused')]).toEqual([
      0,
      'declined: This card cannot be used',
    ]);
    const row = await shop.store
      .selectFrom('browser_purchases')
      .select(['state', 'card'])
      .where('reference', '=', 'int_refused')
      .executeTakeFirst();
    expect(row).toEqual({ state: 'ended', card: 'ending' });
  });

  test('the same words of a page that was sent to prove nothing: it may have been paid', async () => {
    plays = 'declines';
    const outcome = await bought('int_declined', ({ confirmation, manage: _manage, ...recipe }) => ({
      ...recipe,
      manage: undefined,
      confirmation: { ...confirmation, ended: [{ seen: { text: 'Your bank said no' }, as: 'declined' }] },
    }));
    expect(outcome).toEqual({ kind: 'payment_pressed_no_confirmation' });
    expect([await pressesOf('int_declined'), await stepOf('int_declined')]).toEqual([1, 'declined: Your bank said no']);
  });

  test('a question that nobody answers in its time leaves a purchase that may have been paid', async () => {
    plays = 'asks';
    answered = '';
    const outcome = await bought('int_silent', ({ confirmation }) => ({
      manage: undefined,
      confirmation: { ...confirmation, challenge: { ...challenge, within_ms: 1_000 } },
    }));
    expect(outcome).toEqual({ kind: 'payment_pressed_no_confirmation' });
    expect([await pressesOf('int_silent'), await stepOf('int_silent')]).toEqual([
      1,
      expect.stringContaining('no code came'),
    ]);
  });

  test('seats that are gone before the till end a purchase without a press', async () => {
    plays = 'itself';
    const outcome = await bought('int_gone', ({ walls }) => ({
      walls: [...walls, { seen: { role: 'heading', name: 'Who is flying?' }, stop: 'sold_out' }],
    }));
    expect(outcome).toEqual({ kind: 'sold_out' });
    expect([await pressesOf('int_gone'), await stepOf('int_gone')]).toEqual([0, 'Who is flying?']);
  });
});
