import * as z from 'zod';
import { day, instant, plan, published, usdc } from '../../spec/published.ts';

const look = z.strictObject({
  number: z.int().min(1),
  at: instant,
  status: z
    .enum(['found', 'none', 'failed', 'begun', 'lost'])
    .describe('none: no offer suits. lost: cut off; it may have been paid.'),
  price: usdc.nullable().describe('The cheapest offer, decimal US dollars.'),
  change: usdc.nullable().describe('Against the look before that found one.'),
  is_below: z.boolean(),
  offer_id: z.string().nullable(),
  says: z.string().describe('The offer in a few words, or why the look failed.'),
  paid_amount: usdc.nullable().describe('null: not known yet.'),
  notices: z
    .array(z.strictObject({ way: z.string(), state: z.enum(['due', 'taken', 'sent', 'failed']) }))
    .describe('Of a fall, one by each way. taken: being sent, or cut off meanwhile.'),
});

const facts = {
  watch_id: z.string(),
  title: z.string(),
  state: z.enum(['running', 'fell', 'ended']),
  below: usdc,
  every_seconds: z.int(),
  daily: usdc.describe('The most that the looks of 24 hours may cost.'),
  until: instant,
  notify: z.array(z.string()),
  next_look_at: instant.nullable(),
  paid_amount: usdc.describe('By all looks, with those that may have been paid.'),
  lowest: usdc.nullable(),
};

export type LookDocument = z.infer<typeof look>;
export type WatchFacts = z.infer<z.ZodObject<typeof facts>>;

const event = z.strictObject({ watch_id: z.string(), ...look.shape });

export const watch = published(event, {
  streams: true,
  plan: plan({
    request: z.record(z.string(), z.unknown()),
    below: usdc,
    looks_a_day: z.int(),
    price: usdc,
    daily: usdc,
    last_day: day,
    at_most: usdc.describe('By all looks until then.'),
  }),
});

export const watchResume = published(event, { streams: true });
export const watchList = published(z.strictObject({ watches: z.array(z.strictObject(facts)) }));
export const watchHistory = published(z.strictObject({ ...facts, looks: z.array(look) }));
export const watchEnd = published(z.strictObject(facts), { plan: plan({ watch_id: z.string() }) });
