import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { evidenceOf } from '../../../src/airlines/browser/exits.ts';
import { type BrowserSettings, createBrowserFulfiller } from '../../../src/airlines/browser/index.ts';
import type { Recipe } from '../../../src/airlines/browser/recipes/index.ts';
import type { Purchase } from '../../../src/airlines/fulfiller.ts';
import { DAY_MS, systemClock } from '../../../src/kernel/clock.ts';
import { parseUsdc } from '../../../src/kernel/money.ts';
import { openSecrets } from '../../../src/kernel/secrets.ts';
import { createSandboxCards } from '../../../src/sandbox/carrier-site/cards.ts';
import { openStore } from '../../../src/service/home.ts';
import { menuOf, offersOf, TRAVELLER } from './shop.ts';
import { chromium } from './site.ts';

/**
 * Purchases on demo sites that others wrote, in three techniques (docs/recipes/README.md). Nothing of them is part of this
 * project: TEST_SITES says where they run, as `flight=http://127.0.0.1:8000,skybooker=http://127.0.0.1:4173`.
 */

const RECIPES = resolve(import.meta.dirname, '../../../docs/recipes');
const sites = new Map((process.env.TEST_SITES ?? '').split(',').map((one) => one.split('=') as [string, string]));
const [flight, skybooker] = [sites.get('flight'), sites.get('skybooker')];
/** Three weeks from now, by the clock of the sites' own calendars. */
const DAY = new Date(systemClock.now() + 21 * DAY_MS).toISOString().slice(0, 10);
const WUJIE = 'wujie@1.0.29';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A browser that buys by one recipe, at other addresses than it says. */
async function shopOf(name: string, { base, host, accounts }: Site) {
  const home = mkdtempSync(join(tmpdir(), 'farelock-foreign-'));
  const recipe = JSON.parse(readFileSync(join(RECIPES, `${name}.json`), 'utf8')) as Recipe;
  const file = join(home, `${name}.json`);
  writeFileSync(file, JSON.stringify({ ...recipe, site: { ...recipe.site, base, ...(host && { hosts: [host] }) } }));
  const store = await openStore(join(home, 'service.db'));
  const secrets = openSecrets(join(home, 'keys', 'secrets.json'));
  const logged: string[] = [];
  const log = (level: string, event: string, fields?: object) =>
    logged.push(JSON.stringify({ level, event, ...fields }));
  const settings: BrowserSettings = { recipes: [file], cards: createSandboxCards(), ...accounts };
  const fulfiller = createBrowserFulfiller({ store, secrets, clock: systemClock, log, settings });
  closing.push(async () => {
    await fulfiller.close();
    await store.destroy();
    rmSync(home, { recursive: true, force: true });
  });
  return { fulfiller, store, secrets, logged, recipe, clock: systemClock };
}

interface Site {
  readonly base: string;
  /** The only other host that its pages need. */
  readonly host?: string;
  readonly accounts?: Pick<BrowserSettings, 'accounts'>;
}

/** Buys the first flight, in its cheapest fare; first for a cent less, which no till may be paid. */
async function bought(name: string, site: Site) {
  const shop = await shopOf(name, site);
  const [origin = '', destination = ''] = shop.recipe.serves.routes[0]?.split('-') ?? [];
  const query = { origin, destination, departDate: DAY, adults: 1, cabinClass: 'economy' } as const;
  const offers = await offersOf(shop, query);
  const [offer] = offers;
  if (!offer) throw new Error('no offers');
  const menu = await menuOf(shop, offer.offer_id);
  if (menu.kind !== 'opened' || !menu.fares[0]) throw new Error(`no menu: ${JSON.stringify(menu)}`);
  const { totalAmountDecimal: asked, totalCurrency, ...fare } = menu.fares[0];
  const purchase = { reference: `int_${name}`, offerId: offer.offer_id, fare, passengers: [TRAVELLER] };
  const cheaper: Purchase = {
    ...purchase,
    reference: `int_${name}_less`,
    amountDecimal: decimal(parseUsdc(asked) - CENT),
  };
  expect(await shop.fulfiller.book(cheaper)).toEqual({ kind: 'price_differs', foundAmountDecimal: asked });
  const agreed: Purchase = { ...purchase, amountDecimal: asked };
  const outcome = await shop.fulfiller.book(agreed);
  expect(outcome).toMatchObject({ kind: 'booked', paidAmountDecimal: asked });
  expect(await shop.fulfiller.book(agreed)).toEqual(outcome);
  expect(await evidenceOf(shop, [agreed.reference])).toEqual([expect.objectContaining({ outcome: 'booked' })]);
  return { shop, offers, offer, asked, currency: totalCurrency, agreed, outcome };
}

const CENT = parseUsdc('0.01');
const decimal = (units: bigint): string => (Number(units) / Number(parseUsdc('1'))).toFixed(2);

/** Opens an account at a Django site, as its form does. */
async function openAccount(base: string): Promise<{ user: string; password: string }> {
  const account = { user: `operator${Date.now()}`, password: 'worth-nothing-1' };
  const form = await fetch(`${base}/register`);
  const cookie = form.headers.get('set-cookie')?.split(';')[0] ?? '';
  const [, token = ''] = /name="csrfmiddlewaretoken" value="([^"]+)"/.exec(await form.text()) ?? [];
  const body = new URLSearchParams({
    ...{ csrfmiddlewaretoken: token, firstname: 'Otto', lastname: 'Operator', email: 'operator@example.com' },
    ...{ username: account.user, password: account.password, confirmation: account.password },
  });
  const answer = await fetch(`${base}/register`, { method: 'POST', body, headers: { cookie }, redirect: 'manual' });
  expect(answer.status).toBe(302);
  return account;
}

async function serving(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/**
 * A page whose frame has a frame of another host, in which wujie, as its own page describes, shows a shop within a shadow
 * root. wujie comes from the npm registry.
 */
async function framed(shop: string): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), 'farelock-wujie-'));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  const words = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', WUJIE];
  execFileSync('npm', words, { stdio: 'pipe' });
  const wujie = readFileSync(join(folder, 'node_modules/wujie/lib/index.js'));
  const html = (title: string, body: string) => `<!doctype html><title>${title}</title>${body}`;
  const frame = (title: string, src: string) =>
    `<iframe title="${title}" src="${src}" style="width:100%;height:2400px;border:0"></iframe>`;
  const desk = await serving(async (request, response) => {
    if (request.url === '/wujie.js') return response.setHeader('content-type', 'text/javascript').end(wujie);
    if (request.url === '/desk') {
      const start = `wujie.startApp({ name: 'shop', url: location.origin + '/', el: '#shop' })`;
      response.setHeader('content-type', 'text/html');
      return response.end(
        html('Desk', `<div id="shop"></div><script src="/wujie.js"></script><script>${start}</script>`),
      );
    }
    const answer = await fetch(new URL(request.url ?? '/', shop));
    response.statusCode = answer.status;
    response.setHeader('content-type', answer.headers.get('content-type') ?? 'text/html');
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  const base = await serving((request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(
      request.url === '/partner'
        ? html('Partner', frame('Flights', `${desk}/desk`))
        : html('Club', `<h1>Holiday club</h1>${frame('Partner', '/partner')}`),
    );
  });
  return { base, host: new URL(desk).host };
}

describe.runIf(chromium)('a site that others wrote', { timeout: 400_000 }, () => {
  test.runIf(flight)(
    'renders its pages on the server, wants an account, and is bought from and cancelled on',
    async () => {
      const base = flight ?? '';
      const accounts = { accounts: { F1: await openAccount(base) } };
      const { shop, offers, offer, asked, currency, agreed, outcome } = await bought('flight', { base, accounts });
      expect(offers.length).toBeGreaterThan(1);
      expect(currency).toBe('INR');
      // The list has no fee.
      expect(parseUsdc(asked) - parseUsdc(offer.total_amount_decimal)).toBe(parseUsdc('100'));
      const reference = outcome.kind === 'booked' ? outcome.bookingReference : '';
      const told = (await (await fetch(`${base}/flight/ticket/api/${reference}`)).json()) as object;
      expect(told).toMatchObject({ ref: reference, status: 'CONFIRMED', flight_date: DAY });
      expect(await shop.fulfiller.cancel(agreed.reference)).toMatchObject({ cancelledAtMs: expect.any(Number) });
      expect(await (await fetch(`${base}/flight/ticket/api/${reference}`)).json()).toMatchObject({
        status: 'CANCELLED',
      });
    },
  );

  test.runIf(skybooker)('is a single page, whose whole price is seen at the till alone', async () => {
    const { offers, asked, currency } = await bought('skybooker', { base: skybooker ?? '' });
    expect(offers.map(({ total_amount_decimal: price }) => price)).toEqual(['299.00']);
    expect([asked, currency]).toEqual(['349.88', 'USD']);
  });

  test.runIf(skybooker)('lies in a frame of a frame, within a shadow root', async () => {
    const { asked } = await bought('skybooker-framed', await framed(skybooker ?? ''));
    expect(asked).toBe('349.88');
  });
});
