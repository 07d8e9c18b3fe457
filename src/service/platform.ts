import { join } from 'node:path';
import { smallText } from '../kernel/bounded-file.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import type { HttpRequest, HttpResponse } from '../kernel/http.ts';
import { overNetwork } from '../kernel/network.ts';
import { partnerKeyFile, webhookSecretFile } from '../sandbox/partners/index.ts';
import { createPlatformApp, moveDue, openBooks, PLATFORM_PARTNERS } from '../sandbox/platform/index.ts';
import type { WorkerRun } from './types.ts';

const STEP_MS = 1_500;
const SLOW_MS = 3_000;

export interface PlatformOptions {
  /** FARELOCK_HOME: it contains the platform's books, and the keys and secrets of demo partners. */
  readonly home: string;
  readonly clock?: Clock | undefined;
  /** The secret that verifies calls for every partner; default: each partner's secret file in the home. */
  readonly webhookSecret?: string | undefined;
  /** The partner service to send UpdateOrder to; null if orders stay as they are. */
  readonly partnerUrl: string | null;
  readonly partnerServiceName?: string | undefined;
  /** The API key of one partner; the others have their key files in the home. */
  readonly apiKey?: { readonly partnerId: string; readonly key: string } | undefined;
  /** Milliseconds between two updates of an order (default 1500). */
  readonly stepMs?: number | undefined;
}

export type Platform = Awaited<ReturnType<typeof openPlatform>>;

/** Opens the sandbox platform with its own books, separate from the platform inside a demo's process. */
export async function openPlatform(options: PlatformOptions) {
  const clock = options.clock ?? systemClock;
  const books = openBooks(join(options.home, 'platform', 'orders.db'));
  const secretsOf = async (partnerId: string) => {
    const secret = options.webhookSecret ?? lineOf(webhookSecretFile(options.home, partnerId));
    return secret === null ? null : [secret];
  };
  const keyOf = async (partnerId: string): Promise<string | null> =>
    options.apiKey?.partnerId === partnerId ? options.apiKey.key : lineOf(partnerKeyFile(options.home, partnerId));
  const { partnerUrl: serviceUrl, stepMs = STEP_MS } = options;
  const app = createPlatformApp({ books, clock, webhookSecrets: secretsOf, stepMs, slowMs: SLOW_MS });
  return {
    partners: await Promise.all(
      PLATFORM_PARTNERS.map(async ({ partnerId, type, path }) => ({
        partnerId,
        type,
        path,
        /** True if its secret is known, so that signatures are verified. */
        verifies: (await secretsOf(partnerId)) !== null,
        /** True if its key and the service's address are known, so that its orders move on. */
        moves: type === 'INTEGRATION' && serviceUrl !== null && (await keyOf(partnerId)) !== null,
      })),
    ),
    fetch: async (request: HttpRequest): Promise<HttpResponse> => app.fetch(request),
    async runDue(): Promise<WorkerRun> {
      if (serviceUrl === null) return { worked: 0, nextDueAtMs: null };
      const worked = await moveDue({
        books,
        clock,
        stepMs,
        fetch: overNetwork('error'),
        serviceUrl: serviceUrl.replace(/\/+$/, ''),
        serviceName: options.partnerServiceName ?? 'farelock',
        keyOf,
      });
      return { worked, nextDueAtMs: books.nextDueAtMs() };
    },
    close: () => books.close(),
  };
}

const lineOf = (path: string): string | null => smallText(path)?.trim() || null;
