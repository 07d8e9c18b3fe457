import { resolve } from 'node:path';
import { HttpResponse } from '../../../kernel/http.ts';
import { fieldLines } from '../../../terminal/table.ts';
import type { Command } from '../../spec/command.ts';
import { httpServer } from '../serve/http-server.ts';
import { drainable, listening, STOPPING } from '../serve/listening.ts';

interface SiteOptions {
  readonly host: string;
  readonly port: number;
  readonly scenario?: string;
  readonly mailFolder?: string;
  readonly mailAfter: number;
  readonly slow: number;
}

const LOOK_FOR_MAIL_MS = 100;

/** Serves the pretend carrier's web site until it is told to stop, and sends its mails meanwhile. */
export const sandboxCarrierSite: Command<SiteOptions> = async (context, options) => {
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
        ...fieldLines(
          [
            ['Scenario', shown.scenario],
            ['Books', shown.sales_url],
            ['Mails', shown.mail_folder ?? 'go nowhere; --mail-folder names a Maildir'],
          ],
          paint.dim,
        ),
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
