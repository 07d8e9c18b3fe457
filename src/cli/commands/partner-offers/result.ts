import * as z from 'zod';
import * as offers from '../../../wire/partner/offers.ts';
import * as wire from '../../../wire/partner/schema.ts';
import { plan, published } from '../../spec/published.ts';

const redirect = z.strictObject({
  redirectUrl: z.url().optional().describe('Where the customer continues, with a redirect partner.'),
  toAmount: z.string().optional().describe('Decimal, in the destination currency.'),
  orderId: z.string().optional().describe("Id of the redirection, for the operator's log of outbound calls."),
});

export const partnerOrdersCreate = published(z.union([wire.order, redirect]), {
  plan: plan({ request: offers.createOrderRequest }),
});

export const partnerOffers = published(offers.getAvailablePartnersResponse);
