import * as z from 'zod';
import { ALLIANCES } from '../../kernel/domain/alliances.ts';
import { cabinClass, chosenSeat, date, decimal, duration, iata, optional, preset } from './parts.ts';

/** Request bodies. The answers are in schema.ts, because they take 8 ms to build and only /openapi.json needs them. */

const clockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/);
const arrivalTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d(\+[0-3])?$/);
const airlineCodes = z.array(z.string().min(1).max(40)).min(1).max(20);

const direction = z.strictObject({ origin: iata, destination: iata, departure_date: date });

const bags = z
  .strictObject({ checked: preset(z.int().min(0).max(5), 0), carry_on: preset(z.int().min(0).max(1), 0) })
  .nullish()
  .describe('For each traveller with a seat; included ones count.');

export const searchRequest = z.strictObject({
  origin_iata: optional(iata).meta({ examples: ['LIS'] }),
  destination_iata: optional(iata).meta({ examples: ['BER'] }),
  depart_date: optional(date).meta({ examples: ['2027-03-14'] }),
  return_date: optional(date),
  slices: z
    .array(direction)
    .min(1)
    .max(4)
    .optional()
    .describe('Several cities, in the order of their dates: in place of the four fields above.'),
  adults: preset(z.int().min(1).max(9), 1),
  child_ages: z
    .array(z.int().min(0).max(17))
    .max(8)
    .optional()
    .describe('Of travellers under 18 when the last direction departs; under 2 on the lap of an adult.'),
  cabin_class: preset(cabinClass, 'economy'),
  max_stops: optional(z.int().min(0).max(10)),
  departure_after: optional(clockTime),
  departure_before: optional(clockTime).describe('Not before departure_after.'),
  arrival_after: optional(arrivalTime).describe(
    'At the destination: HH:MM on the day of departure, HH:MM+1 on the next.',
  ),
  arrival_before: optional(arrivalTime).describe('Not before arrival_after.'),
  max_duration: optional(duration.refine((time) => /[1-9]/.test(time), 'must be more than 0.')).describe(
    'Of each direction.',
  ),
  airlines: optional(airlineCodes).describe('Each flight is sold or flown by one of these.'),
  not_airlines: optional(airlineCodes).describe('No flight is sold or flown by one of these.'),
  alliance: optional(z.enum(ALLIANCES)).describe('Each flight is sold or flown by a member.'),
  no_basic: optional(z.boolean()).describe("Hides each airline's most restricted fares."),
  refundable: optional(z.boolean()),
  with_bag: optional(z.boolean()).describe('A checked bag is included.'),
  max_price: optional(
    z.union([
      z.number().positive().max(1_000_000),
      decimal.refine((price) => /[1-9]/.test(price), 'must be more than 0.'),
    ]),
  ),
  sort: preset(z.enum(['price', 'duration', 'departure', 'emissions']), 'price'),
  limit: optional(z.int().min(1).max(500)),
  cheapest_per_itinerary: preset(z.boolean(), false),
  bags: bags.describe('Ranks by the price with these bags, which max_price is then about.'),
});

export const offerDetailsRequest = z.strictObject({
  offer_id: z
    .string()
    .min(1)
    .max(512)
    .meta({ examples: ['off_1'] }),
  bags,
  seats: z.boolean().nullish().describe('With the seats of its flights (`seat_maps`).'),
});

export const searchUpdatesRequest = z.strictObject({
  search_id: z.string().min(1).max(64),
  cursor: optional(z.string().regex(/^\d{1,6}$/)).describe(
    'The cursor of the last answer; without it, everything that has landed.',
  ),
});

export const createIntentRequest = z.strictObject({
  funding_wallet: optional(z.string()).describe(
    'The wallet that pays for this call; left out, it is taken from the payment.',
  ),
  offer_id: z
    .string()
    .min(1)
    .max(512)
    .meta({ examples: ['off_1'] }),
  refund_wallet: optional(z.string()).describe(
    'Holds a token account of the mint, and is none of the operator. Default: the funding wallet.',
  ),
  referrer: optional(z.string().max(64)),
  bags: bags.describe('Bought with the fare: part of the locked price, the escrow and the refund.'),
  seats: z.array(chosenSeat).max(288).nullish().describe('Bought with the fare, as bags are; each of a seat map.'),
});

/** Checks shapes only; `domain/passengers.ts` checks the values, all at once. */
export const passenger = z.strictObject({
  given_name: z.string(),
  family_name: z.string(),
  born_on: z.string(),
  title: z.string(),
  gender: z.string(),
  email: z.string(),
  phone_number: z.string(),
  nationality: optional(z.string()),
  passport_number: optional(z.string()),
  passport_expiry: optional(z.string()),
});

export const bookRequest = z.strictObject({
  intent_id: z
    .string()
    .min(1)
    .max(64)
    .meta({ examples: ['int_1'] }),
  passengers: z.array(passenger).max(20),
});

export const refundRequest = z.strictObject({
  intent_id: z
    .string()
    .min(1)
    .max(64)
    .meta({ examples: ['int_1'] }),
  reason: z
    .string()
    .max(1000)
    .refine((reason) => reason.trim() !== '', 'Say why.')
    .meta({ minLength: 1, examples: ['Plans changed.'] }),
  contact: optional(z.string().max(320)).describe('Where to answer.'),
  passengers: optional(z.array(z.int().min(1).max(9)).min(1).max(9)).describe(
    'Numbers of the travellers to refund, from 1, in the order of the booked passengers; left out: all of them. The booking of the others stays.',
  ),
});

export const affiliateRequest = z.strictObject({ wallet: z.string() });

export type SearchRequest = z.infer<typeof searchRequest>;
export type SearchRequestInput = z.input<typeof searchRequest>;
export type SearchUpdatesRequest = z.infer<typeof searchUpdatesRequest>;
export type OfferDetailsRequest = z.infer<typeof offerDetailsRequest>;
export type CreateIntentRequest = z.infer<typeof createIntentRequest>;
export type Passenger = z.infer<typeof passenger>;
export type BookRequest = z.infer<typeof bookRequest>;
export type RefundRequest = z.infer<typeof refundRequest>;
