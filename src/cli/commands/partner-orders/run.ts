import type { OrderStatus } from '../../../kernel/domain/order-moves.ts';
import { quoted } from '../../../kernel/shell-word.ts';
import type { Order } from '../../../wire/partner/index.ts';
import type { PartnerIdentity } from '../../session/partner-access.ts';
import type { Command } from '../../spec/command.ts';
import { type OrderPage, orderLines, ordersView } from '../../view/partner/order.ts';
import { nextLines } from '../../view/payment.ts';

interface OrdersListOptions extends PartnerIdentity {
  readonly status?: OrderStatus;
  readonly limit: number;
  readonly pageToken?: string;
}

interface OrderShowOptions extends PartnerIdentity {
  readonly orderId: string;
  readonly history?: true;
}

const LARGEST_PAGE = 200;

/** The partner's orders, newest first. */
export const ordersList: Command<OrdersListOptions> = async (context, options) => {
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

/** One order, with the statuses that it may go to. */
export const orderShow: Command<OrderShowOptions> = async (context, { orderId, history, ...who }) => {
  const { terminal, session, signal } = context;
  await session.work('partner');
  const { client } = await session.partner(who);
  const { order, ...more } = await client.order(orderId, { signal, includeHistory: history === true });
  terminal.result({ ...order, ...more }, { lines: orderLines });
  return 0;
};
