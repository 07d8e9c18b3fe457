import * as z from 'zod';
import { plan, published } from '../../spec/published.ts';

const setting = z.strictObject({
  key: z.string(),
  value: z.string().nullable(),
  origin: z.string().describe('flag, environment, project, user, … or default.'),
  source: z.string().nullable().describe('The flag, variable or file.'),
});

export const configList = published(z.strictObject({ settings: z.array(setting) }));

export const configGet = published(setting);

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
