import * as z from 'zod';
import * as offers from '../../../wire/partner/offers.ts';
import { published } from '../../spec/published.ts';

export const partnerPlatform = published(
  z.strictObject({
    url: z.url(),
    partner_url: z.url().nullable().describe('The partner service that it updates.'),
    partners: z.array(
      z.strictObject({
        partner_id: z.string(),
        type: offers.partnerType,
        platform_url: z.url(),
        verifies_signatures: z.boolean(),
        moves_orders: z.boolean(),
      }),
    ),
  }),
);
