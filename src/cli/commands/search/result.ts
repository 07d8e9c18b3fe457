import * as z from 'zod';
import { offer } from '../../../wire/flights/offers.ts';
import { currency, decimal, duration, iata } from '../../../wire/flights/parts.ts';
import { searchRequest } from '../../../wire/flights/requests.ts';
import * as wire from '../../../wire/flights/schema.ts';
import { day, instant, paid, paidPlan, payment, plan, published, usdc } from '../../spec/published.ts';

const failure = z.strictObject({ code: z.string(), message: z.string() });

const streamEnd = z
  .strictObject({
    status: z.enum(['complete', 'enriching']),
    search_id: z.string().optional(),
    total_offers: z.int(),
    hidden: wire.searchResponse.shape.hidden,
    error: failure.optional().describe('Why slower offers are missing.'),
    payment: payment.optional(),
  })
  .describe('The last line of --ndjson: how the search ended.');

/** The places for which a command of many searches has no result. */
const gapsIn = <Place extends z.ZodRawShape>(place: Place) =>
  [
    z.strictObject({ ...place, status: z.literal('failed'), error: failure }),
    z.strictObject({ ...place, status: z.literal('not_searched'), reason: z.string().optional() }),
  ] as const;

const paidNow = {
  searches: z.int().describe('Searches that were paid for now.'),
  paid_amount: usdc,
  payments: z.array(payment),
};

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
  z.strictObject({ ...journeyDays, status: z.literal('none'), searched_at: instant, is_complete: z.boolean() }),
  ...gapsIn(journeyDays),
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
    ...paidNow,
  })
  .describe('With --flex or --cheapest-day.');

const route = { origin_iata: iata, destination_iata: iata };

const anyAirport = wire.searchResponse
  .extend({
    routes: z.array(
      z.union([
        z.strictObject({
          ...route,
          status: z.literal('found'),
          searched_at: instant,
          is_complete: z.boolean().describe('false: slower sellers had not all answered.'),
          total_offers: z.int().min(0),
        }),
        ...gapsIn(route),
      ]),
    ),
    ...paidNow,
  })
  .describe('From or to any airport of a city: LON, NYC.');

export type DayPrice = z.infer<typeof dayPrice>;
export type DaysDocument = z.infer<typeof pricesByDay>;
export type AnyAirportDocument = z.infer<typeof anyAirport>;

const asked = searchRequest.partial();

const daysPlan = plan({
  request: asked,
  searches: z.int(),
  price: usdc.describe('Decimal USDC of one search, as it is now.'),
  total: usdc,
  routes: z.array(z.strictObject(route)).optional().describe('From or to any airport of a city.'),
  at_most: usdc.optional().describe('Decimal USDC, if the price rises meanwhile.'),
  wait_seconds: z.int().optional().describe('What it takes to pay no more than `total`, beside the searching itself.'),
});

export const search = published(paid(wire.searchResponse), {
  others: { days: pricesByDay, any_airport: anyAirport },
  plan: z.union([paidPlan({ request: asked }), daysPlan]),
  lines: { offer, end: streamEnd },
});

export const searchUpdates = published(wire.searchUpdatesResponse);
