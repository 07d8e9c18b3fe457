import { resolve } from 'node:path';
import { HttpResponse } from '../../../kernel/http.ts';
import { problem } from '../../../kernel/problems.ts';
import { shownUrl } from '../../../kernel/shown-url.ts';
import { fieldLines } from '../../../terminal/index.ts';
import { readKeyFile } from '../../session/index.ts';
import type { OptionsOf, Run } from '../../spec/index.ts';
import { drainable, httpServer, listening, STOPPING } from '../serve/index.ts';
import type * as spec from './spec.ts';

const LONGEST_SLEEP_MS = 500;

/** It is no secret: nothing behind it is real. */
const TOKEN = 'duffel_test_sandbox';

/** Serves the sandbox of the Duffel API until it is told to stop, and delivers its webhooks meanwhile. */
export const sandboxDuffel: Run<typeof spec.sandboxDuffel> = async (context, options) => {
  const { terminal, session, signal, clock } = context;
  const webhook = webhookOf(options);
  const sandbox = await session.openDuffelSandbox({ webhook });
  const server = httpServer((request, incoming) => sandbox.fetch(request, () => incoming.socket.destroy())).listen(
    options.port,
    options.host,
  );
  const drain = drainable(server);
  const url = await listening(server, options);
  terminal.result(
    { url, token: TOKEN, webhook_url: webhook ? shownUrl(webhook.url) : null },
    {
      lines: (shown, { paint }) => [
        `${paint.good('✓')} Listening on ${paint.bold(shown.url)}`,
        ...fieldLines(paint.dim, [
          ['Token', shown.token],
          ['Webhooks', shown.webhook_url ?? 'none: register one with POST /air/webhooks'],
          ['Switches', `${shown.url}/sandbox/behaviours`],
          ['Books', `${shown.url}/sandbox/orders`],
        ]),
      ],
    },
  );
  while (!signal.aborted) {
    // A receiver that is away is tried again by its own delays, never by an error here.
    const { nextDueAtMs } = await sandbox.runDue();
    const untilDueMs = nextDueAtMs === null ? LONGEST_SLEEP_MS : nextDueAtMs - clock.now();
    await clock.sleep(Math.min(LONGEST_SLEEP_MS, Math.max(20, untilDueMs)), signal);
  }
  terminal.note(STOPPING);
  await drain();
  sandbox.close();
  terminal.note('Stopped. The next farelock sandbox duffel continues with its books.');
  return 0;
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

const LOOK_FOR_MAIL_MS = 100;

/** Serves the pretend carrier's web site until it is told to stop, and sends its mails meanwhile. */
export const sandboxCarrierSite: Run<typeof spec.sandboxCarrierSite> = async (context, options) => {
  const { terminal, session, signal, clock } = context;
  const mailFolder = options.mailFolder === undefined ? null : resolve(options.mailFolder);
  const site = await session.openCarrierSite({
    scenario: options.scenario,
    mailFolder,
    mailMs: options.mailAfter,
    slowMs: options.slow,
  });
  const server = httpServer(async (request, incoming) => {
    const answer = await site.fetch(request);
    // A scenario: the visitor never learns what became of his request.
    if (answer === null) incoming.socket.destroy();
    return answer ?? new HttpResponse(500, null);
  }).listen(options.port, options.host);
  const drain = drainable(server);
  const url = await listening(server, options);
  terminal.result(
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
        ...fieldLines(paint.dim, [
          ['Scenario', shown.scenario],
          ['Books', shown.sales_url],
          ['Mails', shown.mail_folder ?? 'go nowhere; --mail-folder names a Maildir'],
        ]),
      ],
    },
  );
  while (!signal.aborted) {
    await site.deliverDue();
    await clock.sleep(LOOK_FOR_MAIL_MS, signal);
  }
  terminal.note(STOPPING);
  await drain();
  await site.deliverDue();
  site.close();
  terminal.note('Stopped. The next farelock sandbox carrier-site continues with its books.');
  return 0;
};
