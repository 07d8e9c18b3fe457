import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { httpServer } from '../../../src/cli/commands/serve/index.ts';
import type { Clock } from '../../../src/kernel/clock.ts';
import { HttpResponse } from '../../../src/kernel/http.ts';
import { openCarrierSite } from '../../../src/sandbox/carrier-site/index.ts';
import type { SiteScenario } from '../../../src/sandbox/carrier-site/scenarios.ts';
import { worldClock } from '../../clock.ts';

/** The books as `GET /sandbox/sales` shows them. */
export interface Books {
  readonly presses: readonly {
    readonly press_id: number;
    readonly reference: string;
    readonly scenario: string;
    readonly amount_decimal: string;
    readonly outcome: 'sold' | 'declined' | 'nothing';
  }[];
  readonly sales: readonly {
    readonly booking_reference: string;
    readonly press_id: number;
    readonly reference: string;
    readonly paid_amount_decimal: string;
    readonly confirmed: boolean;
    readonly cancelled: boolean;
  }[];
  readonly elsewhere: readonly string[];
}

export interface Served {
  readonly url: string;
  readonly folder: string;
  readonly mailFolder: string;
  /** Called before each request is answered. */
  onRequest: (request: string) => void;
  books(): Promise<Books>;
  close(): Promise<void>;
}

/** The pretend carrier's site over real HTTP, with a Maildir, until it is closed. */
export async function serveSite(
  options: {
    readonly scenario?: SiteScenario;
    readonly mailMs?: number;
    readonly slowMs?: number;
    readonly lateMs?: number;
    readonly clock?: Clock;
  } = {},
): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'carrier-site-'));
  const mailFolder = join(folder, 'mail');
  mkdirSync(mailFolder);
  const { clock = worldClock, ...rest } = options;
  const site = openCarrierSite({ seed: 'farelock', clock, books: join(folder, 'books.db'), mailFolder, ...rest });
  let delivering = Promise.resolve(0);
  const timer = setInterval(() => {
    delivering = delivering.then(() => site.deliverDue());
  }, 50);
  const server = httpServer(async (request, incoming) => {
    served.onRequest(`${request.method} ${new URL(request.url).pathname}`);
    const answer = await site.fetch(request);
    if (answer === null) incoming.socket.destroy();
    return answer ?? new HttpResponse(500, null);
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const served: Served = {
    url,
    folder,
    mailFolder,
    onRequest: () => undefined,
    books: async () => (await (await fetch(`${url}/sandbox/sales`)).json()) as Books,
    async close() {
      clearInterval(timer);
      await delivering;
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      site.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return served;
}
