import * as z from 'zod';
import { conditions } from '../../../wire/flights/offers.ts';
import { cabinClass, currency, decimal } from '../../../wire/flights/parts.ts';
import { offerDetailsRequest } from '../../../wire/flights/requests.ts';
import * as wire from '../../../wire/flights/schema.ts';
import { paid, paidPlan, payment, published, usdc } from '../../spec/published.ts';

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

export const offer = published(paid(wire.offerDetailsResponse), {
  others: { fares: comparison },
  plan: z.union([paidPlan({ request: offerDetailsRequest }), paidPlan({ offer_ids: z.array(z.string()) })]),
});

export type FareComparison = Omit<z.infer<typeof comparison>, 'paid_amount' | 'payments'>;
export type ComparedFare = FareComparison['fares'][number];
