import type { BrowserType } from 'playwright-core';
import type { Recipe } from '../recipes/index.ts';
import { launch } from './chromium.ts';
import { hostsOf, putFence, watchPosts } from './fence.ts';

export type Visit = Awaited<ReturnType<typeof openVisit>>;

interface Visitor {
  readonly playwright: BrowserType;
  readonly chromium: string;
  readonly visitMs: number;
}

/** Begins a visit to a carrier's site. It has a browser of its own, which ends with it. */
export async function openVisit({ playwright, chromium, visitMs }: Visitor, recipe: Recipe) {
  const hosts = hostsOf(recipe.site);
  const { browser, close } = await launch(playwright, chromium, hosts);
  const closed = { done: null as Promise<void> | null };
  let endsAtMs = performance.now() + visitMs;
  const end = () => {
    clearTimeout(timer);
    closed.done ??= close();
    return closed.done;
  };
  // By the machine's clock: the time that a browser may take has nothing to do with that of bookings.
  const endLater = (ms: number) => setTimeout(() => void end().catch(() => browser.close()), ms);
  let timer = endLater(visitMs);
  try {
    const { locale, time_zone: timezoneId } = recipe.site;
    const context = await browser.newContext({
      acceptDownloads: false,
      permissions: [],
      serviceWorkers: 'block',
      bypassCSP: false,
      viewport: { width: 1280, height: 900 },
      ...(locale !== undefined && { locale }),
      ...(timezoneId !== undefined && { timezoneId }),
    });
    const refused = new Set<string>();
    const page = await context.newPage();
    const posts = await watchPosts(context, page, recipe.site.base);
    await putFence(context, hosts, (host) => refused.add(host));
    page.setDefaultTimeout(10_000);
    // Closes the page's own windows, and answers its questions with no.
    context.on('page', (other) => {
      if (other !== page) void other.close().catch(() => undefined);
    });
    page.on('dialog', (dialog) => void dialog.dismiss().catch(() => undefined));
    let isCrashed = false;
    page.on('crash', () => {
      isCrashed = true;
    });
    return {
      ...{ page, recipe, posts },
      /** By the clock of `performance`: then the browser is closed, whatever it does. */
      get endsAtMs() {
        return endsAtMs;
      },
      extend(ms: number) {
        if (closed.done !== null) return;
        clearTimeout(timer);
        timer = endLater(ms);
        endsAtMs = performance.now() + ms;
      },
      /** Texts of a person or a card that were put into the page: nothing that is kept may show them. */
      personal: new Set<string>(),
      /** Hosts that the page tried to reach and may not. */
      refused,
      isGone: () => isCrashed || !browser.isConnected() || closed.done !== null,
      /** Ends the browser now. Does nothing the second time. */
      close: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}
