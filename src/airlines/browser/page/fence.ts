import type { BrowserContext } from 'playwright-core';
import type { Recipe } from '../recipe.ts';

/** Which addresses a visit can reach: the carrier's own, as its recipe lists them, and nothing else. */

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

/** The first four reach peers by address, without a resolver. What the last two send can't be seen from outside. */
const UNSEEN = [
  ...['RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCDataChannel', 'WebTransport'],
  ...['SharedWorker', 'fetchLater'],
];
const WITHOUT_UNSEEN = `for (const name of ${JSON.stringify(UNSEEN)}) Reflect.deleteProperty(globalThis, name);`;

/**
 * The same at the page's own door, which says what was refused; and what no rule about names can stop.
 * @param refused is called with the host of each request that is refused
 */
export async function putFence(
  context: BrowserContext,
  hosts: readonly string[],
  refused: (host: string) => void,
): Promise<void> {
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
