import { HttpResponse } from '../../kernel/http.ts';
import { basketLines, legsOf, totalOf, type Visit } from './visit.ts';

export class Markup {
  constructor(readonly text: string) {}
}

type Shown = string | number | Markup | null | false | readonly (Markup | null | false)[];

/** Escapes texts, keeps markup, omits null and false. */
export const html = (parts: TemplateStringsArray, ...values: readonly Shown[]): Markup =>
  new Markup(parts.reduce((text, part, i) => text + textOf(values[i - 1] ?? null) + part));

function textOf(value: Shown): string {
  if (value === null || value === false) return '';
  if (value instanceof Markup) return value.text;
  if (typeof value === 'string' || typeof value === 'number') return escaped(String(value));
  return value.map(textOf).join('\n');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (letter) => ENTITIES[letter] ?? '');

/** The site is in English, with continental numbers. */

/** US cents as `1.234,50 US$`. */
export function shownMoney(cents: number): string {
  const whole = String(Math.floor(cents / 100)).replaceAll(/\B(?=(\d{3})+$)/g, '.');
  return `${whole},${String(cents % 100).padStart(2, '0')} US$`;
}

/** Local ms as `06:10`. */
export const shownTime = (localMs: number): string => new Date(localMs).toISOString().slice(11, 16);

/** Local ms as `2026-12-01T06:10`. */
export const localInstant = (localMs: number): string => new Date(localMs).toISOString().slice(0, 16);

export function shownDay(localMs: number): string {
  const day = new Date(localMs);
  const words = (options: Intl.DateTimeFormatOptions) =>
    day.toLocaleDateString('en-GB', { ...options, timeZone: 'UTC' });
  return `${words({ weekday: 'short' })} ${words({ day: 'numeric' })} ${words({ month: 'long' })} ${words({ year: 'numeric' })}`;
}

/** `1 h 05 min` */
export const shownDuration = (minutes: number): string =>
  `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;

const SITE_NAME = 'Sandbox Hopper';
const LATE_WALL_MS = 700;
const NEWSLETTER_MS = 900;

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'self'; img-src 'self' data:; frame-ancestors 'self'",
  'cache-control': 'no-store',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

const ASSETS = html`<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/site.css">
<script src="/assets/site.js" defer></script>`;

/** A template tag: `page(visit, title)` wraps the template of the main part. */
export const page =
  (
    visit: Visit,
    title: string,
    { status = 200, hasNewsletter = false, hasBasket = false, overlay = null as Shown } = {},
  ) =>
  (...main: Parameters<typeof html>): HttpResponse => {
    const body = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} | ${SITE_NAME}</title>
${ASSETS}
</head>
<body>
<p class="sandbox">This is a sandbox: a pretend carrier. Nothing here can be flown, and no real card works.</p>
<header><a class="brand" href="/">${SITE_NAME}</a>
<nav aria-label="Main"><a href="/">Book</a> <a href="/manage">Manage booking</a></nav></header>
<div class="columns">
<main>
<h1>${title}</h1>
${html(...main)}
</main>
${hasBasket && basket(visit)}
</div>
<footer>${SITE_NAME}, a pretend carrier of the Farelock sandbox.</footer>
${cookieWall(visit)}
${hasNewsletter && newsletter(visit)}
${overlay}
</body>
</html>`;
    return new HttpResponse(status, body.text, HEADERS);
  };

/** A tag for pages in a frame, without header and walls. */
export const framed =
  (title: string) =>
  (...main: Parameters<typeof html>): HttpResponse =>
    new HttpResponse(
      200,
      html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
${ASSETS}
</head>
<body class="framed">${html(...main)}</body>
</html>`.text,
      HEADERS,
    );

function basket({ session }: Visit): Markup | null {
  const { fare } = session;
  const legs = legsOf(session);
  if (legs.length === 0) return null;
  const lines = basketLines(session);
  return html`<aside aria-label="Your basket">
<h2>Your basket</h2>
<ul>
${legs.map((leg) => html`<li>${leg.carrier.code}${leg.number} ${leg.from.iata} to ${leg.to.iata}</li>`)}
${lines.map(({ name, cents }) => html`<li>${name}: ${shownMoney(cents)}</li>`)}
</ul>
${fare !== null && html`<p>Total so far: <strong data-basket-total>${shownMoney(totalOf(lines))}</strong></p>`}
</aside>`;
}

function cookieWall({ session }: Visit): Markup | null {
  const { scenario } = session;
  if (session.hasAnsweredCookies && scenario !== 'cookie_late') return null;
  if (scenario === 'cookie_bar')
    return html`<div class="wall bar" role="dialog" aria-label="Cookies" data-wall="/consent">
<p>Cookies make this site crumble less. Choose now or never.</p>
<button type="button" data-close>Reject optional cookies</button>
<button type="button" data-close>Fine, take them all</button></div>`;
  const wait = scenario === 'cookie_late' ? LATE_WALL_MS : 0;
  return html`<div class="veil" data-wall="/consent" data-after="${wait}" ${wait > 0 ? 'hidden' : ''}>
<div class="wall" role="dialog" aria-modal="true" aria-label="We value your privacy">
<h2>We value your privacy</h2>
<p>We and our 412 pretend partners would like to store cookies.</p>
<button type="button" data-close>Only necessary cookies</button>
<button type="button" data-close class="primary">Accept all</button></div></div>`;
}

/** Appears late, on pages that vary by visitor. */
function newsletter({ session }: Visit): Markup | null {
  if (session.hasClosedNewsletter) return null;
  return html`<div class="veil" data-wall="/newsletter" data-after="${NEWSLETTER_MS}" hidden>
<div class="wall" role="dialog" aria-modal="true" aria-label="Newsletter">
<h2>10 % off nothing at all</h2>
<p>Give us your address and we will write every day.</p>
<button type="button" data-close>No, thanks</button></div></div>`;
}
