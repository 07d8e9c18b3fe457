import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { LOWCOST_ROUTES } from '../../../src/sandbox/airline/scenarios.ts';
import { locatorOf } from '../../../src/sandbox/carrier-site/books.ts';
import { sandboxDkimRecord } from '../../../src/sandbox/carrier-site/mail.ts';
import { SITE_SCENARIOS } from '../../../src/sandbox/carrier-site/scenarios.ts';
import { type Served, serveSite } from './served.ts';
import { giveCard, goToTill, press, shopperAt } from './shopper.ts';

/** The pretend carrier's site as a program finds it: its books, its bank, its mails (docs/sandbox.md). */

/** mailauth has no types. */
const { dkimVerify } = createRequire(import.meta.url)('mailauth/lib/dkim/verify.js') as {
  dkimVerify(
    mail: Buffer,
    options: { resolver(): Promise<string[][]> },
  ): Promise<{ results: { status: { result: string } }[] }>;
};

let site: Served;
beforeAll(async () => {
  site = await serveSite({ mailMs: 0, slowMs: 100 });
});
afterAll(() => site.close());

const pressesOf = async (reference: string) =>
  (await site.books()).presses.filter((one) => one.reference === reference);

test('the page of the sandbox names every scenario', () => {
  const text = readFileSync('docs/sandbox.md', 'utf8').split('## Pages that misbehave')[1] ?? '';
  const rows = [...text.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(([, name, what]) => [name, what]);
  const { none: _none, ...all } = SITE_SCENARIOS;
  expect(rows.slice(0, Object.keys(all).length)).toEqual(Object.entries(all));
});

test('two presses of one button are one, and one sale', async () => {
  const shopper = await shopperAt(site.url);
  const till = await goToTill(shopper, { reference: 'twice' });
  const card = await giveCard(shopper, till.totalCents, 1);
  const pages = await Promise.all([1, 2, 3].map(() => press(shopper, till, card)));
  for (const page of pages) expect(page).toMatch(/id="booking-reference">[A-Z2-9]{6}</);
  expect(await pressesOf('twice')).toMatchObject([{ outcome: 'sold' }]);
});

test.each([
  ['holds more', 1],
  ['holds less', -1],
])('a card that %s than the total is declined', async (_name, more) => {
  const shopper = await shopperAt(site.url);
  const till = await goToTill(shopper, { reference: `other ${more}` });
  const page = await press(shopper, till, await giveCard(shopper, till.totalCents + more, 2));
  expect(page).toContain('Payment declined');
  expect(await pressesOf(`other ${more}`)).toMatchObject([{ outcome: 'declined' }]);
});

test('a card is good once', async () => {
  const first = await shopperAt(site.url);
  const till = await goToTill(first, { reference: 'first' });
  await press(first, till, await giveCard(first, till.totalCents, 3));
  const second = await shopperAt(site.url);
  const again = await goToTill(second, { reference: 'second' });
  expect(await press(second, again, await giveCard(second, again.totalCents, 3))).toContain('declined');
  expect((await site.books()).sales.map(({ reference }) => reference)).not.toContain('second');
});

test('what is ticked beforehand is paid for unless the form says otherwise', async () => {
  const shopper = await shopperAt(site.url);
  const bare = await goToTill(shopper);
  await shopper.post('/extras', { extra: 'insurance' });
  const till = await (await shopper.get('/pay')).text();
  expect(till).toContain('Travel insurance');
  expect(Number(/id="total">([^<]+)</.exec(till)?.[1]?.replaceAll(/\D/g, ''))).toBe(bare.totalCents + 1290);
});

test('a booking opens with its reference and a last name, and is cancelled where its fare allows it', async () => {
  const shopper = await shopperAt(site.url);
  for (const [brand, isRefundable] of [
    ['Bare', false],
    ['Free', true],
  ] as const) {
    const till = await goToTill(shopper, { brand, reference: brand });
    await press(shopper, till, await giveCard(shopper, till.totalCents, 4));
    const locator = (await site.books()).sales.find(({ reference }) => reference === brand)?.booking_reference ?? '';
    expect((await shopper.post('/manage', { locator, family: 'Silva' })).status).toBe(404);
    expect(await (await shopper.post('/manage', { locator, family: 'COSTA' })).text()).toContain('Confirmed');
    await shopper.post('/manage/cancel', { locator, sure: 'yes' });
    const sale = (await site.books()).sales.find(({ reference }) => reference === brand);
    expect(sale?.cancelled).toBe(isRefundable);
  }
});

test('its mails are signed by its domain, and forged ones are not', async () => {
  const mails = () =>
    readdirSync(join(site.mailFolder, 'new')).map((name) => readFileSync(join(site.mailFolder, 'new', name)));
  for (const scenario of ['none', 'forged_mail']) {
    const shopper = await shopperAt(site.url, `/?scenario=${scenario}`);
    const till = await goToTill(shopper, { reference: `mail${scenario.replace('_', '')}` });
    await press(shopper, till, await giveCard(shopper, till.totalCents, scenario.length));
    const mail = await vi.waitFor(() => {
      const found = mails().find((one) => one.includes(`mail${scenario.replace('_', '')}`));
      if (!found) throw new Error('no mail yet');
      return found;
    }, 10_000);
    const { results } = await dkimVerify(mail, { resolver: async () => [[sandboxDkimRecord()]] });
    expect(results.some(({ status }) => status.result === 'pass')).toBe(scenario === 'none');
  }
});

test('the low-cost routes misbehave on the site as they do in the sandbox', async () => {
  const ends = await Promise.all(
    LOWCOST_ROUTES.map(async ({ origin, destination, scenario }) => {
      const shopper = await shopperAt(site.url);
      const till = await goToTill(shopper, { origin, destination, reference: scenario });
      if (till.once === '') return [scenario, 'no till'];
      await press(shopper, till, await giveCard(shopper, till.totalCents, 6));
      const [first] = await pressesOf(scenario);
      return [scenario, first?.outcome ?? 'not pressed'];
    }),
  );
  expect(Object.fromEntries(ends)).toMatchObject({
    fare_check_failed: 'no till',
    price_differs_at_till: 'sold',
    form_rejected: 'no till',
    late_confirmation: 'sold',
  });
});

test('no two bookings share a reference', () => {
  const locators = Array.from({ length: 20_000 }, (_, i) => locatorOf('farelock', i + 1));
  expect(new Set(locators).size).toBe(locators.length);
  expect(locators.every((locator) => /^[A-Z2-9]{6}$/.test(locator))).toBe(true);
});
