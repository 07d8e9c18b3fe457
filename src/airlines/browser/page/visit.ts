import type { BrowserType, Page } from 'playwright-core';
import type { Recipe } from '../recipes/index.ts';
import { launch } from './chromium.ts';
import { hostsOf, type Posts, putFence, watchPosts } from './fence.ts';

/** One visit to a carrier's site: a browser of its own, which ends with it. */
export interface Visit {
  readonly page: Page;
  readonly recipe: Recipe;
  /** By the clock of `performance`: then the browser is closed, whatever it does. */
  readonly endsAtMs: number;
  readonly posts: Posts;
  /** Texts that belong to a person or to a card, and were put into the page: nothing that is kept may show them. */
  readonly personal: Set<string>;
  /** Hosts that the page tried to reach and may not. */
  readonly refused: Set<string>;
  /** Begins its time anew: from now on it has this long. */
  extend(ms: number): void;
  /** True once the browser is gone. */
  isGone(): boolean;
  /** Ends the browser now. Does nothing the second time. */
  close(): Promise<void>;
}

export interface Visitor {
  readonly playwright: BrowserType;
  readonly chromium: string;
  readonly visitMs: number;
}

export async function openVisit({ playwright, chromium, visitMs }: Visitor, recipe: Recipe): Promise<Visit> {
  const hosts = hostsOf(recipe.site);
  const { browser, close } = await launch(playwright, chromium, hosts);
  const closed = { done: null as Promise<void> | null };
  let endsAtMs = performance.now() + visitMs;
  const end = () => {
    clearTimeout(timer);
    closed.done ??= close();
    return closed.done;
  };
  // The clock of the machine: what a browser may take of it has nothing to do with the time of bookings.
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
    // Windows and questions of the page's own making: closed, and answered with no.
    context.on('page', (other) => {
      if (other !== page) void other.close().catch(() => undefined);
    });
    page.on('dialog', (dialog) => void dialog.dismiss().catch(() => undefined));
    let isCrashed = false;
    page.on('crash', () => {
      isCrashed = true;
    });
    return {
      page,
      recipe,
      posts,
      get endsAtMs() {
        return endsAtMs;
      },
      extend(ms) {
        if (closed.done !== null) return;
        clearTimeout(timer);
        timer = endLater(ms);
        endsAtMs = performance.now() + ms;
      },
      personal: new Set(),
      refused,
      isGone: () => isCrashed || !browser.isConnected() || closed.done !== null,
      close: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}
