import type { BrowserContextOptions, BrowserType } from 'playwright-core';
import { loadPhones, namesPhones, type Recipe, type RecipePart, type Step, shortened } from '../recipes/index.ts';
import { launch } from './chromium.ts';
import { hostsOf, putFence, watchPosts } from './fence.ts';

export type Visit = Awaited<ReturnType<typeof openVisit>>;

/** Follows a trial's visit; purchases have none. */
export interface Watcher {
  done(part: RecipePart, name: string, step: Step): Promise<void>;
  read(part: RecipePart, field: string, text: string | null, value: unknown): void;
}

export interface Account {
  readonly user: string;
  readonly password: string;
}

const MOST_ASKED = 5;

interface Visiting {
  readonly playwright: BrowserType;
  readonly chromium: string;
  readonly visitMs: number;
  readonly account?: Account | undefined;
  readonly watcher?: Watcher | undefined;
  /** Cookies of an earlier trial. */
  readonly storageState?: BrowserContextOptions['storageState'];
}

export async function openVisit(
  { playwright, chromium, visitMs, watcher, storageState, account }: Visiting,
  recipe: Recipe,
) {
  const hosts = hostsOf(recipe.site);
  const phones = namesPhones(recipe) ? await loadPhones() : null;
  const { browser, close } = await launch(playwright, chromium, hosts);
  const closed = { done: null as Promise<void> | null };
  let endsAtMs = performance.now() + visitMs;
  const end = () => {
    clearTimeout(timer);
    closed.done ??= close();
    return closed.done;
  };
  // By the machine's clock, unlike the times of bookings.
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
      ...(storageState !== undefined && { storageState }),
    });
    const refused = new Set<string>();
    const page = await context.newPage();
    const posts = await watchPosts(context, page, recipe.site.base);
    await putFence(context, hosts, (host) => refused.add(host));
    page.setDefaultTimeout(10_000);
    // Closes pop-up windows and dismisses dialogs.
    context.on('page', (other) => {
      if (other !== page) void other.close().catch(() => undefined);
    });
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      const { pathname } = new URL(page.url() || 'about:blank');
      if (asked.length < MOST_ASKED) asked.push(`${dialog.type()} on ${pathname}: ${shortened(dialog.message(), 200)}`);
      void dialog.dismiss().catch(() => undefined);
    });
    let isCrashed = false;
    page.on('crash', () => {
      isCrashed = true;
    });
    return {
      ...{ page, recipe, posts, watcher, phones, account },
      /** When the browser is closed, by `performance.now()`. */
      get endsAtMs() {
        return endsAtMs;
      },
      extend(ms: number) {
        if (closed.done !== null) return;
        clearTimeout(timer);
        timer = endLater(ms);
        endsAtMs = performance.now() + ms;
      },
      /** Typed data of people and cards, which nothing that is saved may show. */
      personal: new Set<string>(Object.values(account ?? {})),
      refused,
      /** Messages of the page's dialogs, which were dismissed. */
      asked,
      isGone: () => isCrashed || !browser.isConnected() || closed.done !== null,
      /** Ends the browser; repeatable. */
      close: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}
