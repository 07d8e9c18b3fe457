import { quoted } from '../../../kernel/shell-word.ts';
import type { Order } from '../../../wire/partner/index.ts';
import type { Run } from '../../spec/index.ts';
import { nextLines } from '../../view/index.ts';
import { orderLines, ordersView } from '../../view/partner/index.ts';
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
