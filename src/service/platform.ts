import { join } from 'node:path';
import { smallText } from '../kernel/bounded-file.ts';
import { systemClock } from '../kernel/clock.ts';
import { overNetwork } from '../kernel/network.ts';
import { partnerKeyFile, webhookSecretFile } from '../sandbox/partners/index.ts';
import { createPlatformApp, moveDue, openBooks, PLATFORM_PARTNERS } from '../sandbox/platform/index.ts';
import type { OpenPlatform } from './types.ts';

const STEP_MS = 1_500;
const SLOW_MS = 3_000;

/** The sandbox platform with books of its own, apart from those of the one inside a demo's process. */
export const openPlatform: OpenPlatform = async (options) => {
  const clock = options.clock ?? systemClock;
  const books = openBooks(join(options.home, 'platform', 'orders.db'));
  const secretsOf = async (partnerId: string): Promise<readonly string[] | null> => {
    const secret = options.webhookSecret ?? lineOf(webhookSecretFile(options.home, partnerId));
    return secret === null ? null : [secret];
  };
  const keyOf = async (partnerId: string): Promise<string | null> =>
    options.apiKey?.partnerId === partnerId ? options.apiKey.key : lineOf(partnerKeyFile(options.home, partnerId));
  const app = createPlatformApp({
    books,
    clock,
    webhookSecrets: secretsOf,
    stepMs: options.stepMs ?? STEP_MS,
    slowMs: SLOW_MS,
  });
  return {
    partners: await Promise.all(
      PLATFORM_PARTNERS.map(async ({ partnerId, type, path }) => ({
        partnerId,
        type,
        path,
        verifies: (await secretsOf(partnerId)) !== null,
        moves: type === 'INTEGRATION' && options.partnerUrl !== null && (await keyOf(partnerId)) !== null,
      })),
    ),
    fetch: async (request) => app.fetch(request),
    async runDue() {
      const serviceUrl = options.partnerUrl;
      if (serviceUrl === null) return { worked: 0, nextDueAtMs: null };
      const worked = await moveDue({
        books,
        clock,
        stepMs: options.stepMs ?? STEP_MS,
        fetch: overNetwork('error'),
        serviceUrl: serviceUrl.replace(/\/+$/, ''),
        serviceName: options.partnerServiceName ?? 'farelock',
        keyOf,
      });
      return { worked, nextDueAtMs: books.nextDueAtMs() };
    },
    close: () => books.close(),
  };
};

const lineOf = (path: string): string | null => smallText(path)?.trim() || null;
