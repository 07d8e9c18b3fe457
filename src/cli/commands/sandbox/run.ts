import { resolve } from 'node:path';
import { HttpResponse } from '../../../kernel/http.ts';
import { problem } from '../../../kernel/problems.ts';
import { shownUrl } from '../../../kernel/shown-url.ts';
import { fieldLines } from '../../../terminal/index.ts';
import { readKeyFile } from '../../session/index.ts';
import type { OptionsOf, Run } from '../../spec/index.ts';
import { servePretend } from '../serve/index.ts';
import type * as spec from './spec.ts';

/** It is no secret: nothing behind it is real. */
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
    // Delivers its webhooks; a receiver that is away has delays of its own, and is no error.
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
      // A scenario: the visitor never learns how the request ended.
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
