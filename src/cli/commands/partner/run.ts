import { quoted } from '../../../kernel/shell-word.ts';
import { shownUrl } from '../../../kernel/shown-url.ts';
import { fieldLines, type View } from '../../../terminal/index.ts';
import type { Order } from '../../../wire/partner/index.ts';
import { encrypted, readKeyFile } from '../../session/index.ts';
import { readSetting, settingsIn } from '../../settings/index.ts';
import type { Run } from '../../spec/index.ts';
import type { DocumentOf } from '../../spec/published.ts';
import { nextLines } from '../../view/index.ts';
import { orderLines, ordersView } from '../../view/partner/index.ts';
import { servePretend } from '../serve/index.ts';
import type * as result from './result.ts';
import type * as spec from './spec.ts';

const LARGEST_PAGE = 200;

export const ordersList: Run<typeof spec.partnerOrdersList> = async ({ terminal, session, signal }, options) => {
  await session.work('partner');
  const { client } = await session.partner(options);
  const orders: Order[] = [];
  let token = options.pageToken;
  let totalCount = 0;
  do {
    const page = await client.orders(
      {
        ...(options.status !== undefined && { status: options.status }),
        pageSize: Math.min(LARGEST_PAGE, options.limit - orders.length),
        ...(token !== undefined && { pageToken: token }),
      },
      { signal },
    );
    orders.push(...page.orders);
    ({ totalCount } = page);
    token = page.orders.length === 0 ? undefined : page.nextPageToken;
  } while (token !== undefined && orders.length < options.limit);
  terminal.result({ orders, totalCount, ...(token !== undefined && { nextPageToken: token }) }, ordersView);
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

export const partnerPlatform: Run<typeof spec.partnerPlatform> = async (context, options) => {
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
    stopped: 'The next farelock partner platform continues with its orders.',
  });
};

const platformView: View<DocumentOf<typeof result.partnerPlatform>> = {
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
