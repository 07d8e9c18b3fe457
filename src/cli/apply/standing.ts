import { FUNDED, type OrderStanding } from '../../kernel/domain/order-moves.ts';
import type { GetOrderDetailsResponse } from '../../wire/partner/index.ts';

/**
 * An order as the rules of UpdateOrder see it, read from GetOrderDetails with its history. Another deployment tells
 * neither its history nor where an order may go: whether the funds were seen is then not known, where the status alone
 * does not say it.
 */
export function standingOf({ order, allowedStatuses, history }: GetOrderDetailsResponse): OrderStanding {
  const { status } = order;
  const reached = new Set([status, ...(history ?? []).map(({ toStatus }) => toStatus)]);
  const seen = order.sourceTransactionId !== undefined || [...reached].some((one) => FUNDED.has(one));
  // From these two the way depends on the funds, and so the ways that are told show whether they were seen.
  const tells = history !== undefined || (status !== 'IN_REVIEW' && status !== 'ERROR');
  const unseen = tells ? false : (allowedStatuses?.includes('REFUNDING') ?? null);
  return {
    status,
    funds: seen || unseen,
    paymentProcessed: reached.has('PAYMENT_PROCESSED'),
    sourceTransactionId: order.sourceTransactionId ?? null,
    destinationTransactionId: order.destinationTransactionId ?? null,
    returned: order.returnDetails !== undefined,
    details: {
      sourceAmount: order.sourceAmount,
      sourceCurrency: order.sourceCurrency,
      toAmount: order.destinationAmount ?? null,
      depositInstructions: order.depositInstructions,
      returnDetails: order.returnDetails,
    },
  };
}
