import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type BrowserSettings, createBrowserFulfiller } from '../../../src/airlines/browser/index.ts';
import type { Purchase } from '../../../src/airlines/fulfiller.ts';
import type { RoundTrip } from '../../../src/airlines/provider.ts';
import { httpServer } from '../../../src/cli/commands/serve/index.ts';
import { type HttpRequest, HttpResponse } from '../../../src/kernel/http.ts';
import { openSecrets } from '../../../src/kernel/secrets.ts';
import { createSandboxCards } from '../../../src/sandbox/carrier-site/cards.ts';
import { openCarrierSite } from '../../../src/sandbox/carrier-site/index.ts';
import { sandboxDkimRecord } from '../../../src/sandbox/carrier-site/mail.ts';
import { openStore } from '../../../src/service/home.ts';
import type { Offer, Passenger } from '../../../src/wire/flights/index.ts';
import { worldClock } from '../../clock.ts';

/** A pretend carrier's site, and a browser that buys on it. */

export const RECIPE = resolve(import.meta.dirname, '../../../docs/recipes/sandbox-hopper.json');
export const TRAVELLER: Passenger = {
  given_name: 'Zqjosefine',
  family_name: 'Zqquillfeather',
  born_on: '1988-04-17',
  title: 'ms',
  gender: 'f',
  email: 'zq.josefine@example.org',
  phone_number: '+351912345678',
  nationality: 'PT',
  passport_number: 'ZQ7714093',
  passport_expiry: '2031-05-06',
};
export const QUERY: RoundTrip = {
  origin: 'VIE',
  destination: 'LGW',
  departDate: '2026-12-15',
  adults: 1,
  cabinClass: 'economy',
};

/** How long the till of `answers_late` takes. */
export const LATE_MS = 2_000;

/** @param instead answers in place of the site; null: the site does */
export async function openShop(instead: (request: HttpRequest) => HttpResponse | null) {
  const home = mkdtempSync(join(tmpdir(), 'farelock-shop-'));
  const mailFolder = join(home, 'mails');
  const site = openCarrierSite({
    seed: 'farelock',
    clock: worldClock,
    books: join(home, 'books.db'),
    mailFolder,
    slowMs: 500,
    lateMs: LATE_MS,
  });
  const server = httpServer(async (request, incoming) => {
    const answer = instead(request) ?? (await site.fetch(request));
    if (answer === null) incoming.socket.destroy();
    return answer ?? new HttpResponse(500, null);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const store = await openStore(join(home, 'service.db'));
  const secrets = openSecrets(join(home, 'keys', 'secrets.json'));
  const logged: string[] = [];
  const open = (more: Partial<BrowserSettings> = {}) =>
    createBrowserFulfiller({
      store,
      secrets,
      clock: worldClock,
      log: (level, event, fields) => logged.push(JSON.stringify({ level, event, ...fields })),
      settings: {
        recipes: [RECIPE],
        sites: { X9: base },
        cards: createSandboxCards(),
        mailFolder,
        mailAddress: 'bookings+{reference}@example.com',
        dnsTexts: async () => [[sandboxDkimRecord()]],
        visitMs: 60_000,
        ...more,
      },
    });
  const fulfiller = open();
  return {
    home,
    base,
    site,
    store,
    secrets,
    logged,
    fulfiller,
    open,
    /** What the carrier's books say. */
    sales: async () => (await fetch(`${base}/sandbox/sales`)).json() as Promise<unknown>,
    async close() {
      await fulfiller.close();
      server.closeAllConnections();
      server.close();
      site.close();
      await store.destroy();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export type OpenedShop = Awaited<ReturnType<typeof openShop>>;

/** Asks until the site was read. */
export async function offersOf({ fulfiller }: Pick<OpenedShop, 'fulfiller'>, query = QUERY): Promise<Offer[]> {
  const startedAtMs = worldClock.now();
  for (;;) {
    const found = await fulfiller.quote(query, startedAtMs);
    if (found.kind === 'quoted') return [...found.offers];
    await worldClock.sleep(100);
  }
}

export async function menuOf({ fulfiller }: Pick<OpenedShop, 'fulfiller'>, offerId: string) {
  const openedAtMs = worldClock.now();
  for (;;) {
    const menu = await fulfiller.menu(offerId, openedAtMs);
    if (menu.kind !== 'pending') return menu;
    await worldClock.sleep(100);
  }
}

/** The second fare of the first offer. */
export async function purchaseOf(shop: OpenedShop, reference: string, query = QUERY): Promise<Purchase> {
  const [offer] = await offersOf(shop, query);
  if (!offer) throw new Error('no offers');
  const menu = await menuOf(shop, offer.offer_id);
  if (menu.kind !== 'opened') throw new Error(`no menu: ${JSON.stringify(menu)}`);
  const [, fare] = [...menu.fares].sort((a, b) => Number(a.totalAmountDecimal) - Number(b.totalAmountDecimal));
  if (!fare) throw new Error('no second fare');
  const { totalAmountDecimal, totalCurrency: _currency, ...content } = fare;
  return {
    reference,
    offerId: offer.offer_id,
    fare: content,
    amountDecimal: totalAmountDecimal,
    passengers: Array.from({ length: query.adults }, (_, i) => ({
      ...TRAVELLER,
      given_name: `${TRAVELLER.given_name}${'abc'[i]}`,
    })),
  };
}
