import { canonicalJson } from '../../kernel/json.ts';
import { isProblem } from '../../kernel/problems.ts';
import type { Command, CommandContext } from '../context.ts';
import type { PartnerAccess, PartnerIdentity } from '../partner-access.ts';
import { changeLine, ENDS, type ShownOrder, statusWords } from '../view/partner-order.ts';
import { throwIfAborted } from '../waiting.ts';

export interface OrderWatchOptions extends PartnerIdentity {
  readonly orderId: string;
  /** Milliseconds between two looks. */
  readonly every: number;
}

const MOST_FAILURES = 30;

/**
 * A line for every change of an order until it ends. Exit 0 when the payment was processed, 8 when the order was
 * refunded or canceled, or failed.
 */
export const orderWatch: Command<OrderWatchOptions> = async (context, { orderId, every, ...who }) => {
  const { terminal, session, clock, signal } = context;
  const access = await session.partner(who);
  let before: ShownOrder | null = null;
  for (;;) {
    const dueAtMs = await session.work();
    const order: ShownOrder = await look(context, access, orderId, every);
    if (before === null || canonicalJson(order) !== canonicalJson(before)) {
      const then = before;
      terminal.event(order, { lines: (now, screen) => [changeLine(now, then, screen)] });
      before = order;
    }
    const end = ENDS[order.status];
    if (end) return end === 'done' ? 0 : 8;
    terminal.phase(statusWords(order.status));
    const untilDue = dueAtMs === null ? every : Math.max(10, dueAtMs - clock.now());
    await clock.sleep(Math.min(every, untilDue), signal);
    throwIfAborted(signal);
  }
};

/** The order as it is; a service that is briefly away is asked again. */
async function look(
  { clock, signal }: CommandContext,
  { client }: PartnerAccess,
  orderId: string,
  every: number,
): Promise<ShownOrder> {
  for (let failures = 1; ; failures++) {
    throwIfAborted(signal);
    try {
      const { order, allowedStatuses } = await client.order(orderId, { signal });
      return { ...order, ...(allowedStatuses === undefined ? {} : { allowedStatuses }) };
    } catch (error) {
      throwIfAborted(signal);
      if (!isProblem(error) || error.kind.retryable !== true || failures > MOST_FAILURES) throw error;
      await clock.sleep(Math.max(every, (error.retryAfter ?? 0) * 1000), signal);
    }
  }
}
