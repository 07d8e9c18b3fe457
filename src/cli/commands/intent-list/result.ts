import * as z from 'zod';
import { day, instant, published, usdc } from '../../spec/published.ts';

const listedIntent = z.strictObject({
  intent_id: z.string(),
  status: z.string().nullable(),
  offer_id: z.string().nullable(),
  route: z.string().nullable().describe('Such as LIS-BER.'),
  departure_date: day.nullable(),
  amount: usdc.nullable(),
  order_id: z.string().nullable(),
  created_at: instant,
  expires_at: instant.nullable(),
});

export const intentList = published(z.strictObject({ intents: z.array(listedIntent) }));
