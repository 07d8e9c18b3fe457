import { quoted } from '../../../kernel/shell-word.ts';
import { shownUrl } from '../../../kernel/shown-url.ts';
import { fieldLines } from '../../../terminal/index.ts';
import type { Order } from '../../../wire/partner/index.ts';
import { encrypted, readKeyFile } from '../../session/index.ts';
import { readSetting, settingsIn } from '../../settings/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { nextLines } from '../../view/index.ts';
import { type OrderPage, orderLines, ordersView } from '../../view/partner/index.ts';
import { drainable, httpServer, listening, STOPPING } from '../serve/index.ts';
import type * as spec from './spec.ts';

const LARGEST_PAGE = 200;

export const ordersList: Run<typeof spec.partnerOrdersList> = async (context, options) => {
  const { terminal, session, signal } = context;
  await session.work('partner');
  const { client } = await session.partner(options);
  const orders: Order[] = [];
  let token = options.pageToken;
  let totalCount = 0;
  do {
    const page = await client.orders(
      {
        ...(options.status === undefined ? {} : { status: options.status }),
        pageSize: Math.min(LARGEST_PAGE, options.limit - orders.length),
        ...(token === undefined ? {} : { pageToken: token }),
      },
      { signal },
    );
    orders.push(...page.orders);
    ({ totalCount } = page);
    token = page.orders.length === 0 ? undefined : page.nextPageToken;
  } while (token !== undefined && orders.length < options.limit);
  const page: OrderPage = { orders, totalCount, ...(token === undefined ? {} : { nextPageToken: token }) };
  terminal.result(page, ordersView);
  const [first] = orders;
  if (first) terminal.aside(['', ...nextLines(`farelock partner orders show ${quoted(first.id)}`)]);
  return 0;
};

export const orderShow: Run<typeof spec.partnerOrdersShow> = async (context, { orderId, history, ...who }) => {
  const { terminal, session, signal } = context;
  await session.work('partner');
  const { client } = await session.partner(who);
  const { order, ...more } = await client.order(orderId, { signal, includeHistory: history === true });
  terminal.result({ ...order, ...more }, { lines: orderLines });
  return 0;
};

const LONGEST_SLEEP_MS = 1_000;

/** Serves the sandbox partner platform until it is told to stop, and moves its orders along meanwhile. */
export const partnerPlatform: Run<typeof spec.partnerPlatform> = async (context, options) => {
  const { terminal, session, signal, environment } = context;
  const setting = settingsIn(environment);
  const key = options.keyFile ? readKeyFile(options.keyFile) : setting('api_key');
  const secret = options.secretFile
    ? readSetting('webhook_secret', readKeyFile(options.secretFile), '--secret-file')
    : setting('webhook_secret');
  const { profile } = session;
  const platform = await session.openPlatform({
    partnerUrl: profile.partnerUrl === null ? null : encrypted(profile.partnerUrl, 'partner_url', profile),
    webhookSecret: secret,
    ...(key === undefined ? {} : { apiKey: { partnerId: options.partner, key } }),
  });
  const server = httpServer((request) => platform.fetch(request)).listen(options.port, options.host);
  const drain = drainable(server);
  const url = await listening(server, options);
  terminal.result(
    {
      url,
      partner_url: session.profile.partnerUrl === null ? null : shownUrl(session.profile.partnerUrl),
      partners: platform.partners.map(({ partnerId, type, path, verifies, moves }) => ({
        partner_id: partnerId,
        type,
        platform_url: `${url}${path}`,
        verifies_signatures: verifies,
        moves_orders: moves,
      })),
    },
    {
      lines: (shown, { paint }) => [
        `${paint.good('✓')} Listening on ${paint.bold(shown.url)}`,
        ...fieldLines(
          paint.dim,
          shown.partners.map((partner): [string, string] => [
            partner.partner_id,
            `${partner.platform_url} (${partner.verifies_signatures ? 'verifies signatures' : 'takes unsigned requests'}${partner.moves_orders ? ', updates orders' : ''})`,
          ]),
        ),
      ],
    },
  );
  if (session.profile.partnerUrl === null)
    terminal.note('Orders stay as they are: FARELOCK_PARTNER_URL names no service to update.');

  const moving = move(context, platform);
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
  terminal.note(STOPPING);
  await drain();
  await moving;
  platform.close();
  terminal.note('Stopped. The next farelock partner platform continues with its orders.');
  return 0;
};

/** The script's loop: what is due, then a sleep until something is, for at most a second. */
async function move(
  { clock, signal, terminal }: CommandContext,
  platform: { runDue(): Promise<{ nextDueAtMs: number | null }> },
): Promise<void> {
  while (!signal.aborted) {
    let untilDueMs = LONGEST_SLEEP_MS;
    try {
      const { nextDueAtMs } = await platform.runDue();
      if (nextDueAtMs !== null) untilDueMs = nextDueAtMs - clock.now();
    } catch (error) {
      // One bad round must not end the loop: the next one takes the order up again.
      terminal.note(
        `An update failed and will be tried again: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
    await clock.sleep(Math.min(LONGEST_SLEEP_MS, Math.max(20, untilDueMs)), signal);
  }
}
