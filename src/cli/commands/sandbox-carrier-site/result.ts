import * as z from 'zod';
import { published } from '../../spec/published.ts';

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
