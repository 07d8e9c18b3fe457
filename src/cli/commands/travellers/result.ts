import * as z from 'zod';
import { instant, plan, published } from '../../spec/published.ts';

const traveller = z.strictObject({
  name: z.string().describe('What you call them.'),
  passport: z.enum(['none', 'valid', 'expired']),
  missing: z.array(z.string()).describe('Fields of a travel document that a booking may need.'),
  saved_at: instant,
});

export const travellersList = published(z.strictObject({ travellers: z.array(traveller) }));

export const travellersAdd = published(z.strictObject({ ...traveller.shape, replaced: z.boolean() }), {
  plan: plan({}),
});

export const travellersShow = published(
  z.strictObject({ ...traveller.shape, fields: z.record(z.string(), z.string()) }),
);

export const travellersRemove = published(z.strictObject({ name: z.string(), removed: z.literal(true) }), {
  plan: plan({}),
});
