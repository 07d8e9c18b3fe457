import * as z from 'zod';
import * as wire from '../../../wire/partner/schema.ts';
import { published } from '../../spec/published.ts';

const allowedStatuses = z.array(wire.orderStatus).optional().describe('Where the order may go from here.');

export const seenOrder = z.strictObject({ ...wire.order.shape, allowedStatuses });

const shownOrder = z.strictObject({
  ...seenOrder.shape,
  history: z.array(wire.orderChange).optional().describe('Oldest first, with --history.'),
});

export const partnerOrdersList = published(wire.getOrdersResponse);

export const partnerOrdersShow = published(shownOrder);
