import { systemClock } from '../kernel/clock.ts';
import { overNetwork } from '../kernel/network.ts';
import { createDuffelApp } from '../sandbox/duffel/app.ts';
import { openBooks } from '../sandbox/duffel/books.ts';
import { isCut } from '../sandbox/duffel/errors.ts';
import { deliverDue, nextDelivery } from '../sandbox/duffel/events.ts';
import { createDuffelIds } from '../sandbox/duffel/ids.ts';
import { register } from '../sandbox/duffel/webhook-calls.ts';
import { createDuffelWorld } from '../sandbox/duffel/world.ts';
import type { OpenDuffelSandbox } from './types.ts';

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
