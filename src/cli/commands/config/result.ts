import * as z from 'zod';
import { plan, published } from '../../spec/published.ts';

const setting = z.strictObject({
  key: z.string(),
  value: z.string().nullable(),
  origin: z.string().describe('flag, environment, project, user, … or default.'),
  source: z.string().nullable().describe('The flag, variable or file.'),
});

export const configList = published(z.strictObject({ settings: z.array(setting) }));
export const configShow = published(
  z.strictObject({
    settings: z.array(
      setting.extend({
        of: z.string().describe('Its subject: profile, cluster, limits, client, service, …'),
        variable: z.string().nullable().describe('null: it has none.'),
        secret: z.boolean().describe('The value of a secret is never shown: origin and source say that it is set.'),
        wrong: z.string().nullable().describe('Why the value cannot be used; null: it can.'),
      }),
    ),
  }),
);
export const configGet = published(setting);

const profile = z.strictObject({
  name: z.string(),
  used: z.boolean(),
  flights_url: z.string().nullable(),
  partner_url: z.string().nullable(),
  cluster: z.string().nullable(),
});

export const configSet = published(
  z.union([
    z.strictObject({ profile: z.string(), key: z.string(), value: z.string() }),
    z.strictObject({ profile: z.string(), used: z.literal(true) }),
  ]),
  { plan: plan({}) },
);

export const configUnset = published(
  z.strictObject({ profile: z.string().optional(), key: z.string(), unset: z.literal(true) }),
  { plan: plan({}) },
);

export const configProfileList = published(z.strictObject({ profiles: z.array(profile) }));

export const configProfileAdd = published(
  z.strictObject({ profile: z.string(), settings: z.record(z.string(), z.string()), used: z.boolean() }),
  { plan: plan({}) },
);

export const configProfileUse = published(z.strictObject({ profile: z.string(), used: z.literal(true) }), {
  plan: plan({}),
});

export const configProfileRemove = published(z.strictObject({ profile: z.string(), removed: z.literal(true) }), {
  plan: plan({}),
});
