import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findChromium } from '../../../src/airlines/browser/page/chromium.ts';
import { type Account, openVisit, type Visit } from '../../../src/airlines/browser/page/visit.ts';
import type { Recipe } from '../../../src/airlines/browser/recipes/index.ts';
import { installed } from '../../../src/airlines/browser/recipes/packages.ts';
import { isHere } from '../../needs.mjs';

/** Static pages and scripted answers on this machine, for a real browser to go through. */

export const chromium = findChromium(process.env.FARELOCK_CHROMIUM);
isHere('Chromium', chromium !== null);

export interface Answer {
  readonly body?: string;
  readonly status?: number;
  readonly headers?: Record<string, string>;
}
type Page = string | ((request: IncomingMessage) => Answer | Promise<Answer>);

export async function serve(pages: Record<string, Page>) {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname;
    asked.push(`${request.method} ${path}`);
    const page = pages[path];
    const answer = typeof page === 'function' ? await page(request) : { body: page ?? '', status: page ? 200 : 404 };
    response.writeHead(answer.status ?? 200, { 'content-type': 'text/html', ...answer.headers });
    response.end(answer.body ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    base: `http://127.0.0.1:${port}`,
    asked,
    server,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

const nowhere = { css: '#nowhere' };

/** A recipe of which only the site matters. */
export const recipeFor = (base: string, more: Partial<Recipe> = {}): Recipe => ({
  format: 1,
  version: 1,
  carrier: { code: 'T1', name: 'Test Hopper' },
  site: { base, currency: 'USD', numbers: '1,234.50' },
  serves: { routes: ['*-*'] },
  walls: [],
  search: {
    steps: [],
    price_for: 'all',
    out: {
      list: nowhere,
      read: { flight_number: {}, departs: { format: 'HH:mm' }, arrives: { format: 'HH:mm' }, price: {} },
    },
  },
  fares: { list: nowhere, price_for: 'all', read: { price: {} } },
  passengers: { steps: [] },
  extras: {},
  till: { total: {}, card: [], pay: nowhere },
  confirmation: { seen: nowhere, read: { booking_reference: {} } },
  ...more,
});

export async function visitTo(recipe: Recipe, visitMs = 30_000, account?: Account): Promise<Visit> {
  if (chromium === null) throw new Error('no Chromium');
  return openVisit({ playwright: installed('playwright-core').chromium, chromium, visitMs, account }, recipe);
}
