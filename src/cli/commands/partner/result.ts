import * as z from 'zod';
import * as offers from '../../../wire/partner/offers.ts';
import * as wire from '../../../wire/partner/schema.ts';
import { plan, published } from '../../spec/published.ts';

const allowedStatuses = z.array(wire.orderStatus).optional().describe('Where the order may go from here.');
export const seenOrder = z.strictObject({ ...wire.order.shape, allowedStatuses });

const shownOrder = z.strictObject({
  ...seenOrder.shape,
  history: z.array(wire.orderChange).optional().describe('Oldest first, with --history.'),
});

export const partnerOrdersList = published(wire.getOrdersResponse);
export const partnerOrdersShow = published(shownOrder);

const redirect = z.strictObject({
  redirectUrl: z.url().optional().describe('Where the customer continues, with a redirect partner.'),
  toAmount: z.string().optional().describe('Decimal, in the destination currency.'),
  orderId: z.string().optional().describe("Id of the redirection, for the operator's log of outbound calls."),
});

export const partnerOrdersCreate = published(z.union([wire.order, redirect]), {
  plan: plan({ request: offers.createOrderRequest }),
});

export const partnerOffers = published(offers.getAvailablePartnersResponse);

export const partnerOrdersUpdate = published(seenOrder, {
  plan: plan({
    request: z.strictObject({
      ...wire.updateOrderRequest.shape,
      depositInstructions: wire.depositInstructions.optional(),
    }),
    allowedStatuses: z.array(wire.orderStatus),
  }),
});

const row = z.int().describe('Number of the row, from 1.');
const line = z.int().describe('Line of the file on which the row begins, from 1.');

const failure = z.strictObject({
  row,
  line,
  orderId: z.string(),
  outcome: z.enum(['refused', 'held']),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
});

const applied = z.strictObject({
  file: z.string(),
  rows: z.int(),
  applied: z.int(),
  refused: z.int(),
  held: z.int().describe('Held back: an earlier row of the same order was refused.'),
  resultsFile: z.string(),
  failures: z.array(failure),
});

const plannedRow = z.strictObject({
  row,
  line,
  orderId: z.string(),
  from: wire.orderStatus.nullable(),
  to: wire.orderStatus.nullable(),
  kind: z.enum(['move', 'patch', 'repeat', 'settle', 'refuse', 'hold']),
  why: z.string().nullable(),
});

const applyPlan = z.strictObject({
  dry_run: z.literal(true),
  file: z.string(),
  rows: z.int(),
  plan: z.array(plannedRow),
  done: z.int().describe('Rows that an earlier run has done.'),
});

export const partnerOrdersApply = published(applied, { plan: applyPlan });

export const partnerOrdersWatch = published(seenOrder, { streams: true });
