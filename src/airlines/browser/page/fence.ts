import { createHash } from 'node:crypto';
import type { BrowserContext, Page, Request, Route } from 'playwright-core';
import type { Recipe } from '../recipes/index.ts';

/** A visit reaches the carrier's own addresses, as its recipe lists them, and nothing else. */

/** `host:port` of everything that may be reached. */
export function hostsOf({ base, hosts = [] }: Recipe['site']): string[] {
  const { protocol, host } = new URL(base);
  const withPort = (one: string) => (/:\d+$/.test(one) ? one : `${one}:${protocol === 'https:' ? 443 : 80}`);
  return [...new Set([host, ...hosts].map(withPort))];
}

/**
 * For Chromium's own resolver, below every kind of request: redirects, frames, WebSockets, workers, prefetches. The
 * first rule that fits counts; the last one is for all other names and addresses.
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

/** The first four connect to peers by address, without DNS. Requests of the last two are invisible to the fence. */
const UNSEEN = [
  ...['RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCDataChannel', 'WebTransport'],
  ...['SharedWorker', 'fetchLater'],
];

const WITHOUT_UNSEEN = `for (const name of ${JSON.stringify(UNSEEN)}) Reflect.deleteProperty(globalThis, name);`;

/**
 * Refuses the same at the page, which can tell what was refused, and removes what no rule about names can stop.
 * @param refused is called with the host of each request that is refused
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

/** Methods that change nothing, by the rules of HTTP. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Watches what a page sends from the moment that it has a card: any of it may be the payment. It goes between the page
 * and the network, so that a request is counted before it leaves. Put it up before the fence: the route that is put up
 * last is asked first, and refuses other hosts.
 */
export async function watchPosts(context: BrowserContext, page: Page, base: string) {
  let state: 'off' | 'on' | 'stopped' = 'off';
  let harmless: readonly RegExp[] = [];
  const sent = new Set<string>();
  const forms = new Set<string>();
  const note = (url: string) => {
    const { origin, pathname } = new URL(url);
    const address = origin === new URL(base).origin ? pathname : `${origin}${pathname}`;
    if (!harmless.some((one) => one.test(address))) sent.add(address);
  };
  const passes = (request: Request): boolean => {
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
    // An aborted navigation leaves the page as it is. The page may be gone meanwhile.
    (route: Route) => (passes(route.request()) ? route.continue() : route.abort('aborted')).catch(() => undefined),
  );
  page.on('websocket', (socket) => {
    socket.on('framesent', () => {
      if (state !== 'off') note(socket.url());
    });
  });
  return {
    get isOn() {
      return state !== 'off';
    },
    /** Addresses that something was sent to since, other than those that the recipe calls harmless. */
    sent: sent as ReadonlySet<string>,
    /** Begins. From here on, no page is sent the same form twice: a reload of a payment's answer would pay again. */
    begin(patterns: readonly string[]) {
      harmless = patterns.map((one) => new RegExp(`^(?:${one})$`, 'u'));
      state = 'on';
    },
    /** Lets nothing more leave the page that could pay, but what a socket sends. */
    stop() {
      state = 'stopped';
    },
    /** Cuts the page off, its open sockets too. */
    cut: () => context.setOffline(true),
  };
}

const formOf = (request: Request): string =>
  createHash('sha256')
    .update(JSON.stringify([request.method(), request.url()]))
    .update(request.postDataBuffer() ?? '')
    .digest('hex');
