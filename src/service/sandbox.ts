import { join } from 'node:path';
import { type Clock, systemClock } from '../kernel/clock.ts';
import type { Fetch, HttpRequest, HttpResponse } from '../kernel/http.ts';
import { didYouMean } from '../kernel/nearest.ts';
import { overNetwork } from '../kernel/network.ts';
import { problem } from '../kernel/problems.ts';
import {
  openCarrierSite as openSite,
  SANDBOX_MAIL_DOMAIN,
  SITE_SCENARIO_NAMES,
  siteScenario,
} from '../sandbox/carrier-site/index.ts';
import {
  createDuffelApp,
  createDuffelIds,
  createDuffelWorld,
  deliverDue,
  isCut,
  nextDelivery,
  openBooks,
  register,
} from '../sandbox/duffel/index.ts';
import type { WorkerRun } from './types.ts';

const STEP_MS = 2_000;
const SLOW_MS = 3_000;

export interface DuffelSandboxOptions {
  /** The file of its books; null keeps them in memory. */
  readonly path: string | null;
  readonly clock?: Clock | undefined;
  /** Equal seeds give equal worlds, with equal ids in equal order. */
  readonly seed?: string | undefined;
  /** Milliseconds from a 202 to the order, or to a late ticket (default 2000). */
  readonly stepMs?: number | undefined;
  /** The delay of a slow answer, milliseconds (default 3000). */
  readonly slowMs?: number | undefined;
  /** Registered from the start; others can be registered later. */
  readonly webhook?: { readonly url: string; readonly secret: string } | undefined;
  readonly fetch?: Fetch | undefined;
}

export type DuffelSandbox = Awaited<ReturnType<typeof openDuffelSandbox>>;

/** Opens the sandbox of the Duffel API with its own books: as another company, it shares nothing with the services. */
export async function openDuffelSandbox(options: DuffelSandboxOptions) {
  const { clock = systemClock, seed = 'farelock', stepMs = STEP_MS, webhook } = options;
  const books = openBooks(options.path);
  const sandbox = {
    books,
    clock,
    seed,
    stepMs,
    slowMs: options.slowMs ?? SLOW_MS,
    ids: createDuffelIds(seed),
    world: createDuffelWorld(seed),
    passengers: new Map(),
    underWay: new Set<string>(),
  };
  if (webhook) {
    for (const { id } of books.webhooks.all()) books.webhooks.drop(id);
    register(sandbox, webhook.url, [], webhook.secret);
  }
  const app = createDuffelApp(sandbox);
  const fetch = options.fetch ?? overNetwork('error');
  return {
    /** @param cut drops the connection, so that the answer is lost */
    async fetch(request: HttpRequest, cut: () => void): Promise<HttpResponse> {
      const answer = await app.fetch(request);
      if (isCut(answer)) cut();
      return answer;
    },
    async runDue(): Promise<WorkerRun> {
      const worked = await deliverDue({ books, clock, stepMs, fetch });
      return { worked, nextDueAtMs: books.webhooks.all().length === 0 ? null : nextDelivery(books) };
    },
    close: () => books.close(),
  };
}

type SiteOptions = Parameters<typeof openSite>[0];

export interface CarrierSiteOptions extends Pick<SiteOptions, 'mailFolder' | 'mailMs' | 'slowMs'> {
  /** FARELOCK_HOME, which contains the site's books. */
  readonly home: string;
  readonly clock?: Clock | undefined;
  readonly seed?: string | undefined;
  readonly scenario?: string | undefined;
}

export type ServedCarrierSite = Awaited<ReturnType<typeof openCarrierSite>>;

/** Opens the pretend carrier's web site with its own books. @throws Problem `usage` for an unknown scenario */
export async function openCarrierSite(options: CarrierSiteOptions) {
  const { home, clock = systemClock, seed = 'farelock', mailFolder, mailMs, slowMs } = options;
  const scenario = options.scenario === undefined ? 'none' : siteScenario(options.scenario);
  if (scenario === null) {
    const hint = didYouMean(options.scenario ?? '', SITE_SCENARIO_NAMES);
    throw problem('usage', {
      message: `Unknown scenario "${options.scenario}".${hint && ` ${hint}`}`,
      fix: `Choose one of ${SITE_SCENARIO_NAMES.join(', ')}.`,
    });
  }
  const books = join(home, 'carrier-site', 'books.db');
  const site = openSite({ seed, clock, books, scenario, mailFolder, mailMs, slowMs });
  return { ...site, scenario, mailDomain: SANDBOX_MAIL_DOMAIN };
}
