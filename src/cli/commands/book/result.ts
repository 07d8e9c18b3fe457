import * as z from 'zod';
import { offer } from '../../../wire/flights/offers.ts';
import { passenger } from '../../../wire/flights/requests.ts';
import * as wire from '../../../wire/flights/schema.ts';
import { address, atomicUsdc, instant, paid, paidPlan, published } from '../../spec/published.ts';

const knownFare = offer.pick({
  slices: true,
  owner_name: true,
  fare_brand_name: true,
  cabin_class: true,
  cabin_class_marketing_name: true,
  checked_bags_included: true,
  carry_on_bags_included: true,
  conditions: true,
  total_amount_decimal: true,
  total_currency: true,
  base_amount_decimal: true,
  tax_amount_decimal: true,
  with_bags: true,
});

export const book = published(paid(wire.intent), {
  plan: paidPlan({
    intent_id: z.string(),
    amount: atomicUsdc,
    fare: knownFare.nullable().describe('What is bought; null where no search or offer of this home showed it.'),
    passengers: z.array(passenger.pick({ title: true, given_name: true, family_name: true, born_on: true })),
    refund_wallet: address,
    expires_at: instant,
  }),
});
