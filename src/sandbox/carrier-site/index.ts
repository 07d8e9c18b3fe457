import { readFileSync } from 'node:fs';
import type { Clock } from '../../kernel/clock.ts';
import { type HttpRequest, HttpResponse, json } from '../../kernel/http.ts';
import { createWorld } from '../airline/index.ts';
import { openSiteBooks } from './books.ts';
import { confirmationPages } from './confirmation.ts';
import { flightsPages } from './flights.ts';
import { deliverDue, sandboxDkimRecord } from './mail.ts';
import { page } from './page.ts';
import { passengersPages } from './passengers.ts';
import { searchPages } from './search.ts';
import { tillPages } from './till.ts';
import { cookieFor, createVisitors, type Pages, type SiteAnswer, type SitePorts } from './visit.ts';

export { createSandboxCards, sandboxCard } from './cards.ts';
export { SANDBOX_DKIM_SELECTOR, SANDBOX_MAIL_DOMAIN, sandboxDkimRecord } from './mail.ts';
export { SITE_SCENARIO_NAMES, siteScenario } from './scenarios.ts';

type CarrierSiteOptions = { readonly [K in 'scenario' | 'mailMs' | 'slowMs' | 'lateMs']?: SitePorts[K] | undefined } & {
  readonly seed: string;
  readonly clock: Clock;
  readonly books: string;
  /** A Maildir; null drops mails. */
  readonly mailFolder: string | null;
};

const PAGES: Pages = {
  ...searchPages,
  ...flightsPages,
  ...passengersPages,
  ...tillPages,
  ...confirmationPages,
  'POST /chat': () => json({}),
  'POST /consent': ({ session }) => {
    session.hasAnsweredCookies = true;
    return json({});
  },
  'POST /newsletter': ({ session }) => {
    session.hasClosedNewsletter = true;
    return json({});
  },
};

/** Serves a file beside this one, which the build copies. It is read once, so an upgrade changes no open site. */
function asset(name: string, type: string): () => HttpResponse {
  const text = readFileSync(new URL(name, import.meta.url), 'utf8');
  return () => new HttpResponse(200, text, { 'content-type': `${type}; charset=utf-8` });
}

/** Opens a pretend carrier's web site with its own books (docs/sandbox.md). */
export function openCarrierSite(options: CarrierSiteOptions) {
  const { clock, seed } = options;
  const books = openSiteBooks(options.books, seed);
  const ports: SitePorts = {
    world: createWorld(seed),
    clock,
    books,
    scenario: options.scenario ?? 'none',
    mailMs: options.mailMs ?? 300,
    slowMs: options.slowMs ?? 3_000,
    lateMs: options.lateMs ?? 100_000,
  };
  const arrive = createVisitors(ports);
  const fixed: Readonly<Record<string, () => HttpResponse>> = {
    'GET /assets/site.css': asset('site.css', 'text/css'),
    'GET /assets/site.js': asset('site.js', 'text/javascript'),
    'GET /sandbox/sales': () => json(books.report(clock.now())),
    'GET /sandbox/dkim': () => new HttpResponse(200, sandboxDkimRecord(), { 'content-type': 'text/plain' }),
  };
  return {
    /** Null if the connection must be cut. */
    async fetch(request: HttpRequest): Promise<SiteAnswer> {
      const url = new URL(request.url);
      const place = `${request.method} ${url.pathname}`;
      const known = fixed[place];
      if (known) return known();
      const arrived = await arrive(request, url);
      if (arrived === null) return new HttpResponse(413, null);
      const { visit, isNew } = arrived;
      const handler = PAGES[place];
      const answer = handler
        ? await handler(visit)
        : page(visit, 'There is no such page', { status: 404 })`<p><a href="/">Back to the start</a></p>`;
      if (answer === null || !isNew) return answer;
      return new HttpResponse(answer.status, answer.body, {
        ...answer.headers,
        'set-cookie': cookieFor(visit.session),
      });
    },
    /** @returns the number of delivered mails */
    deliverDue: () => deliverDue(books, options.mailFolder, clock.now()),
    close: () => books.close(),
  };
}
