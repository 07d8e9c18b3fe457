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
  /** FARELOCK_HOME: its books go below it, and so do the keys and secrets of demo partners. */
  readonly home: string;
  readonly clock?: Clock | undefined;
  /** Verifies incoming calls for every partner; without it, the secret files of the home. */
  readonly webhookSecret?: string | undefined;
  /** The partner service to call UpdateOrder of; null: orders stay as they are. */
  readonly partnerUrl: string | null;
  readonly partnerServiceName?: string | undefined;
  /** The API key of one partner; for the others, the key files of the home. */
  readonly apiKey?: { readonly partnerId: string; readonly key: string } | undefined;
  /** From one update about an order to the next, milliseconds (default 1500). */
  readonly stepMs?: number | undefined;
}

export type Platform = Awaited<ReturnType<typeof openPlatform>>;

/** The sandbox platform with books of its own, apart from those of the one inside a demo's process. */
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
        /** Its secret is known, so signatures are verified. */
        verifies: (await secretsOf(partnerId)) !== null,
        /** Its key and the service's address are known, so its orders are moved along. */
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
