import { join } from 'node:path';
import { systemClock } from '../kernel/clock.ts';
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
import type { OpenCarrierSite, OpenDuffelSandbox } from './types.ts';

const STEP_MS = 2_000;
const SLOW_MS = 3_000;

/** The sandbox of the Duffel API with books of its own: another company, which shares nothing with the services. */
export const openDuffelSandbox: OpenDuffelSandbox = async (options) => {
  const clock = options.clock ?? systemClock;
  const seed = options.seed ?? 'farelock';
  const stepMs = options.stepMs ?? STEP_MS;
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
  const { webhook } = options;
  if (webhook) {
    for (const { id } of books.webhooks.all()) books.webhooks.drop(id);
    register(sandbox, webhook.url, [], webhook.secret);
  }
  const app = createDuffelApp(sandbox);
  const fetch = options.fetch ?? overNetwork('error');
  return {
    async fetch(request, cut) {
      const answer = await app.fetch(request);
      if (isCut(answer)) cut();
      return answer;
    },
    async runDue() {
      const worked = await deliverDue({ books, clock, stepMs, fetch });
      return { worked, nextDueAtMs: books.webhooks.all().length === 0 ? null : nextDelivery(books) };
    },
    close: () => books.close(),
  };
};

/** The pretend carrier's web site with books of its own. @throws Problem `usage` for an unknown scenario */
export const openCarrierSite: OpenCarrierSite = async (options) => {
  const { home, clock = systemClock, seed = 'farelock', mailFolder, mailMs, slowMs } = options;
  const scenario = options.scenario === undefined ? 'none' : siteScenario(options.scenario);
  if (scenario === null) {
    const hint = didYouMean(options.scenario ?? '', SITE_SCENARIO_NAMES);
    throw problem('usage', {
      message: `${options.scenario}: there is no such scenario.${hint && ` ${hint}`}`,
      fix: `Give one of ${SITE_SCENARIO_NAMES.join(', ')}.`,
    });
  }
  const books = join(home, 'carrier-site', 'books.db');
  const site = openSite({ seed, clock, books, scenario, mailFolder, mailMs, slowMs });
  return { ...site, scenario, mailDomain: SANDBOX_MAIL_DOMAIN };
};
