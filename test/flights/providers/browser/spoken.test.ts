import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HttpResponse } from '../../../../src/kernel/http.ts';
import { isProblem } from '../../../../src/kernel/problems.ts';
import { createSandboxCards } from '../../../../src/sandbox/cards.ts';
import { type OpenedShop, openShop, purchaseOf, TRAVELLER } from './shop.ts';
import { chromium } from './site.ts';

/** Whatever a page says after the press: nothing private of it, and nothing that a terminal obeys, is written down. */

const ESCAPES = '\u001b[2J\u009b2K\u202e';

describe.runIf(chromium)('a page that says the traveller’s name and the card back', () => {
  let shop: OpenedShop;
  let said = '';
  beforeAll(async () => {
    shop = await openShop(
      'none',
      {
        mailFolder: null,
      },
      (request) =>
        request.method === 'POST' && new URL(request.url).pathname === '/pay'
          ? new HttpResponse(200, `<title>x</title><h1>${said}</h1>`, {
              'content-type': 'text/html; charset=utf-8',
            })
          : null,
    );
  }, 60_000);
  afterAll(() => shop?.close());

  test('is kept without them, in the log, in the database and in the error', async () => {
    const purchase = await purchaseOf(shop, 'int_spoken');
    const card = await createSandboxCards().issue({
      ...{ reference: 'int_spoken', amountDecimal: purchase.amountDecimal },
      ...{ currency: 'USD', merchant: 'Sandbox Hopper' },
    });
    const spread = card.number.replace(/(.{4})/g, '$1\u200b');
    said = `Sorry ${TRAVELLER.family_name}, ${spread} ${ESCAPES}`;
    let outcome: unknown;
    for (let visits = 0; outcome === undefined && visits < 3; visits++) {
      outcome = await shop.fulfiller.book(purchase).catch((error: unknown) => {
        if (!isProblem(error)) throw error;
      });
    }
    expect(outcome).toEqual({ kind: 'payment_pressed_no_confirmation' });
    const rows = await shop.store.selectFrom('browser_evidence').selectAll().execute();
    const kept = rows.map(({ text_sealed: _text, screenshot_sealed: _screen, ...row }) => row);
    expect(kept).toContainEqual(expect.objectContaining({ outcome: 'payment_pressed_no_confirmation' }));
    const written = `${shop.logged.join('\n')}${JSON.stringify(kept)}`;
    expect(written).toContain('Sorry');
    for (const secret of [TRAVELLER.family_name, card.number, card.number.slice(0, 12)])
      expect(written.replaceAll('\u200b', '').toLowerCase()).not.toContain(secret.toLowerCase());
    expect(written).not.toMatch(/\\u001b|\\u009b|\u009b|\\u202e|\u202e/i);
  }, 120_000);
});
