import * as z from 'zod';
import { plan, published } from '../../spec/published.ts';

const profile = z.strictObject({
  name: z.string(),
  used: z.boolean(),
  flights_url: z.string().nullable(),
  partner_url: z.string().nullable(),
  cluster: z.string().nullable(),
});

export const configProfileList = published(z.strictObject({ profiles: z.array(profile) }));

export const configProfileAdd = published(
  z.strictObject({
    profile: z.string(),
    settings: z.record(z.string(), z.string()),
    used: z.boolean(),
  }),
  { plan: plan({}) },
);

export const configProfileUse = published(z.strictObject({ profile: z.string(), used: z.literal(true) }), {
  plan: plan({}),
});

export const configProfileRemove = published(
  z.strictObject({ profile: z.string(), removed: z.literal(true) }),
  { plan: plan({}) },
);
