import { createHash } from 'node:crypto';
import type { BrowserContext, Page, Request, Route } from 'playwright-core';

/** Watches what a page sends from the moment that it has a card: any of it may be the payment. */
export interface Posts {
  /** True once the page has a card. */
  readonly isOn: boolean;
  /** Addresses that something was sent to since, other than those that the recipe calls harmless. */
  readonly sent: ReadonlySet<string>;
  /** Begins. From here on, no page is sent the same form twice: a reload of a payment's answer would pay again. */
  begin(harmless: readonly string[]): void;
  /** Lets nothing more leave the page that could pay, but what a socket sends. */
  stop(): void;
  /** Cuts the page off, its open sockets too. */
  cut(): Promise<void>;
}

/** Methods that change nothing, by the rules of HTTP. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Goes between the page and the network, so that a request is counted before it leaves. Has to be put up before the
 * fence: the route that is put up last is asked first, and refuses other hosts.
 */
export async function watchPosts(context: BrowserContext, page: Page, base: string): Promise<Posts> {
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
    // Aborted, a navigation leaves the page as it is; it may be gone meanwhile.
    (route: Route) =>
      (passes(route.request()) ? route.continue() : route.abort('aborted')).catch(() => undefined),
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
    sent,
    begin(patterns) {
      harmless = patterns.map((one) => new RegExp(`^(?:${one})$`, 'u'));
      state = 'on';
    },
    stop() {
      state = 'stopped';
    },
    cut: () => context.setOffline(true),
  };
}

const formOf = (request: Request): string =>
  createHash('sha256')
    .update(JSON.stringify([request.method(), request.url()]))
    .update(request.postDataBuffer() ?? '')
    .digest('hex');
