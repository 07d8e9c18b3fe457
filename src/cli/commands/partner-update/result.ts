import * as z from 'zod';
import * as wire from '../../../wire/partner/schema.ts';
import { plan, published } from '../../spec/published.ts';
import { seenOrder } from '../partner-orders/result.ts';

export const partnerOrdersUpdate = published(seenOrder, {
  plan: plan({
    request: z.strictObject({
      ...wire.updateOrderRequest.shape,
      depositInstructions: wire.depositInstructions.optional(),
    }),
    allowedStatuses: z.array(wire.orderStatus),
  }),
});
