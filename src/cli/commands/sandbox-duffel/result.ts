import * as z from 'zod';
import { published } from '../../spec/published.ts';

export const sandboxDuffel = published(
  z.strictObject({
    url: z.url().describe('The address of the API.'),
    token: z.string().describe('A token that it takes: any that begins with duffel_test_.'),
    webhook_url: z.url().nullable().describe('Where it tells of orders.'),
  }),
);
