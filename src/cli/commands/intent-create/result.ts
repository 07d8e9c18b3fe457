import { createIntentRequest } from '../../../wire/flights/requests.ts';
import * as wire from '../../../wire/flights/schema.ts';
import { paid, paidPlan, published } from '../../spec/published.ts';

export const intentCreate = published(paid(wire.createdIntent), {
  plan: paidPlan({ request: createIntentRequest }),
});
