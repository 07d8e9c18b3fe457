import { resolve } from 'node:path';
import { HttpResponse } from '../../../kernel/http.ts';
import { problem } from '../../../kernel/problems.ts';
import { shownUrl } from '../../../kernel/shown-url.ts';
import { fieldLines, type View } from '../../../terminal/index.ts';
import { encrypted, readKeyFile } from '../../session/index.ts';
import { readSetting, settingsIn } from '../../settings/index.ts';
import type { OptionsOf, Run } from '../../spec/index.ts';
import type { DocumentOf } from '../../spec/published.ts';
import { servePretend } from '../serve/index.ts';
import type * as result from './result.ts';
import type * as spec from './spec.ts';

/** Not a secret: nothing behind it is real. */
const TOKEN = 'duffel_test_sandbox';

export const sandboxDuffel: Run<typeof spec.sandboxDuffel> = async (context, options) => {
  const webhook = webhookOf(options);
  const sandbox = await context.session.openDuffelSandbox({ webhook });
  return servePretend(context, options, {
    answer: (request, incoming) => sandbox.fetch(request, () => incoming.socket.destroy()),
    begun: (url) =>
      context.terminal.result(
        { url, token: TOKEN, webhook_url: webhook ? shownUrl(webhook.url) : null },
        {
          lines: (shown, { paint }) => [
            `${paint.good('✓')} Listening on ${paint.bold(shown.url)}`,
            ...fieldLines(paint.dim, {
              Token: shown.token,
              Webhooks: shown.webhook_url ?? 'none: register one with POST /air/webhooks',
              Switches: `${shown.url}/sandbox/behaviours`,
              Books: `${shown.url}/sandbox/orders`,
            }),
          ],
        },
      ),
    // Delivers the webhooks. A receiver that is away is not an error: each delivery is retried on its own.
    work: async () => (await sandbox.runDue()).nextDueAtMs,
    longestSleepMs: 500,
    close: async () => sandbox.close(),
    stopped: 'The next farelock sandbox duffel continues with its books.',
  });
};

/** @throws Problem `usage` */
function webhookOf({
  webhookUrl,
  webhookSecretFile,
}: OptionsOf<typeof spec.sandboxDuffel>): { url: string; secret: string } | undefined {
  if (webhookUrl === undefined && webhookSecretFile === undefined) return undefined;
  if (webhookUrl === undefined || webhookSecretFile === undefined || !/^https?:\/\//.test(webhookUrl))
    throw problem('usage', {
      message: 'A webhook needs its address and the file with its secret.',
      fix: 'Use --webhook-url http://127.0.0.1:4020/… and --webhook-secret-file, or neither.',
    });
  return { url: webhookUrl, secret: readKeyFile(webhookSecretFile) };
}

export const sandboxCarrierSite: Run<typeof spec.sandboxCarrierSite> = async (context, options) => {
  const mailFolder = options.mailFolder === undefined ? null : resolve(options.mailFolder);
  const site = await context.session.openCarrierSite({
    scenario: options.scenario,
    mailFolder,
    mailMs: options.mailAfter,
    slowMs: options.slow,
  });
  return servePretend(context, options, {
    async answer(request, incoming) {
      const answer = await site.fetch(request);
      // In this scenario the visitor never learns how the request ended.
      if (answer === null) incoming.socket.destroy();
      return answer ?? new HttpResponse(500, null);
    },
    begun: (url) =>
      context.terminal.result(
        {
          url,
          scenario: site.scenario,
          sales_url: `${url}/sandbox/sales`,
          mail_folder: mailFolder,
          mail_domain: site.mailDomain,
          dkim_url: `${url}/sandbox/dkim`,
        },
        {
          lines: (shown, { paint }) => [
            `${paint.good('✓')} Listening on ${paint.bold(shown.url)}`,
            ...fieldLines(paint.dim, {
              Scenario: shown.scenario,
              Books: shown.sales_url,
              Mails: shown.mail_folder ?? 'go nowhere; --mail-folder names a Maildir',
            }),
          ],
        },
      ),
    async work() {
      await site.deliverDue();
      return null;
    },
    longestSleepMs: 100,
    async close() {
      await site.deliverDue();
      site.close();
    },
    stopped: 'The next farelock sandbox carrier-site continues with its books.',
  });
};

export const sandboxPlatform: Run<typeof spec.sandboxPlatform> = async (context, options) => {
  const { terminal, session, environment } = context;
  const setting = settingsIn(environment);
  const key = options.keyFile ? readKeyFile(options.keyFile) : setting('api_key');
  const secret = options.secretFile
    ? readSetting('webhook_secret', readKeyFile(options.secretFile), '--secret-file')
    : setting('webhook_secret');
  const { profile } = session;
  const { partnerUrl } = profile;
  const platform = await session.openPlatform({
    partnerUrl: partnerUrl === null ? null : encrypted(partnerUrl, 'partner_url', profile),
    webhookSecret: secret,
    ...(key !== undefined && { apiKey: { partnerId: options.partner, key } }),
  });
  return servePretend(context, options, {
    answer: (request) => platform.fetch(request),
    begun(url) {
      const partners = platform.partners.map(({ partnerId, type, path, verifies, moves }) => ({
        partner_id: partnerId,
        type,
        platform_url: `${url}${path}`,
        verifies_signatures: verifies,
        moves_orders: moves,
      }));
      terminal.result({ url, partner_url: partnerUrl === null ? null : shownUrl(partnerUrl), partners }, platformView);
      if (partnerUrl === null)
        terminal.note('Orders stay as they are: FARELOCK_PARTNER_URL names no service to update.');
    },
    async work() {
      try {
        return (await platform.runDue()).nextDueAtMs;
      } catch (error) {
        // One bad round must not end the loop: the next one takes the order up again.
        terminal.note(
          `An update failed and will be tried again: ${error instanceof Error ? error.message : String(error)}`,
        );
        return null;
      }
    },
    longestSleepMs: 1_000,
    close: async () => platform.close(),
    stopped: 'The next farelock sandbox platform continues with its orders.',
  });
};

const platformView: View<DocumentOf<typeof result.sandboxPlatform>> = {
  lines: ({ url, partners }, { paint }) => [
    `${paint.good('✓')} Listening on ${paint.bold(url)}`,
    ...fieldLines(
      paint.dim,
      partners.map((one): [string, string] => [
        one.partner_id,
        `${one.platform_url} (${one.verifies_signatures ? 'verifies signatures' : 'takes unsigned requests'}${one.moves_orders ? ', updates orders' : ''})`,
      ]),
    ),
  ],
};
