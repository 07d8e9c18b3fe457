import { createHash } from 'node:crypto';
import type { BrowserContext, Page, Request, Route } from 'playwright-core';
import type { Recipe } from '../recipes/index.ts';

/** Lists the recipe's addresses, the only ones a visit may reach, as `host:port`. */
export function hostsOf({ base, hosts = [] }: Recipe['site']): string[] {
  const { protocol, host } = new URL(base);
  const withPort = (one: string) => (/:\d+$/.test(one) ? one : `${one}:${protocol === 'https:' ? 443 : 80}`);
  return [...new Set([host, ...hosts].map(withPort))];
}

/**
 * Rules for Chromium's own resolver, below every kind of request: redirects, frames, WebSockets, workers, prefetches.
 * The first rule that fits counts.
 */
export const resolverRules = (hosts: readonly string[]): string =>
  [...hosts.map((host) => `MAP ${host} ${host}`), 'MAP * ~NOTFOUND'].join(',');

const PORTS: Record<string, string> = { 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443' };

export function isInside(address: string, hosts: readonly string[]): boolean {
  const url = new URL(address);
  if (['data:', 'blob:', 'about:'].includes(url.protocol)) return true;
  const port = url.port || PORTS[url.protocol];
  return port !== undefined && hosts.includes(`${url.hostname}:${port}`);
}

/** Features that get past the fence: the first four connect by address, without DNS; the last two send unseen. */
const UNSEEN = [
  ...['RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCDataChannel', 'WebTransport'],
  ...['SharedWorker', 'fetchLater'],
];

const WITHOUT_UNSEEN = `for (const name of ${JSON.stringify(UNSEEN)}) Reflect.deleteProperty(globalThis, name);`;

/**
 * Refuses and reports requests to other hosts at the page too, and removes features that rules about names can't stop.
 */
export async function putFence(context: BrowserContext, hosts: readonly string[], refused: (host: string) => void) {
  await context.route(
    (url) => !isInside(url.href, hosts),
    (route) => {
      refused(new URL(route.request().url()).host);
      return route.abort('blockedbyclient');
    },
  );
  await context.routeWebSocket(
    (url) => !isInside(url.href, hosts),
    (socket) => {
      refused(new URL(socket.url()).host);
      return socket.close({ code: 1008 });
    },
  );
  await context.addInitScript({ content: WITHOUT_UNSEEN });
}

/** HTTP's methods that change nothing. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Watches the requests of a page that has a card before they leave, as any may be the payment. Set up before the fence,
 * which has to refuse other hosts first: the last route is asked first.
 */
export async function watchPosts(context: BrowserContext, page: Page, base: string) {
  let state: 'off' | 'on' | 'stopped' = 'off';
  let requests = 0;
  let harmless: readonly RegExp[] = [];
  const sent = new Set<string>();
  const forms = new Set<string>();
  const note = (url: string) => {
    const { origin, pathname } = new URL(url);
    const address = origin === new URL(base).origin ? pathname : `${origin}${pathname}`;
    if (!harmless.some((one) => one.test(address))) sent.add(address);
  };
  const passes = (request: Request): boolean => {
    requests += 1;
    if (SAFE.has(request.method())) return true;
    if (state === 'stopped') return false;
    if (request.isNavigationRequest()) {
      const form = formOf(request);
      if (forms.has(form)) return false;
      forms.add(form);
    }
    note(request.url());
    return true;
  };
  await context.route(
    () => state !== 'off',
    // Aborting a navigation keeps the page. Errors mean that the page is gone.
    (route: Route) => (passes(route.request()) ? route.continue() : route.abort('aborted')).catch(() => undefined),
  );
  page.on('websocket', (socket) => {
    socket.on('framesent', () => {
      if (state === 'off') return;
      requests += 1;
      note(socket.url());
    });
  });
  return {
    get isOn() {
      return state !== 'off';
    },
    /** Number of requests since `begin`, of any kind: after a press, one more may be the payment. */
    get requests() {
      return requests;
    },
    /** Addresses that the page sent to since `begin`, except the recipe's harmless ones. */
    sent: sent as ReadonlySet<string>,
    /** Begins to watch. From now on no form is sent twice, as reloading a payment's answer would pay again. */
    begin(patterns: readonly string[]) {
      harmless = patterns.map((one) => new RegExp(`^(?:${one})$`, 'u'));
      state = 'on';
    },
    /** Stops all further requests that could pay, except on sockets. */
    stop() {
      state = 'stopped';
    },
    /** Cuts off the page with its open sockets. */
    cut: () => context.setOffline(true),
  };
}

const formOf = (request: Request): string =>
  createHash('sha256')
    .update(JSON.stringify([request.method(), request.url()]))
    .update(request.postDataBuffer() ?? '')
    .digest('hex');
