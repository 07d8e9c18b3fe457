import * as z from 'zod';
import * as offers from '../../../wire/partner/offers.ts';
import { published } from '../../spec/published.ts';

export const sandboxDuffel = published(
  z.strictObject({
    url: z.url().describe('The address of the API.'),
    token: z.string().describe('A token that it takes: any that begins with duffel_test_.'),
    webhook_url: z.url().nullable().describe('Where it tells of orders.'),
  }),
);

export const sandboxCarrierSite = published(
  z.strictObject({
    url: z.url(),
    scenario: z.string().describe('Of every visit that does not ask for another one.'),
    sales_url: z.url().describe('Its books: buttons pressed, seats sold and cancelled.'),
    mail_folder: z.string().nullable().describe('A Maildir; null: confirmation mails go nowhere.'),
    mail_domain: z.string(),
    dkim_url: z.url().describe('The TXT record of the key that signs its mails.'),
  }),
);

export const sandboxPlatform = published(
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
