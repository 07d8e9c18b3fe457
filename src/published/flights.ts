import * as z from 'zod';
import * as desk from '../flights/desk/schema.ts';
import { stuck, stuckItem, stuckPlan } from '../flights/desk/stuck-schema.ts';
import {
  cabinClass,
  conditions,
  currency,
  decimal,
  duration,
  iata,
  offer,
} from '../flights/offers/offer-schema.ts';
import * as wire from '../flights/schema.ts';
import {
  address,
  atomicUsdc,
  check,
  day,
  instant,
  paidPlan,
  payment,
  plan,
  signature,
  usdc,
} from './parts.ts';
import { type Published, published } from './published.ts';

/** The commands that speak with the flight service: its own documents, and what the tool adds. */

const paid = <T extends z.ZodRawShape>(document: z.ZodObject<T>) =>
  z.strictObject({ ...document.shape, payment: payment.optional() });

const streamEnd = z
  .strictObject({
    status: z.enum(['complete', 'enriching']),
    search_id: z.string().optional(),
    total_offers: z.int(),
    error: z
      .strictObject({ code: z.string(), message: z.string() })
      .optional()
      .describe('Why slower offers are missing.'),
    payment: payment.optional(),
  })
  .describe('The last line of --ndjson: how the search ended.');

const asked = wire.searchRequest.partial();
const journeyDays = { depart_date: day, return_date: day.nullable().describe('null: one way.') };
const dayFound = z.strictObject({
  ...journeyDays,
  status: z.literal('found'),
  total_amount_decimal: decimal,
  total_currency: currency,
  offer_id: z.string(),
  owner_name: z.string().describe('The seller.'),
  stops: z.int().min(0),
  duration,
  searched_at: instant,
  is_complete: z.boolean().describe('false: slower sellers had not all answered.'),
});
const dayPrice = z.union([
  dayFound,
  z.strictObject({
    ...journeyDays,
    status: z.literal('none'),
    searched_at: instant,
    is_complete: z.boolean(),
  }),
  z.strictObject({
    ...journeyDays,
    status: z.literal('failed'),
    error: z.strictObject({ code: z.string(), message: z.string() }),
  }),
  z.strictObject({ ...journeyDays, status: z.literal('not_searched'), reason: z.string().optional() }),
]);

const pricesByDay = z
  .strictObject({
    origin_iata: iata,
    destination_iata: iata,
    ...journeyDays,
    departures: z.array(day),
    returns: z.array(day).nullable().describe('null: one row.'),
    prices: z
      .array(z.array(decimal.nullable()))
      .describe('A row for each return, a column for each departure; null where none is known.'),
    days: z.array(dayPrice),
    cheapest: dayFound.nullable(),
    searches: z.int().describe('Searches that were paid for now.'),
    paid_amount: usdc,
    payments: z.array(payment),
  })
  .describe('With --flex or --cheapest-day.');

const daysPlan = plan({
  request: asked,
  searches: z.int(),
  price: usdc.describe('Decimal USDC of one search, as it is now.'),
  total: usdc,
  at_most: usdc.optional().describe('Decimal USDC, if the price rises meanwhile.'),
  wait_seconds: z
    .int()
    .optional()
    .describe('What it takes to pay no more than `total`, beside the searching itself.'),
});

const comparison = z
  .strictObject({
    origin_iata: z.string(),
    destination_iata: z.string(),
    departing_at: z.string().describe('Local time of the origin.'),
    fares: z.array(
      z.strictObject({
        number: z.string().nullable().describe('The # of the last search.'),
        offer_id: z.string(),
        fare_brand_name: z.string().nullable(),
        owner_name: z.string().describe('The seller.'),
        cabin_class: cabinClass,
        total_amount_decimal: decimal,
        total_currency: currency,
        checked_bags_included: z.int().nullable(),
        carry_on_bags_included: z.int().nullable(),
        conditions: conditions.nullable(),
        checked_bag: z
          .strictObject({ price: decimal, currency })
          .nullable()
          .describe('One more checked bag; null: none is sold with it.'),
        with_bag: decimal.nullable().describe('The fare and that bag, where both are in one currency.'),
      }),
    ),
    paid_amount: usdc,
    payments: z.array(payment),
  })
  .describe('With --fares.');

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

const account = z.strictObject({
  wallet: atomicUsdc.nullable(),
  treasury: atomicUsdc.nullable(),
  vault: atomicUsdc.nullable(),
  supply: atomicUsdc,
});

const verification = z.strictObject({
  intent_id: z.string(),
  verified: z.boolean(),
  source: z
    .literal('chain')
    .optional()
    .describe('While the service is silent: the terms are those of the chain.'),
  escrow: address,
  checks: z.array(check),
});

const { intent, order } = wire;
const refundPlan = desk.refundPlan;

/** What the cluster alone says of an intent, while the service is silent. */
const fromChain = z
  .strictObject({
    intent_id: z.string(),
    source: z.literal('chain'),
    escrow: z.strictObject({
      state: z.enum(['open', 'captured', 'refunded']),
      address,
      vault_address: address,
      mint: address,
      program_id: address,
      amount: atomicUsdc,
      held: atomicUsdc.describe('Atomic USDC in the vault now.'),
      refund_wallet: address,
      refund_after: instant.describe('From then on anyone can refund.'),
      ended_at: instant.nullable(),
    }),
  })
  .describe('While the service is silent: what the chain says.');

const claim = z
  .strictObject({
    intent_id: z.string(),
    outcome: z.enum(['refunded', 'swept', 'already_refunded']),
    escrow: address,
    amount: atomicUsdc,
    refund_wallet: address.describe('Owner of the account that the money went to.'),
    transaction: signature.nullable().describe('null: somebody else sent it before.'),
  })
  .describe('Of an escrow that still held money.');

export const FLIGHT_DOCUMENTS: Readonly<Record<string, Published>> = {
  search: published(paid(wire.searchResponse), {
    others: { days: pricesByDay },
    plan: z.union([paidPlan({ request: asked }), daysPlan]),
    lines: { offer, end: streamEnd },
  }),
  offer: published(paid(wire.offerDetailsResponse), {
    others: { fares: comparison },
    plan: z.union([
      paidPlan({ request: wire.offerDetailsRequest }),
      paidPlan({ offer_ids: z.array(z.string()) }),
    ]),
  }),
  'intent create': published(paid(wire.createdIntent), {
    plan: paidPlan({ request: wire.createIntentRequest }),
  }),
  'intent show': published(intent, { others: { from_chain: fromChain } }),
  'intent list': published(z.strictObject({ intents: z.array(listedIntent) }), { list: 'intents' }),
  'intent verify': published(verification),
  book: published(paid(intent), {
    plan: paidPlan({ intent_id: z.string(), amount: atomicUsdc }),
  }),
  status: published(intent, { others: { from_chain: fromChain }, streams: true }),
  order: published(paid(order), { plan: paidPlan({ order_id: z.string() }) }),
  'refund request': published(paid(wire.refundRequestResponse), {
    plan: paidPlan({ intent_id: z.string() }),
  }),
  'refund queue': published(desk.refundQueue, { list: 'refund_requests' }),
  'refund show': published(desk.refundCase),
  'refund claim': published(desk.refundCase, { others: { claim }, plan: plan({}) }),
  'refund note': published(desk.refundCase, { plan: plan({}) }),
  'refund approve': published(desk.refundCase, { plan: refundPlan }),
  'refund reject': published(desk.refundCase, { plan: plan({}) }),
  'stuck list': published(stuck),
  'stuck show': published(stuckItem),
  'stuck resolve': published(stuckItem, { plan: stuckPlan }),
  switch: published(desk.switches, {
    plan: z.strictObject({ ...desk.switches.shape, dry_run: z.literal(true) }),
  }),
  'audit list': published(desk.auditTrail, { list: 'entries' }),
  'keys list': published(desk.operatorKeys, { list: 'keys' }),
  'keys issue': published(desk.issuedKey, { plan: plan({}) }),
  'keys revoke': published(desk.operatorKey, { plan: plan({}) }),
  'affiliate create': published(wire.affiliate, { plan: plan({ request: wire.affiliateRequest }) }),
  'affiliate show': published(wire.affiliateCredit),
  demo: published(
    z.strictObject({
      home: z.string().describe('Folder with everything of this journey.'),
      intent,
      order: order.nullable(),
      before: account,
      after: account,
      escrow: z.unknown().describe('The escrow account as the cluster has it at the end.'),
    }),
  ),
};
